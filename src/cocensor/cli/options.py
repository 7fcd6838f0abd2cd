"""Options of commands as fields of dataclasses, and the texts that they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from inspect import Parameter, Signature
from math import isfinite
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import typer

from cocensor.data.tables import NUMBER, repeated

Group = TypeVar("Group")
DATA, OUTCOMES, PREDICTIONS, MODEL = "Data", "Outcomes", "Predictions", "Model"
ASSUMPTIONS, SCORES, OUTPUT = "Assumptions about the censoring", "Scores", "Output"
BATCHES, STUDY_FILE = "Files larger than memory", "Study file"
#: As help shows them.
PANELS = (DATA, OUTCOMES, PREDICTIONS, ASSUMPTIONS, SCORES, MODEL, OUTPUT, BATCHES, STUDY_FILE)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def option_group(group: type[Group]) -> type[Group]:
    """A dataclass whose fields are options."""
    return dataclass(frozen=True, kw_only=True)(group)


def option(panel: str, metavar: str | None, text: str, *, default: Any = None, **more: Any) -> Any:
    """A field that is an option: its panel of the help, what its values are called, what it means."""
    shown = typer.Option(metavar=metavar, help=text, rich_help_panel=panel, **more)
    return field(default=default, metadata={"option": shown})


assumption, score = partial(option, ASSUMPTIONS), partial(option, SCORES)
prediction, batch = partial(option, PREDICTIONS), partial(option, BATCHES)
outcome, column = partial(option, OUTCOMES), partial(option, OUTCOMES, "COLUMN")
data_file = partial(option, DATA, "FILE")
output_file = partial(option, OUTPUT, "FILE")


def called(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for parameter in context.command.params:
            vars(parameter)["hidden"] = False
        typer.echo(context.get_help())
        raise typer.Exit


_HELP_ALL = typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options.")


def with_options(
    *groups: Any, first: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that is called with its context and an instance of each group, whose fields are its options.

    Where some come ``first``, help shows those alone, and ``--help-all`` the others too.
    """
    hints = {name: hint for group in groups for name, hint in get_type_hints(group).items()}
    options = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=Annotated[hints[field.name], _shown(field, first)],
        )
        for group in groups
        for field in fields(group)
    ]
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *sorted(options, key=_place)]
    if first:
        every = Annotated[bool, _HELP_ALL]
        parameters.append(Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=every))

    def decorated(run: Callable[..., None]) -> Callable[..., None]:
        def command(context: typer.Context, **values: Any) -> None:
            own = [{field.name: values[field.name] for field in fields(group)} for group in groups]
            run(context, *(group(**values) for group, values in zip(groups, own, strict=True)))

        command.__name__, command.__doc__ = run.__name__, run.__doc__
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        vars(command)["__signature__"] = Signature(parameters)
        return command

    return decorated


def _shown(field: Field[Any], first: Sequence[str]) -> Any:
    """Return the option of a field, hidden where it is not among the first."""
    shown = copy(field.metadata["option"])
    shown.hidden = bool(first) and field.name not in first
    return shown


def _place(parameter: Parameter) -> tuple[int, bool]:
    """Return where help shows an option: by panel, and those first that must be given."""
    panel = parameter.annotation.__metadata__[0].rich_help_panel
    return PANELS.index(panel), parameter.default is not Parameter.empty


def items(text: str, option: str) -> list[str]:
    """Return the parts of ``text`` between commas, each of which must be there and come once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ValueError(f"{option} must be names separated by commas, but is {text!r}.")
    for twice in repeated(parts):
        raise ValueError(f"{option} must not repeat a name, but has {twice!r} twice.")
    return parts


def numbers(text: str, option: str) -> list[float]:
    """Return the numbers in ``text``, between commas; one may come twice."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not NUMBER.fullmatch(part) or not isfinite(float(part)):
            raise ValueError(f"{option} must be numbers separated by commas, but one is {part!r}.")
    return [float(part) for part in parts]


def given(group: Any) -> dict[str, Any]:
    """Return the fields of a group that are not as they are by default."""
    values = ((field, getattr(group, field.name)) for field in fields(group))
    return {field.name: value for field, value in values if value is not None and value != field.default}
