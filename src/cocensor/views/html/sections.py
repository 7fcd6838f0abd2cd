"""Figures and tables of the page, section by section; what there is nothing of is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from cocensor.data.times import shown_time
from cocensor.metrics import Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.grid import ALL
from cocensor.study.sensitivity.zones import courses
from cocensor.views.html.figures import Line, course_figure, forest, line_chart, plain_number
from cocensor.views.text.digits import decimals, level_in_words, number, ratio_in_words, tau_in_words
from cocensor.views.text.face import Face, limits_in_words
from cocensor.views.text.names import BARE, ON_PAGE, capital
from cocensor.views.text.sensitivity import bounds_in_words, pairs_from_leader
from cocensor.views.text.verdict import conclusion, zones_in_words

# So many models have a calibration curve each, so many covariates a row, and so many events precede an AUC.
_MOST_MODELS, _MOST_COVARIATES, _LEAST_EVENTS = 6, 8, 10
_MOST_PAIRS = 6


class Figure(NamedTuple):
    """A figure, its heading, and a sentence below it."""

    title: str
    svg: Markup
    note: str = ""


class TextTable(NamedTuple):
    """A table of texts; the first cell of a row is its heading."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def _level(evaluation: Evaluation) -> str:
    level = evaluation.data.confidence_level
    return "" if level is None else level_in_words(level)


def main_figure(report: Report, looks: Mapping[str, str], face: Face) -> Markup | None:
    """The difference of the two models that matter, over the dependence."""
    verdict, evaluation = report.verdict, report.evaluation
    if not verdict.courses or not evaluation.data.anybody_left or len(verdict.courses[0].points) < 2:
        return None
    course, marks = verdict.courses[0], list[tuple[str, float]]()
    benchmarks = report.benchmarks
    if benchmarks is not None:
        induced = [(row.name, row.shrunken_tau) for row in benchmarks.benchmarks[:2]]
        induced += [("all covariates", benchmarks.together)] * (len(benchmarks.benchmarks) > 1)
        taus = np.array([course.tau(point) for point in course.points])
        for name, tau in induced:
            if taus[0] <= tau <= taus[-1]:  # false where they are not known
                marks.append((name, float(np.interp(tau, taus, course.curve.positions))))
    said = "; ".join(f"{where}: {what}" for where, what in zones_in_words(course))
    alt = f"{conclusion(verdict)} {said}."
    return course_figure(course, looks, marks, alt, _level(evaluation), face.metric)


def family_figures(sensitivity: Sensitivity, looks: Mapping[str, str]) -> list[Figure]:
    """The same difference over τ in each family of copulas."""
    verdict, figures = sensitivity.verdict, []
    if not verdict.courses or not sensitivity.evaluation.data.anybody_left:
        return []
    first = verdict.courses[0]
    pair = [first.first, *([first.second] if first.second else [])]
    ends = sensitivity.plausible.low, sensitivity.plausible.high
    for family in sensitivity.over_tau.answers.get(verdict.adjustment, {}):
        found = courses([sensitivity.over_tau], verdict.standing, pair, ends, {}, family)
        if not found or len(found[0].points) < 2:
            continue
        [course, *_] = found
        lines = [
            Line(
                "difference", course.curve.positions, course.curve.values, course.curve.low, course.curve.high
            )
        ]
        said = "; ".join(f"{where}: {what}" for where, what in zones_in_words(course))
        svg = line_chart(
            lines,
            title=f"{family.capitalize()}",
            x_label="Kendall’s τ",
            alt=f"{family.capitalize()} copula. {said}.",
            said=lambda tau: f"τ = {tau_in_words(tau)}",
            rules=[0.0],
            labels=False,
            digits=4,
        )
        figures.append(Figure(family.capitalize(), svg))
    return figures


def survival_figure(report: Report) -> Figure | None:
    """Who is event-free under the assumptions."""
    evaluation = report.evaluation
    if len(report.event_free) < 2:
        return None
    axis, horizon = evaluation.data.time_axis, evaluation.data.grid.last
    times = np.linspace(0.0, horizon, len(next(iter(report.event_free.values()))))
    looks = dict(zip(sorted(report.event_free), ("k2 d1", "k0 d0", "k1 d2"), strict=False))
    lines = [
        Line(
            "same rate" if ratio == 1 else f"{ratio_in_words(ratio)}× as fast",
            times,
            share,
            look=looks[ratio],
        )
        for ratio, share in report.event_free.items()
    ]
    last = {ratio: f"{share[-1]:.2f}" for ratio, share in report.event_free.items()}
    rates = {
        ratio: "at the same rate" if ratio == 1 else f"if {ratio_in_words(ratio)} times as fast"
        for ratio in last
    }
    ends = ", ".join(f"{share} {rates[ratio]}" for ratio, share in last.items())
    alt = f"Event-free at {axis.said(float(times[-1]))}: {ends}."
    svg = line_chart(
        lines,
        title="Share of the test subjects that is event-free",
        x_label=axis.label,
        alt=alt,
        said=axis.named,
        y_range=(0.0, 1.0),
        size=(460.0, 270.0),
        x_ticks=[(mark, shown_time(mark)) for mark in axis.marks(0.0, float(times[-1]))],
    )
    return Figure(
        "What happened to dropouts decides",
        svg,
        f"{alt} The gap between the curves is what no data can close.",
    )


def benchmark_figure(report: Report) -> Figure | None:
    """Which τ measured covariates would induce, beside the plausible range."""
    benchmarks, sensitivity = report.benchmarks, report.sensitivity
    if benchmarks is None or sensitivity is None:
        return None
    rows = [(row.name, row.tau, *row.interval) for row in benchmarks.benchmarks[:_MOST_COVARIATES]]
    if len(benchmarks.benchmarks) > 1:
        rows.append(("all covariates", benchmarks.together, *benchmarks.together_interval))
    shade = sensitivity.plausible.low, sensitivity.plausible.high
    largest = max(rows, key=lambda row: abs(row[1]))
    alt = f"No covariate induces a larger dependence than {largest[0]}, τ = {tau_in_words(largest[1])}."
    label = f"Kendall’s τ induced by leaving it out ({level_in_words(benchmarks.confidence_level)} CI)"
    return Figure("What measured covariates would induce", forest(rows, shade=shade, x_label=label, alt=alt))


def metric_figures(report: Report, looks: Mapping[str, str], ranked: Sequence[str]) -> list[Figure]:
    """Calibration, ROC, AUC over time and net benefit, as far as they were asked for, of the first models."""
    looks = {model: looks[model] for model in ranked[:_MOST_MODELS]}
    figures = [*_calibration(report, looks)]
    for metric in report.evaluation.data.metrics:
        key = metric.name, report.evaluation.primary
        if metric.kind == "discrimination" and key in report.curves:
            figures += _over_time(report, metric, report.curves[key], looks)
    roc = [
        (metric, errors)
        for metric in report.evaluation.data.metrics
        if metric.profile_style == "roc"
        and (errors := report.profiles.get((metric.name, report.evaluation.primary)))
    ]
    figures += [_roc(report, *roc[len(roc) // 2], looks)] if roc else []
    return [*figures, *_net_benefit(report, looks)]


def _calibration(report: Report, looks: Mapping[str, str]) -> list[Figure]:
    axis, figures = report.evaluation.data.time_axis, list[Figure]()
    times = sorted({time for *_, time in report.calibration})
    if not times:
        return []
    time = times[len(times) // 2]
    shown = {model: curve for (_, model, at), curve in report.calibration.items() if at == time}
    curves = {model: shown[model] for model in looks if model in shown}
    if not curves:
        return []
    # One range for all, so that panels can be compared.
    ends = [
        np.nanmax(part)
        for curve in curves.values()
        for part in (curve.edges, curve.observed, curve.predicted)
    ]
    end = min(1.0, 1.05 * float(max(ends))) or 1.0
    for model, curve in curves.items():
        ici = f"ICI {number(curve.ici.value, 3)}"
        low, high = float(curve.mean_predicted.value), float(curve.mean_observed.value)
        alt = f"{model}, {axis.named(time)}: mean predicted risk {low:.2f}, observed {high:.2f}; {ici}."
        svg = line_chart(
            [Line(model, curve.predicted, curve.observed, curve.low, curve.high, looks[model])],
            title=f"{BARE.model(model)}: {ici}",
            x_label=f"predicted risk, {axis.named(time)}",
            alt=alt,
            said=lambda risk: f"predicted {risk:.2f}",
            x_range=(0.0, end),
            y_range=(0.0, end),
            diagonal=True,
            labels=False,
            bars=(curve.edges, np.asarray(curve.counts, dtype=np.float64)),
        )
        figures.append(Figure(f"Calibration of {BARE.model(model)}", svg))
    return figures


def _over_time(report: Report, metric: Metric, errors: CurveErrors, looks: Mapping[str, str]) -> list[Figure]:
    """A metric over time, from the first time with ten events on."""
    evaluation = report.evaluation
    axis, level = evaluation.data.time_axis, evaluation.data.level
    table = evaluation.data.risk_table
    enough = table.times[np.cumsum(table.events) >= _LEAST_EVENTS]
    start = float(enough[0]) if enough.size else float("inf")
    lines = []
    for model in looks:
        if model not in errors.values:
            continue
        x, kept = errors.x[model], errors.x[model] >= start
        if not kept.sum() > 1:
            return []
        low, high = errors.of(model).confidence_intervals(level)
        has = model not in errors.missing
        order = np.argsort(x[kept])
        line = Line(model, x[kept][order], errors.values[model][kept][order], look=looks[model])
        lines.append(replace(line, low=low[kept][order], high=high[kept][order]) if has else line)
    if not lines:
        return []
    label = capital(metric.curve_label or metric.label)
    alt = f"{label} at {axis.said(float(lines[0].x[-1]))}: " + ", ".join(
        f"{line.name} {line.y[-1]:.2f}" for line in lines
    )
    svg = line_chart(lines, title=f"{label} over time", x_label=axis.label, alt=f"{alt}.", said=axis.named)
    return [Figure(f"{label} over time", svg)]


def _roc(report: Report, metric: Metric, errors: CurveErrors, looks: Mapping[str, str]) -> Figure:
    evaluation, lines = report.evaluation, []
    for model in looks:
        if model in errors.values:
            score = evaluation.score(model, metric.name)
            named = f"{BARE.model(model)} {number(score.value, 2)}"
            lines.append(Line(named, errors.x[model], errors.values[model], look=looks[model]))
    title = f"ROC curve and {metric.label}"
    alt = f"{title}: {', '.join(line.name for line in lines)}."
    svg = line_chart(
        lines,
        title=title,
        x_label="1 − specificity",
        alt=alt,
        said=lambda share: f"1 − specificity {share:.2f}",
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
        diagonal=True,
    )
    return Figure(title, svg)


def _net_benefit(report: Report, looks: Mapping[str, str]) -> list[Figure]:
    figures, axis = list[Figure](), report.evaluation.data.time_axis
    for (_, time), curves in list(report.decision_curves.items())[:1]:
        first = next(iter(curves.values()))
        # Thresholds above the share with the event are of no use to anybody.
        rate = float(first.treat_all.values[0])
        kept = first.thresholds <= max(0.2, min(0.99, 1.3 * rate + 0.05))
        x = first.thresholds[kept]
        lines = [
            Line(model, x, curves[model].net_benefit.values[kept], look=looks[model])
            for model in looks
            if model in curves
        ]
        lines += [
            Line("treat all", x, first.treat_all.values[kept], look="all"),
            Line("treat none", x, 0 * x, look="none"),
        ]
        top = max(float(np.nanmax(line.y)) for line in lines)
        lines = [replace(line, y=np.where(line.y < -0.12 * top, np.nan, line.y)) for line in lines]
        half = int(np.argmin(abs(x - 0.2)))
        alt = f"Net benefit at a threshold of {x[half]:.2f}, {axis.named(time)}: " + ", ".join(
            f"{line.name} {number(float(line.y[half]), 3)}" for line in lines
        )
        svg = line_chart(
            lines,
            title=f"Net benefit, {axis.named(time)}",
            x_label=f"risk at which one would treat, {x[0]:.2f} to {x[-1]:.2f}",
            alt=f"{alt}.",
            said=lambda threshold: f"threshold {threshold:.2f}",
            y_range=(-0.12 * top, 1.08 * top),
        )
        figures.append(Figure("Net benefit", svg))
    return figures


def adjustment_table(evaluation: Evaluation) -> TextTable | None:
    """The first metric under every adjustment."""
    metric, level = evaluation.data.metrics[0], evaluation.data.confidence_level
    if len(evaluation.results) < 2 and evaluation.truth is None:
        return None
    rows = []
    for model in evaluation.models:
        cells = [model]
        for name in evaluation.results:
            score = evaluation.score(model, metric.name, name)
            places = max(decimals(score.standard_error) - 1, 2) if score.standard_error > 0 else 4
            text = number(score.value, places) if isfinite(score.value) else "–"
            if level is not None and isfinite(score.standard_error):
                text += f" ({limits_in_words(score.confidence_interval(level), places)})"
            best = standing(evaluation, metric.name, name).best
            cells.append(f"{text}{' ★' if model in best else ''}")
        if evaluation.truth is not None:
            cells.append(number(evaluation.truth.value(metric.name, model), 3))
        rows.append(cells)
    head = ["model", *(scores.label for scores in evaluation.results.values())]
    head += ["by true event times"] if evaluation.truth is not None else []
    note = "★ the best model, and those that it is not better than"
    return TextTable(f"{metric.label} under every adjustment", head, rows, note)


def bound_tables(report: Report) -> list[tuple[str, TextTable]]:
    """What holds whatever the dependence."""
    tables = []
    for bounds in report.bounds:
        pairs = [pair for pair in pairs_from_leader(report.evaluation, bounds) if isfinite(bounds[pair].low)]
        keys: list[str | tuple[str, str]] = [*bounds.models, *pairs[:_MOST_PAIRS]]
        rows = []
        for key in keys:
            bound = bounds[key]
            name = key if isinstance(key, str) else " − ".join(key)
            limits = ""
            if bounds.level is not None and isfinite(bound.low_error):
                limits = limits_in_words(bound.confidence_interval(bounds.level), 3)
            rows.append([name, number(bound.low, 3), number(bound.high, 3), limits])
        head = [
            "model, or difference",
            "from",
            "to",
            f"{level_in_words(bounds.level)} CI" if bounds.level else "",
        ]
        caption = f"{bounds.metric.label}, whatever the dependence"
        tables.append((bounds_in_words(bounds, ON_PAGE, pairs), TextTable(caption, head, rows)))
    return tables


def family_map(sensitivity: Sensitivity) -> TextTable:
    """Who may be best, by family and τ, and by hazard ratio after dropout."""
    rows, grid = [], sensitivity.over_tau
    best = grid.best()
    for family in grid.lines:
        by_tau = best.get(family, {})
        rows.append([family.capitalize(), *(_cell(by_tau.get(tau)) for tau in grid.points)])
    note = "The models that no other is better than; – where a family has no answer."
    after = sensitivity.over_ratio
    if after is not None and ALL in (by_ratio := after.best()):
        ratios = "; ".join(f"{ratio_in_words(at)}×: {_cell(models)}" for at, models in by_ratio[ALL].items())
        note += f" By hazard ratio after dropout: {ratios}."
    head = ["family", *(f"τ = {plain_number(tau)}" for tau in grid.points)]
    return TextTable("Who may be best, by family of copulas and Kendall’s τ", head, rows, note)


def _cell(models: tuple[str, ...] | None) -> str:
    if not models:
        return "–"
    return " or ".join(models) if len(models) < 3 else f"{models[0]} or {len(models) - 1} others"


def likelihood_figure(report: Report) -> Figure | None:
    """The likelihood over τ behind a hint."""
    profile = report.profile
    if profile is None:
        return None
    lines = [
        Line(family.capitalize(), taus, values - profile.independence, look=f"k{k % 6} d{k % 6}")
        for k, (family, (taus, values)) in enumerate(profile.curves.items())
    ]
    svg = line_chart(
        lines,
        title="Log-likelihood against independence",
        x_label="Kendall’s τ",
        alt=str(profile.statement) if hasattr(profile, "statement") else "Log-likelihood over τ.",
        said=lambda tau: f"τ = {tau_in_words(tau)}",
        rules=[0.0],
        digits=1,
        size=(460.0, 260.0),
    )
    return Figure(
        "Likelihood over τ", svg, "It rests on the form of the margins alone: a hint, no measurement."
    )


def data_rows(report: Report) -> TextTable:
    """Counts of the samples."""
    data = report.evaluation.data
    head, rows = ["sample", "subjects", "events", "dropouts", "censored by the end of the study"], []
    whole = data.whole
    ended = whole.n - whole.n_events - whole.n_dropouts
    rows.append(["test", *(f"{n:,}" for n in (whole.n, whole.n_events, whole.n_dropouts, ended))])
    y = data.samples.y_train
    if y is not None:
        dropouts = int(y.dropout.sum())
        counts = len(y), y.n_events, dropouts, len(y) - y.n_events - dropouts
        rows.append(["training", *(f"{n:,}" for n in counts)])
    horizon = f"Scored until {data.time_axis.said(data.horizon.time)}: {data.horizon.reason}."
    return TextTable("Samples", head, rows, horizon)
