"""A study in a file: the options of ``cocensor evaluate``, saved in TOML and read again."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

import cocensor as cc
from cocensor.cli.console import refusing
from cocensor.cli.files import read_content
from cocensor.evaluation.options import NOT_YET

_PANEL = "Study file"
# Parameters that are not spelt as their option is.
_SPELT = {"identity": "id", "exit_": "exit"}
# A Dask scheduler can run code on this machine: whoever starts the command names it, not whoever wrote the file.
_TRUSTED = "scheduler"
_NOT_OF_THE_STUDY = ("config", "save_config", _TRUSTED, "return")
# What a key must be by the type of its option, and the types of TOML that can say it.
_RULES: dict[Any, tuple[str, tuple[type, ...]]] = {
    str: ("text in quotes", (str, int, float, date)),
    Path: ("a path in quotes", (str,)),
    list[str]: ("a list of strings in quotes", (list,)),
    bool: ("true or false", (bool,)),
    float: ("a number", (int, float)),
    int: ("a whole number", (int,)),
}


def options_in(file: Path, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a TOML file by parameter; ``kinds`` has the type of each. Paths start in the file's folder."""
    content = read_content(file)
    try:
        found = tomllib.loads(content.decode("utf-8-sig"))
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{file} must be TOML in UTF-8, but is not: {error}.") from None
    parameters = {_SPELT.get(name, name.replace("_", "-")): name for name in kinds}
    options = {}
    for key, value in found.items():
        if key == _TRUSTED:
            raise ValueError(
                f"{file} must not have the key {key!r}, for a scheduler can run code on this machine: give --{key} on "
                "the command line."
            )
        if key not in parameters:
            if key in NOT_YET:
                raise ValueError(f"{file}: {key} is not supported yet: {NOT_YET[key]}.")
            near = get_close_matches(key, parameters, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "cocensor evaluate --help lists them."
            raise ValueError(
                f"{file} has the key {key!r}, which is not an option of cocensor evaluate: {hint}"
            )
        kind = kinds[parameters[key]]
        rule, types = _RULES[kind]
        if type(value) not in types or (kind == list[str] and not all(type(each) is str for each in value)):
            raise ValueError(f"{file}: {key} must be {rule}, but is {value!r}.")
        as_given = kind(value) if kind in (str, Path) else value
        options[parameters[key]] = _with_paths(key, as_given, lambda path: str(file.parent / path))
    return options


def config_text(options: Mapping[str, Any], file: Path) -> str:
    """The options of a run, by parameter, as TOML for ``file``: all that have a value, given or by default."""
    lines = [
        (
            f"# Options of a run of cocensor evaluate {cc.__version__}, for --config. Paths are relative "
            "to this file's folder."
        )
    ]
    for parameter, value in options.items():
        if parameter in _NOT_OF_THE_STUDY or value is None or value == []:
            continue
        key = _SPELT.get(parameter, parameter.replace("_", "-"))
        line = f"{key} = {_toml(_with_paths(key, value, lambda path: _seen_from(file, path)))}"
        try:
            line.encode()
        except UnicodeEncodeError:
            raise ValueError(f"--save-config writes UTF-8, which cannot hold --{key}: {value!r}.") from None
        lines.append(line)
    return "\n".join(lines) + "\n"


def _kinds(command: Callable[..., Any]) -> dict[str, Any]:
    """The types of a command's options by parameter, whether or not they may be left out."""
    hints = {name: hint for name, hint in get_type_hints(command).items() if name not in _NOT_OF_THE_STUDY}
    return {
        name: get_args(hint)[0] if get_origin(hint) in (Union, UnionType) else hint
        for name, hint in hints.items()
    }


def _with_paths(key: str, value: Any, moved: Callable[[Path], str]) -> Any:
    """The value of an option, with the paths in it ``moved``: those of files, and of NAME=FILE."""
    if key == "predictions":
        parts = [text.partition("=") for text in value]
        return [name + "=" + moved(Path(path.strip())) if equals else name for name, equals, path in parts]
    return moved(Path(value)) if isinstance(value, Path) else value


def _seen_from(file: Path, path: Path) -> str:
    """A path as ``file`` says it: one that was given as absolute stays so, but below the folder of ``file``."""
    folder, place = Path(os.path.realpath(file.parent)), Path(os.path.realpath(path.parent), path.name)
    if path.is_absolute() and not place.is_relative_to(folder):
        return path.as_posix()
    return Path(os.path.relpath(place, folder)).as_posix()


def _toml(value: str | float | list[str]) -> str:
    """A value in TOML."""
    if isinstance(value, list):
        return "[\n" + "".join(f"    {_toml(each)},\n" for each in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON escapes what TOML must have escaped, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _read(context: typer.Context, file: Path | None) -> Path | None:
    """Let options that are not given be those in a file."""
    if file is not None and context.command.callback is not None:
        with refusing():
            context.default_map = options_in(file, _kinds(context.command.callback))
    return file


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=(
            "Options in a TOML file, as --save-config writes it. Its paths are relative to its "
            "folder. Options on the command line win."
        ),
        rich_help_panel=_PANEL,
        callback=_read,
        is_eager=True,
    ),
]
SaveConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write all options of this run to a TOML file. cocensor evaluate --config FILE repeats the run.",
        rich_help_panel=_PANEL,
    ),
]
