"""The command line."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import cocensor as cc
from cocensor.cli.console import interruptible, refuse, say, warn
from cocensor.cli.demo import demo
from cocensor.cli.evaluate import evaluate
from cocensor.cli.fit_copula import fit_copula
from cocensor.cli.reproduce import reproduce
from cocensor.study.run import NOT_YET

# The usage error of whichever click typer brings.
_UsageError: Any = typer.BadParameter.__bases__[0]


class _OneLineErrors(TyperGroup):
    """Commands whose wrong options are one line on stderr, as all bad input is, and so is their interruption."""

    def main(self, *args: Any, **how: Any) -> Any:
        """Parse and run, on whatever stdout is: τ may become a question mark."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        return super().main(*args, **how)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with interruptible():
                return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            warn(" ".join(["Interrupted.", *map(str, stop.args)]))
            raise typer.Exit(130) from None
        except _UsageError as error:
            option = str(getattr(error, "option_name", ""))
            why = NOT_YET.get(option.lstrip("-").replace("-", "_"))
            refuse(ValueError(f"{option} is not supported yet: {why}." if why else error.format_message()))


app = typer.Typer(
    name="cocensor",
    cls=_OneLineErrors,
    help="How good is a survival model when people drop out for reasons related to the outcome?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"cocensor {cc.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How good is a survival model when people drop out for reasons related to the outcome?"""


for command in (evaluate, fit_copula, demo, reproduce):
    paragraphs = (command.__doc__ or "").split("\n\n")
    # Without the line breaks of a docstring: a terminal breaks lines where it ends.
    app.command(help="\n\n".join(" ".join(part.split()) for part in paragraphs))(command)
