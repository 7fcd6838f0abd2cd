"""``cocensor fit-copula``: which dependence of event and dropout the likelihood prefers, and how little it knows."""

from __future__ import annotations

import json as jsonlib
from dataclasses import MISSING
from pathlib import Path
from typing import Any, NamedTuple

import typer

import cocensor as cc
from cocensor._checks import check_choice, escaped
from cocensor._json import plain
from cocensor._late import narwhals as nw
from cocensor._notes import Note, noted
from cocensor.cli.console import progress_bar, refusing, say
from cocensor.cli.inputs import Outcomes, covariates_of
from cocensor.cli.options import MODEL, data_file, items, option, option_group, output_file, with_options
from cocensor.cli.outputs import check_outputs, write_all
from cocensor.data.files import read_table
from cocensor.data.survival import unmarked_end
from cocensor.joint.margins import MARGIN_FORMS
from cocensor.joint.select import CANDIDATES
from cocensor.joint.settings import DEFAULT_MARGINS
from cocensor.views.text.fits import candidates_as_text, choice_in_words
from cocensor.warnings import collected


@option_group
class _Fitting(Outcomes):
    """The options of ``cocensor fit-copula``."""

    train: Path = data_file(
        "Training sample, CSV or Parquet: one row per subject. Errors count rows from 0, after the header.",
        default=MISSING,
    )
    validation: Path | None = data_file(
        "Validation sample to compare the families on, with the same columns. By default cross-validation."
    )
    families: str = option(
        MODEL,
        "A,B,...",
        "Candidate families, gaussian among them. Independence is always a candidate.",
        default=",".join(CANDIDATES),
    )
    margins: str = option(MODEL, None, "Form of both margins: spline or weibull.", default=DEFAULT_MARGINS)
    penalty: float | None = option(
        MODEL,
        None,
        "Weight of (θ − independence)² against the mean log-likelihood; 0 for maximum likelihood. By default τ "
        "costs about 4τ² units of the log-likelihood of all subjects, in every family.",
    )
    json: Path | None = output_file("Where to write all numbers (JSON).")
    figure: Path | None = output_file("Where to draw the profile likelihood (PNG, PDF or SVG).")


@with_options(_Fitting)
def fit_copula(_context: typer.Context, options: _Fitting) -> None:
    """Fit copulas of event and dropout, choose one by likelihood, and show which τ fit about as well.

    The data inform on the dependence only through the assumed form of the margins: take the result as a hint.

    Example: cocensor fit-copula --train train.csv --time months --event died --covariates age,stage --figure tau.png
    """
    json, figure = options.json, options.figure
    with refusing():
        columns = options.columns
        parts = [options.train, *([] if options.validation is None else [options.validation])]
        check_outputs(parts, json=(json, (".json",)), figure=(figure, (".png", ".pdf", ".svg")))
        check_choice(options.margins, "--margins", MARGIN_FORMS)
        candidates = items(options.families, "--families")
        for family in candidates:
            check_choice(family, "--families", tuple(cc.copulas.copula_families()))
        if set(candidates) == {"independence"}:
            raise ValueError("--families must include one besides independence.")
        notes = [*columns.notes]
        _ = options.covariate_names  # refused before a file is read
        with progress_bar() as phase:
            tables = []
            for file in parts:
                phase(f"Reading {file.name}")
                tables.append(read_table(file))
            names = options.covariates_in(tables[0], options.train, notes)
            y = [columns.read(table) for table in tables]
            notes += unmarked_end({"training sample": y[0]})
            notes += [note for table in tables for note in table.notes]
            x = covariates_of(names, tables)
            seen = {} if options.validation is None else {"X_val": x[1], "y_val": y[1]}
            with collected(UserWarning) as warned:
                phase(f"Fitting {', '.join(candidates)}")
                how: dict[str, Any] = {"margins": options.margins, "penalty": options.penalty}
                choice = cc.select_copula(x[0], y[0], **seen, families=candidates, **how)
                profile = choice.profile(progress=phase("Likelihood over τ"))
            notes += [noted("warned", why=text) for text in warned]
            benchmarks = None
            if x[0] is not None:
                try:
                    benchmarks = cc.plausible_tau(x[0], y[0], progress=phase("Benchmarks from covariates"))
                except ValueError as error:
                    notes.append(noted("no_benchmarks", why=str(error)))
            if choice.problem.penalty != 0:
                notes.append(noted("penalised"))
            result = _Result(choice, profile, benchmarks, notes)
            places = write_all(
                phase, (json, "All numbers are", result.write_json), (figure, "The figure is", result.draw)
            )
        say("\n".join([result.text, *places]))


class _Result(NamedTuple):
    """What was fitted, with the τ that covariates would induce, and notes."""

    choice: cc.joint.CopulaChoice
    profile: cc.joint.DependenceProfile
    benchmarks: cc.study.sensitivity.CovariateBenchmarks | None
    notes: list[Note]

    @property
    def text(self) -> str:
        """The candidates, what their profiles support, the benchmarks, and the caveats."""
        profile = self.profile
        lines = [
            candidates_as_text(self.choice),
            "",
            "Profile likelihood over τ, margins refitted at each: the best τ of each family, and its 95 % interval",
            "",
            f"{'family':<14}{'best τ':>8}{'from':>8}{'to':>8}{'below the best of all':>24}",
        ]
        for name, (taus, values) in profile.curves.items():
            low, high = profile.supported(name)
            best, gap = taus[values.argmax()], profile.best[2] - values.max()
            lines.append(f"{name:<14}{best:8.2g}{low:8.2g}{high:8.2g}{gap:24.2f}")
        lines += ["", choice_in_words(self.choice), profile.statement]
        if self.benchmarks is not None:
            lines += ["", repr(self.benchmarks), ""]
        return "\n".join([*lines, *map(str, self.notes)])

    def write_json(self, path: Path) -> None:
        """Write all numbers; what is not known is null."""
        choice, benchmarks = self.choice, self.benchmarks
        numbers = {
            "cocensor": cc.__version__,
            "n": choice.best.n_,
            "margins": choice.best.event.name,
            "time_kind": choice.best.time_kind_,
            "time_kind_reason": choice.best.time_kind_reason_,
            "how": choice.how,
            "preferred": choice.preferred,
            "gain": choice.gain,
            "chosen": choice.copula.name,
            "candidates": plain(nw.from_native(choice.table).rows(named=True)),
            "profile": self.profile.to_dict(),
            "plausible_tau": None if benchmarks is None else benchmarks.to_dict(),
            "notes": [note.to_dict() for note in self.notes],
        }
        text = escaped(jsonlib.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1))
        path.write_text(f"{text}\n", "utf-8")

    def draw(self, path: Path) -> None:
        """Draw the profile likelihood."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
        ax = self.profile.plot(figure.subplots())
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        figure.savefig(path)
