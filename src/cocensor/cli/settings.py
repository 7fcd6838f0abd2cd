"""What the options of ``cocensor evaluate`` stand for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import category

import typer

import cocensor as cc
from cocensor._notes import Note
from cocensor._validation import check_choice, check_number, check_whole
from cocensor.adjustments import needs_copula
from cocensor.cli.files import Table
from cocensor.cli.inputs import DATA, INDEX, PREDICTIONS, covariate_names, items, numbers
from cocensor.curves.columns import NUMBER
from cocensor.evaluation.options import SETS
from cocensor.sensitivity import HAZARD_RATIO
from cocensor.stream.columns import is_text, plain
from cocensor.words.names import listed

#: The panel of options about the censoring.
ASSUMPTIONS = "Assumptions about the censoring"


def models_by_name(
    predictions: Sequence[str], risks: Sequence[str]
) -> tuple[dict[str, Path], dict[str, str]]:
    """``--predictions`` and ``--risk``: files, and columns of the test sample, by the name of their model."""
    files, columns = dict[str, Path](), dict[str, str]()
    for option, what, texts in (("--predictions", "FILE", predictions), ("--risk", "COLUMN", risks)):
        for text in texts:
            name, equals, where = (part.strip() for part in text.partition("="))
            # Format characters belong to some scripts; control characters, line ends and broken bytes to none.
            if not (name and equals and where) or {"Cc", "Cs", "Zl", "Zp"} & set(map(category, name)):
                named = "" if equals else f", such as {f'{Path(text).stem}={text}'!r}"
                raise ValueError(f"{option} must be NAME={what}{named}, but is {text!r}.")
            if name in files or name in columns:
                raise ValueError(f"{option} must have different names, but {name!r} comes twice.")
            if option == "--risk":
                columns[name] = where
            else:
                files[name] = Path(where)
    if not files and not columns:
        raise ValueError("--predictions NAME=FILE or --risk NAME=COLUMN is needed: there is no model.")
    return files, columns


Covariates = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...|all",
        help=(
            "Covariate columns, separated by commas. A text column enters as indicators of its "
            "levels. all means every column of the test sample that no other option names."
        ),
        rich_help_panel=DATA,
    ),
]
ALL: Literal["all"] = "all"


def covariates_asked(text: str | None, **columns: str | None) -> list[str] | Literal["all"] | None:
    """The names in ``--covariates``, none of which is the column of another option, or all."""
    return ALL if text is not None and text.strip() == ALL else covariate_names(text, **columns)


def all_covariates(
    columns: Sequence[str], path: Path, named: Collection[str | None], notes: list[Note]
) -> list[str]:
    """``--covariates all``: those of the test sample's columns that no other option has ``named``."""
    found = [name for name in columns if name not in named]
    # A spreadsheet or R puts row names there.
    taken = [name for name in found if name not in INDEX]
    if not taken:
        raise ValueError(f"--covariates all finds no column: other options name every column of {path}.")
    if ALL in taken and len(taken) > 1:
        raise ValueError(
            f"--covariates all may mean every column of {path}, or its column {ALL!r}: rename that column."
        )
    left_out = " A column without a name is left out." if len(taken) < len(found) else ""
    text = f"Covariates are all columns of {path} that no other option names: {listed(taken)}.{left_out}"
    notes.append(Note("decision", text))
    return taken


def check_not_ids(test: Table, names: Sequence[str]) -> None:
    """Refuse covariates that nobody has named and that are likely ids."""
    for name in names:
        if _all_differ(test, name):
            raise ValueError(
                f"--covariates all includes the column {name!r} of {test.path}, whose text differs in "
                f"every row: if it is an id, give --id {name}; otherwise name the covariates."
            )


def _all_differ(table: Table, name: str) -> bool:
    """Whether a column has another text in each row; a stray text among numbers is another fault."""
    values = plain(table.sparse(name))
    if not is_text(values.type) or not 1 < len(table) == len(values.unique()):
        return False
    return not any(NUMBER.fullmatch(text.replace(table.decimal, ".")) for text in values.to_pylist() if text)


Strict = Annotated[
    bool,
    typer.Option(
        "--strict/--no-strict",
        help=(
            "End with exit code 2, and write nothing, if a model's predictions are refused. By "
            "default the other models are scored, if there are any, and stderr and a note say why."
        ),
        rich_help_panel=PREDICTIONS,
    ),
]


def check_refused(refused: Mapping[str, str]) -> None:
    """``--strict``: refuse a study in which predictions are ``refused``, by model with why."""
    if refused:
        why = " ".join(f"{name}: {text}" for name, text in refused.items())
        raise ValueError(f"--strict scores all models or none, but predictions are refused. {why}")


def copula_of(family: str, tau: float | None) -> Any:
    """``--copula`` and ``--tau``."""
    check_choice(family, "--copula", ("select", *cc.copula_families()))
    if family in ("select", "independence"):
        if tau is not None:
            raise ValueError(f"--tau must come with a copula family in --copula, but that is {family}.")
        return "select" if family == "select" else None
    if tau is None:
        raise ValueError(f"--tau is needed for the {family} copula.")
    return cc.copula(family, tau=tau)


def adjustments_of(text: str | None, with_covariates: bool) -> Any:
    """``--adjustments``."""
    if text is None or text in SETS:
        return text or "default"
    asked = items(text, "--adjustments")
    for name in asked:
        check_choice(name, "--adjustments", tuple(cc.adjustment_names()))
        made = cc.adjustment(name, copula=cc.Independence() if needs_copula(name) else None)
        if "covariates" in made.needs and not with_covariates:
            raise ValueError(f"--covariates are needed for the adjustment {name!r}.")
    return asked


def metrics_of(text: str, floor: float | None, threshold: float | None) -> str | list[cc.Metric]:
    """``--metrics``, ``--floor`` and ``--threshold``."""
    names = items(text, "--metrics")
    for name in names:
        check_choice(name, "--metrics", ("default", *cc.metric_names()))
    if "default" in names and len(names) > 1:
        raise ValueError(f"--metrics must be default alone, or names without it, but is {text!r}.")
    given: dict[str, dict[str, float]] = {}
    for option, value, of in (("floor", floor, "ils"), ("threshold", threshold, "net_benefit")):
        if (of in names) != (value is not None):
            raise ValueError(f"--{option} and --metrics {of} belong together: give both or neither.")
        given |= {} if value is None else {of: {option: value}}
    return "default" if names == ["default"] else [cc.metric(name, **given.get(name, {})) for name in names]


def single_times(text: str | None) -> list[float] | None:
    """``--at``."""
    times = None if text is None else numbers(text, "--at")
    for time in times or ():
        if time < 0:
            raise ValueError(f"--at must not be negative, but has {time:g}.")
    return times


def horizon_of(text: str | None) -> Any:
    """``--horizon``."""
    if text is None or text == "t_max":
        return text
    try:
        return {"at_risk": float(text[:-1]) / 100} if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError(
            f"--horizon must be a time, t_max or a share such as 10%, but is {text!r}."
        ) from None


def intervals_of(confidence: str, bootstrap: int | None, seed: int | None) -> dict[str, Any]:
    """``--confidence``, ``--bootstrap`` and ``--seed``."""
    if bootstrap is None and seed is not None:
        raise ValueError(f"--seed must come with --bootstrap, but is {seed} without it.")
    if confidence == "none":
        if bootstrap is not None:
            raise ValueError(
                f"--bootstrap computes intervals and must not come with --confidence none, but is {bootstrap}."
            )
        return {"confidence_level": None}
    try:
        level = float(confidence)
    except ValueError:
        raise ValueError(
            f"--confidence must be a level such as 0.95, or none, but is {confidence!r}."
        ) from None
    found: dict[str, Any] = {"confidence_level": check_number(level, "--confidence", lower=0.0, upper=1.0)}
    if bootstrap is not None:
        found["n_resamples"] = check_whole(bootstrap, "--bootstrap", 2)
        found["seed"] = 0 if seed is None else check_whole(seed, "--seed", 0)
    return found


HazardRatios = Annotated[
    str | None,
    typer.Option(
        metavar="R,R,...",
        help=(
            "Hazard ratios after dropout in the sensitivity analysis, relative to similar subjects "
            "still under observation. By default 0.5,1,1.5,2,3,5."
        ),
        rich_help_panel=ASSUMPTIONS,
    ),
]
HazardRatioBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help=(
            "Also vary the hazard ratio after dropout in one group at a time. A column of the test "
            "sample names the groups."
        ),
        rich_help_panel=ASSUMPTIONS,
    ),
]
Plausible = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help=(
            "The range of Kendall's τ that you consider plausible, such as 0,0.3. By default up to "
            "0.2, or three times what all covariates together would induce."
        ),
        rich_help_panel=ASSUMPTIONS,
    ),
]


def sensitivity_grid(
    families: str | None,
    taus: str | None,
    hazard_ratios: str | None,
    hazard_ratio_by: str | None,
    plausible: str | None,
) -> dict[str, Any]:
    """``--families``, ``--taus``, ``--hazard-ratios`` and ``--plausible``."""
    chosen = None if families is None else items(families, "--families")
    if "independence" in (chosen or ()):
        raise ValueError("--families must not include independence: τ = 0 is independence already.")
    known = {name: kind.tau_range for name, kind in cc.copula_families().items() if name != "independence"}
    for family in chosen or ():
        check_choice(family, "--families", (*known, HAZARD_RATIO))
    copulas = [name for name in chosen or known if name in known]
    if not copulas:
        raise ValueError(f"--families must include a copula besides {HAZARD_RATIO}, but is {families}.")
    grid = None if taus is None else numbers(taus, "--taus")
    for tau in grid or ():
        check_number(tau, "--taus", lower=-1.0, upper=1.0)
        if tau and not any(low < tau < high for low, high in (known[name] for name in copulas)):
            raise ValueError(f"--taus must be within reach of --families, but {tau:g} is beyond {families}.")
    ratios = None if hazard_ratios is None else numbers(hazard_ratios, "--hazard-ratios")
    for ratio in ratios or ():
        if not ratio > 0:
            raise ValueError(f"--hazard-ratios must be above 0, but one is {ratio:g}.")
    for given, option in ((hazard_ratios, "--hazard-ratios"), (hazard_ratio_by, "--hazard-ratio-by")):
        if given is not None and chosen is not None and HAZARD_RATIO not in chosen:
            raise ValueError(f"--families must include {HAZARD_RATIO} for {option}, but is {families}.")
    held = None if plausible is None else numbers(plausible, "--plausible")
    if held is not None and (len(held) != 2 or held[0] > held[1]):
        raise ValueError(f"--plausible must be LOW,HIGH, such as 0,0.3, but is {plausible}.")
    for end in held or ():
        check_number(end, "--plausible", lower=-1.0, upper=1.0)
    return {"families": chosen, "taus": grid, "hazard_ratios": ratios, "plausible": held}
