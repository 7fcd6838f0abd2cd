"""A study in a TOML file: ``[inputs]``, with paths from the file's folder, ``[plan]``, and ``[outputs]``."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

import cocensor as cc
from cocensor._checks import escaped
from cocensor.cli.console import refusing
from cocensor.cli.inputs import Inputs
from cocensor.cli.options import OUTPUT, STUDY_FILE, batch, given, option, option_group, output_file
from cocensor.data.files import read_content
from cocensor.data.times import TimeAxis
from cocensor.study.plan import Plan
from cocensor.study.plan_toml import check_keys, plan_arguments, plan_values, toml_line
from cocensor.study.run import NOT_YET

_TABLES = ["inputs", "plan", "outputs"]
# A Dask scheduler can run code on this machine: whoever starts the command names it, not whoever wrote the file.
_TRUSTED = "scheduler"
_MODELS = ("predictions", "risk")
# What a key must be by the type of its option, and the types of TOML that can say it.
_RULES: dict[Any, tuple[str, tuple[type, ...]]] = {
    str: ("text in quotes", (str, int, float, date)),
    Path: ("a path in quotes", (str,)),
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
}


@option_group
class Outputs:
    """The files that a run writes: the table ``[outputs]`` of a study file."""

    out: Path | None = output_file("Where to write the report (HTML).")
    json: Path | None = output_file("Where to write all numbers (JSON).")
    title: str | None = option(OUTPUT, None, "Title of the report.")
    verbose: bool = option(
        OUTPUT, None, "Print all notes, bounds and benchmarks after the summary.", default=False
    )
    hint: bool = option(
        OUTPUT,
        None,
        "Also select the copula that fits best, which may take longer than all the rest, and draw the likelihood "
        "over τ in the report. It is a hint: no score depends on it.",
        default=False,
    )


def read_study(context: typer.Context, file: Path | None) -> Path | None:
    """Let options that are not given be those in a file; the arguments of its plan go to ``context.meta``."""
    if file is not None:
        with refusing():
            context.default_map, context.meta["plan"] = study_in(file)
    return file


@option_group
class StudyFile:
    """Where a study is read from and written to, and the cluster that reads its data; no study file names these."""

    config: Path | None = option(
        STUDY_FILE,
        "FILE",
        "A study in a TOML file, as --save-config writes it. Its paths are relative to its folder. Options on the "
        "command line win.",
        callback=read_study,
        is_eager=True,
    )
    save_config: Path | None = option(
        STUDY_FILE,
        "FILE",
        "Write this study to a TOML file. cocensor evaluate --config FILE repeats the run.",
    )
    scheduler: str | None = batch(
        "ADDRESS",
        "With --stream: the Dask cluster that reads and scores the files, by the address of its scheduler, such "
        "as tcp://host:8786. Its workers must see the files under the same paths.",
    )


def study_in(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options in a study file, and the arguments of its plan."""
    content = read_content(file)
    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{file} must be TOML in UTF-8, but is not: {error}.") from None
    check_keys(tables, _TABLES, str(file))
    options: dict[str, Any] = {}
    for name, group in (("inputs", Inputs), ("outputs", Outputs)):
        values, hints = tables.get(name, {}), get_type_hints(group)
        # Whether or not they may be left out.
        kinds = {field.name: [*get_args(hints[field.name]), hints[field.name]][0] for field in fields(group)}
        _check_allowed(values, kinds, file)
        check_keys(values, list(kinds), f"{file}: {name}")
        options |= {key: _option(key, value, kinds[key], file) for key, value in values.items()}
    plan = tables.get("plan", {})
    _check_allowed(plan, (), file)
    try:
        return options, plan_arguments(plan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def _check_allowed(values: Any, options: Collection[str], file: Path) -> None:
    """Refuse what no study file may have, or has yet."""
    for key in values if isinstance(values, Mapping) else ():
        if key == _TRUSTED:
            raise ValueError(
                f"{file} must not have the key {key!r}, for a scheduler can run code on this machine: give --{key} on "
                "the command line."
            )
        if key in NOT_YET and key not in options:
            raise ValueError(f"{file}: {key} is not supported yet: {NOT_YET[key]}.")


def _option(key: str, value: Any, kind: Any, file: Path) -> Any:
    """Return the value of an option, with its paths from the folder of ``file``."""
    if key in _MODELS:
        if not isinstance(value, Mapping) or not all(type(where) is str for where in value.values()):
            raise ValueError(f"{file}: {key} must be a table of texts by model, but is {value!r}.")
        for name in value:
            if "=" in name:
                raise ValueError(f'{file}: {key} must have names without "=", but one is {name!r}.')
        return [
            f"{name}={file.parent / where if key == 'predictions' else where}"
            for name, where in value.items()
        ]
    if key == "covariates" and isinstance(value, list) and all(type(name) is str for name in value):
        return ",".join(value)
    rule, types = _RULES[kind]
    if type(value) not in types:
        raise ValueError(f"{file}: {key} must be {rule}, but is {value!r}.")
    return str(file.parent / value) if kind is Path else kind(value)


def study_text(inputs: Inputs, plan: Plan, outputs: Outputs, file: Path) -> str:
    """Return a study as TOML for ``file``: all that is not as it is by default."""
    if plan.time_axis == inputs.columns.time_axis:  # it comes from the columns again
        plan = replace(plan, time_axis=TimeAxis())

    def moved(values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: _seen_from(file, value) if isinstance(value, Path) else value
            for name, value in values.items()
            if name not in _MODELS
        }

    covariates = {"covariates": inputs.covariate_names} if inputs.covariate_names else {}
    tables: dict[str, Mapping[str, Any]] = {
        "inputs": moved(given(inputs)) | covariates,
        "inputs.predictions": {name: _seen_from(file, path) for name, path in inputs.files.items()},
        "inputs.risk": inputs.risks,
        "plan": plan_values(plan),
        "outputs": moved(given(outputs)),
    }
    text = f"# A study of cocensor {cc.__version__}, for cocensor evaluate --config; its paths start in this folder.\n"
    for name, values in tables.items():
        text += f"\n[{name}]\n" if values else ""
        for key, value in values.items():
            line = toml_line(key, value) + "\n"
            if escaped(line) != line:
                raise ValueError(f"--save-config writes UTF-8, which cannot hold {key}: {value!r}.")
            text += line
    return text


def _seen_from(file: Path, path: Path) -> str:
    """Return a path as ``file`` says it: one given as absolute stays so, but below the folder of ``file``."""
    folder, place = Path(os.path.realpath(file.parent)), Path(os.path.realpath(path.parent), path.name)
    if path.is_absolute() and not place.is_relative_to(folder):
        return path.as_posix()
    return Path(os.path.relpath(place, folder)).as_posix()
