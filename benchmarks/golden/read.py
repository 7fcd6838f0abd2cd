"""What the library returns today, as numbers under the golden keys: this module and ``ask.py`` alone know its names.

A rebuild changes these two modules, and neither studies, nor keys, nor the file of numbers. Sentences are not read;
what was decided is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.golden.ask import ADJUSTMENTS
from benchmarks.golden.numbers import Numbers
from cocensor.data.predictions import RiskScores
from cocensor.study.curves import curve_errors, profile_errors
from cocensor.study.ranking import rankable
from cocensor.study.report import Report
from cocensor.views.numbers import sensitivity_numbers

#: Adjustments by the library's names, and by the words of the golden keys.
_WORDS = {name: word for word, name in ADJUSTMENTS.items()}
#: What is called nonsense, by a code of the golden keys.
_ALARMS = {
    "negative_skill": "worse_than_kaplan_meier",
    "worse": "worse_than_kaplan_meier",
    "no_better": "no_better_than_kaplan_meier",
    "against_outcome": "against_outcome",
    "constant": "same_for_everybody",
    "all_censored": "no_event_in_test_sample",
    "refused": "refused",
    "same_sample": "training_and_test_sample_are_one",
    "training_censored": "no_event_in_training_sample",
    "few_events": "few_events",
}
_NAN = float("nan")
#: Lists that are longer are kept by so many entries, and by their sum.
_LONG, _SOME = 40, 12


def _word(adjustment: str) -> str:
    return _WORDS.get(adjustment, adjustment)


def _numbers(values: Iterable[Any]) -> list[float]:
    """With NaN for what is missing."""
    return [_NAN if each is None else float(each) for each in values]


def _number(value: Any) -> float:
    return _NAN if value is None else float(value)


def _pick(into: Numbers, node: Mapping[str, Any], **names: str) -> None:
    """Numbers of a mapping, alone or in lists: the golden name, and that in the mapping."""
    for name, theirs in names.items():
        value = node[theirs]
        if isinstance(value, Sequence):
            _put_long(into, name, value)
        else:
            into.put(name, _number(value))


def _put_long(into: Numbers, name: str, values: Iterable[Any]) -> None:
    """A list that may be long: some of its entries then, and the sum of all that are there."""
    found = _numbers(values)
    if len(found) <= _LONG:
        into.put(name, found)
        return
    some = np.linspace(0, len(found) - 1, _SOME).round().astype(int)
    into.under(name).put("n", len(found))
    into.under(name).put("some", [found[k] for k in some])
    into.under(name).put("sum", float(np.nansum(found)))


def _ends(into: Numbers, interval: Sequence[Any] | None, prefix: str = "") -> None:
    low, high = interval or (None, None)
    into.put(f"{prefix}low", _number(low))
    into.put(f"{prefix}high", _number(high))


# --- evaluations ------------------------------------------------------------------------------------------


def evaluation(into: Numbers, found: Any, *, curves: bool = True, **analyses: Any) -> None:
    """All of an evaluation: what its JSON has, and the same from its tables, which must agree.

    ``curves`` asks for the errors of values over time, and of the curves behind values at one time; ``analyses`` are
    those that are shown beside it.
    """
    numbers = Report(found, **(_curves_of(found) if curves else {}), **analyses).to_dict()
    as_json(into, numbers)
    names = _metric_keys(numbers)
    for row in _rows(found.table()):
        at = into.under(names[row["metric"]], row["model"], _word(row["adjustment"]))
        at.put("value", _number(row["score"]))
        if "low" in row:
            at.put("standard_error", _number(row["standard_error"]))
            _ends(at, (row["low"], row["high"]))
        at.put("skill", _number(row["skill"]))
        at.put("rank", _number(row["rank"]))
        at.put("is_best", bool(row["best"]))
    counts = {each["name"] for each in numbers["adjustments"] if each["votes"]}
    for row in _rows(found.table("ranks")):
        if row["adjustment"] in counts and numbers["confidence_level"] is not None:
            at = into.under(names[row["metric"]], row["model"], _word(row["adjustment"]))
            at.put("possible_ranks", _span_of_ranks(row["lowest"], row["highest"]))
    for row in _rows(found.table("differences")):
        _comparison(into.under(names[row["metric"]]), _word(row["adjustment"]), row)


def as_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """All that the JSON of an evaluation has, by whichever door it came."""
    for which in ("train", "test"):
        if numbers["data"][which] is not None:
            _subjects(into.under("subjects", which), numbers["data"][which])
    horizon = numbers["horizon"]
    into.put("horizon/time", horizon["time"])
    into.put("horizon/decided_by", horizon["by"])
    into.under("horizon/at_risk").put_all(horizon["at_risk"])
    into.under("at_risk").put_all(numbers["at_risk"])
    into.put("single_times", numbers["at"])
    into.put("confidence_level", _number(numbers["confidence_level"]))
    _pick(into.under("copula"), numbers["copula"], theta="theta", tau="tau")
    into.put("copula/family", numbers["copula"]["family"])
    into.put("copula/origin", numbers["copula"]["origin"])
    for model in numbers["models"]:
        kind = "risk_score" if model["risk_score"] else "curves" if model["only_at"] is None else "one_time"
        into.put(f"models/{model['name']}/kind", kind)
        into.put(f"models/{model['name']}/only_at", _number(model["only_at"]))
    into.put("verdict_by", _word(numbers["primary"]))
    _verdict(into.under("verdict"), numbers["verdict"])
    if numbers["imputation"] is not None:
        into.put("imputation_model/columns", sorted(map(_column, numbers["imputation"]["columns"])))
    for adjustment in numbers["adjustments"]:
        _adjustment(into, adjustment)
    for metric in numbers["metrics"]:
        _metric(into.under(_metric_key(metric)), metric)
    into.put(
        "alarms",
        sorted(
            f"{_ALARMS[each['code']]}:{each['model'] or '-'}:{'disqualified' if each['disqualifies'] else '-'}"
            for each in numbers["checks"]
        ),
    )
    into.put("notes", _notes(numbers["notes"]))
    _rest(into, numbers)


def _rest(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """What an evaluation has only if it was asked for."""
    names = _metric_keys(numbers)
    if "streamed" in numbers:
        into.put_all({f"stream/{name}": numbers["streamed"][name] for name in ("n", "n_fitted", "n_kept")})
        into.put("stream/of_all", sorted(names[name] for name in numbers["streamed"]["metrics"]))
    for metric, by_model in numbers.get("truth", {}).items():
        for model, value in by_model.items():
            into.put(f"{names[metric]}/{model}/truth/value", _number(value))
    for kind, read in (("calibration", _calibration), ("d_calibration", _d_calibration)):
        for each in numbers["details"][kind]:
            time = f"@{each['time']:g}" if kind == "calibration" else ""
            read(into.under(f"{kind}{time}", each["model"], _word(each["adjustment"])), each)
    for each in numbers["details"]["decision_curves"]:
        _decision(into.under(f"decision@{each['time']:g}"), _word(each["adjustment"]), each)
    if "sensitivity" in numbers:
        sensitivity_json(into.under("sensitivity"), numbers["sensitivity"], names)
    for metric, each in numbers.get("bounds", {}).items():
        bounds_json(into.under("bounds", names.get(metric) or _metric_key(each)), each)
    for name, read_json in (
        ("hint", hint_json),
        ("profile", profile_json),
        ("survival", survival_json),
        ("plausible_tau", plausible_json),
    ):
        if name in numbers:
            read_json(into.under(name), numbers[name])


def _span_of_ranks(low: Any, high: Any) -> str:
    """From which to which rank; empty where there is none."""
    if low is None or low != low:
        return ""
    return f"{low:.0f}–{high:.0f}" if low < high else f"{low:.0f}"


def _curves_of(found: Any) -> dict[str, Any]:
    """Values over time, and curves behind values at one time, with their errors."""
    curves, profiles = {}, {}
    for metric in found.data.metrics:
        for name, each in found.results.items():
            values = each.values[metric.name].values()
            if any(value.curve is not None for value in values):
                curves[metric.name, name] = curve_errors(found, metric.name, name)
            if any(value.profile is not None for value in values):
                profiles[metric.name, name] = profile_errors(found, metric.name, name)
    return {"curves": curves, "profiles": profiles}


def details_at(found: Any, at: float) -> dict[str, Any]:
    """Calibration, D-calibration and decision curves of all models with curves, at one time."""
    calibration, cells, decisions = {}, {}, {}
    for name, each in found.results.items():
        able = [
            m
            for m in found.data.predictions
            if m in each.fits and not isinstance(found.data.predictions[m], RiskScores)
        ]
        for model in able:
            calibration[name, model, at] = found.calibration_curve(model, at, name, n_groups=4)
            cells[name, model] = found.d_calibration(model, name, n_cells=5)
        if able:
            decisions[name, at] = found.decision_curve(at, name, thresholds=[0.1, 0.25, 0.4, 0.6])
    return {"calibration": calibration, "d_calibration": cells, "decision_curves": decisions}


def _subjects(into: Numbers, numbers: Mapping[str, Any]) -> None:
    into.put_all({name: numbers[name] for name in ("n", "events", "dropouts", "administrative", "censored")})
    into.put("last_time", numbers["t_max"])
    into.under("reasons").put_all(numbers["reasons"])


def _column(name: str) -> str:
    """A column of the imputation model: a covariate, the score of a model or how that bends, and whether over time."""
    effect, times, _ = name.partition(" × ")
    found = re.fullmatch(r"(?:risk )?score of (.+?)(?: at [^ ]+)?|curvature (\d) of (.+)", effect)
    if found is not None:
        effect = f"score:{found[1]}" if found[1] else f"curvature_{found[2]}:{found[3]}"
    return f"{effect}*time" if times else effect


def _adjustment(into: Numbers, numbers: Mapping[str, Any]) -> None:
    at = into.under("adjustments", _word(numbers["name"]))
    at.put("rests_on_copula", numbers["rests_on_copula"])
    at.put("votes", numbers["votes"])
    at.put("notes", _notes(numbers["notes"]))
    how = numbers["resampling"]
    at.put("resamples", 0 if how is None else how["n_resamples"])
    if numbers["imputation_fit"] is not None:
        fit_of_imputation(at.under("fit"), numbers["imputation_fit"])


def fit_of_imputation(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """Observed against expected numbers of events and dropouts."""
    into.put("periods", numbers["periods"])
    into.put("tau", numbers["copula"]["tau"])
    into.put("failed", sorted(f"{each['model']}:{each['kind']}" for each in numbers["failed"]))
    for model, by_kind in numbers["models"].items():
        for kind, each in by_kind.items():
            at = into.under(model, kind)
            for name in ("observed", "expected"):
                at.put(name, [value for row in each[name] for value in row])
            _pick(at, each, statistic="statistic", df="df", pvalue="pvalue", misfit="misfit")


def _metric_key(metric: Mapping[str, Any]) -> str:
    family = metric.get("family") or metric["metric"].partition(" at ")[0]
    return family if metric["at"] is None else f"{family}@{metric['at']:g}"


def _metric_keys(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The golden keys of metrics by their names in tables."""
    return {each["name"]: _metric_key(each) for each in numbers["metrics"]}


def _metric(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """All of one metric."""
    into.put("lower_is_better", numbers["direction"] == "lower")
    for adjustment, by_model in numbers["scores"].items():
        word = _word(adjustment)
        _pick(into.under("kaplan_meier", word), numbers["reference"], value=adjustment)
        for model, value in by_model.items():
            at = into.under(model, word)
            at.put("value", _number(value))
            at.put("skill", _number(numbers["skill"][adjustment].get(model)))
            at.put("rank", _number(numbers["ranks"].get(adjustment, {}).get(model)))
            at.put("is_best", model in numbers["best"].get(adjustment, []))
            if "standard_errors" in numbers:
                _errors(at, numbers, adjustment, model)
        for pair in numbers.get("comparisons", {}).get(adjustment, []):
            _comparison(into, word, pair)
    _curves(into, numbers)


def _errors(into: Numbers, numbers: Mapping[str, Any], adjustment: str, model: str) -> None:
    into.put("standard_error", _number(numbers["standard_errors"][adjustment][model]))
    _ends(into, numbers["intervals"][adjustment][model])
    into.put("has_interval", model not in numbers["no_interval"][adjustment])
    into.put("skill_standard_error", _number(numbers["skill_standard_errors"][adjustment].get(model)))
    _ends(into, numbers["skill_intervals"][adjustment].get(model), "skill_")


def _comparison(into: Numbers, adjustment: str, row: Mapping[str, Any]) -> None:
    names = ("difference", "standard_error", "low", "high", "pvalue", "adjusted_pvalue")
    at = into.under(f"{row['a']}-{row['b']}", adjustment)
    at.put_all({name: _number(row[name]) for name in names})


_LIMITS = {
    "standard_error": "standard_errors",
    "low": "low",
    "high": "high",
    "band_low": "band_low",
    "band_high": "band_high",
}


def _curves(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """Values over time, and curves behind values at one time."""
    if any(numbers["curves"].values()):
        _put_long(into, "times", numbers["times"])
    for adjustment, by_model in numbers["curves"].items():
        for model, values in by_model.items():
            _put_long(into.under(model, _word(adjustment), "over_time"), "value", values)
    for adjustment, values in numbers["reference_curves"].items():
        _put_long(into.under("kaplan_meier", _word(adjustment), "over_time"), "value", values)
    for adjustment, by_model in numbers["profiles"].items():
        for model, profile in by_model.items():
            at = into.under(model, _word(adjustment), "behind")
            _put_long(at, "x", profile["x"])
            _put_long(at, "value", profile["y"])
    for key, name in (("curve_errors", "over_time"), ("profile_errors", "behind")):
        for adjustment, by_model in numbers.get(key, {}).items():
            for model, limits in by_model.items():
                _pick(into.under(model, _word(adjustment), name), limits, **_LIMITS)


def _calibration(into: Numbers, numbers: Mapping[str, Any]) -> None:
    _pick(into.under("curve"), numbers, **{name: name for name in _CALIBRATION_CURVE})
    into.under("groups").put_all({name: _numbers(each) for name, each in numbers["groups"].items()})
    _pick(into, numbers, counts="counts", edges="edges")
    for name in _SINGLE:
        values = ("value", "standard_error", "low", "high")
        into.under(name).put_all({value: _number(numbers[name][value]) for value in values})


_CALIBRATION_CURVE = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
_SINGLE = (
    *("mean_predicted", "mean_observed", "observed_expected", "slope", "intercept", "ici", "e50", "e90"),
)


def _d_calibration(into: Numbers, numbers: Mapping[str, Any]) -> None:
    arrays = ("levels", "observed", "expected", "standard_error", "low", "high")
    into.put_all({name: _numbers(numbers[name]) for name in arrays})
    _pick(into, numbers, statistic="statistic", df="df", pvalue="pvalue")


def _decision(into: Numbers, adjustment: str, numbers: Mapping[str, Any]) -> None:
    into.put("thresholds", numbers["thresholds"])
    limited = {"value": "values", "standard_error": "standard_error", "low": "low", "high": "high"}
    _pick(into.under("treat_all", adjustment), numbers["treat_all"], **limited)
    for model, each in numbers["models"].items():
        _pick(into.under(model, adjustment, "net_benefit"), each["net_benefit"], **limited)
        _pick(into.under(model, adjustment, "more_than_treat_all"), each["more_than_treat_all"], **limited)


def _notes(notes: Iterable[Mapping[str, Any]]) -> list[str]:
    """What notes are about that doubt or miss something; their words, and decisions said in words, are not golden."""
    found = {
        f"{note['kind']}:{_word(note['adjustment']) if note['adjustment'] else '-'}:{note['model'] or '-'}"
        for note in notes
        if note["kind"] in ("caution", "missing")
    }
    return sorted(found)


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a pandas table; none where there is no table."""
    return iter([] if table is None else table.to_dict("records"))


# --- further analyses -------------------------------------------------------------------------------------


def sensitivity(into: Numbers, found: Any, *, curves: bool = False) -> None:
    """A sensitivity analysis: its JSON, its tables, and what is certain over the plausible range."""
    of = found.evaluation
    names = {each.name: _metric_key({"family": each.family, "at": each.at}) for each in of.data.metrics}
    sensitivity_json(into, sensitivity_numbers(found), names)
    for metric, key in names.items():
        for adjustment in found.over_tau.answers:
            for a, b in combinations(of.models, 2):
                at = into.under("within_plausible", key, f"{a}-{b}", _word(adjustment))
                _within_plausible(at, found, a, b, metric, adjustment)
    if curves:
        _curves_on_grid(into, found, names)
    _table_of_grid(into, found, names)


def _within_plausible(into: Numbers, found: Any, a: str, b: str, metric: str, adjustment: str) -> None:
    """What is certain of two models over the part of the plausible range that the grid covers."""
    grid, plausible = found.over_tau, found.plausible
    taus = [tau for line in grid.answers[adjustment].values() for tau in line]
    low, high = max(plausible.low, min(taus)), min(plausible.high, max(taus))
    spread = grid.uncertainty(low, high, a, b, None, metric, adjustment)
    sign = 0 if spread.missing else (spread.strong.low > 0) - (spread.strong.high < 0)
    winner = grid.pair(a, b, metric, adjustment).better(sign) if sign else None
    into.put("winner", winner if winner in rankable(found.evaluation) else "-")
    into.put("whole", (low, high) == (plausible.low, plausible.high))
    _ends(into, (low, high), "from_")
    for name in ("ignorance", "strong", "pointwise"):
        _ends(into, getattr(spread, name), f"{name}_")
    into.put("constant", spread.constant)


def _table_of_grid(into: Numbers, found: Any, names: Mapping[str, str]) -> None:
    """The table of a grid, whose numbers must be those of its JSON."""
    by: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in _rows(found.table()):
        line = (
            row["family"] if isinstance(row["reason"], float | None) else f"{row['family']}:{row['reason']}"
        )
        by.setdefault((names[row["metric"]], row["model"], _word(row["adjustment"]), line), []).append(row)
    for (metric, model, adjustment, line), rows in by.items():
        at = into.under("table", metric, model, adjustment, line)
        at.put("rank", _numbers(row["rank"] for row in rows))


def sensitivity_json(into: Numbers, numbers: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """The numbers of a sensitivity analysis."""
    into.put("taus", numbers["taus"])
    for adjustment, by_family in numbers["hazard_ratios"].items():
        for family, values in by_family.items():
            into.under("hazard_ratio", _word(adjustment)).put(family, _numbers(values))
    _grid(into, numbers, names, "families", "family")
    _listed(into.under("changes"), numbers["changes"], names)
    plausible = numbers["plausible"]
    _ends(into.under("plausible"), (plausible["low"], plausible["high"]))
    into.put("plausible/origin", plausible["origin"])
    after = numbers["after_dropout"]
    if after is not None:
        into.put("after_dropout/ratios", after["hazard_ratios"])
        _grid(into.under("after_dropout"), after, names, "lines", "line")


def _verdict(into: Numbers, verdict: Mapping[str, Any]) -> None:
    """The verdict: its state, who leads, how far, and who is better than one Kaplan–Meier curve."""
    into.put("state", verdict["state"])
    into.put("leader", verdict["leader"] or "-")
    into.put("margin", verdict["margin"])
    for model, answer in verdict["better_than_reference"].items():
        into.under("better_than_kaplan_meier", model).put("here", answer["here"])
    for lost in [verdict["robustness"]] if verdict["robustness"] else ():
        into.put("robustness/tau", lost["tau"])
        into.put("robustness/against", lost["against"])


def _listed(into: Numbers, rows: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> None:
    """Changes of the leader, one after the other on each line."""
    by: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        by.setdefault((names[row["metric"]], _word(row["adjustment"]), row["family"]), []).append(row)
    for place, found in by.items():
        at = into.under(*place)
        for name in ("below", "above", "at"):
            if name in found[0]:
                at.put(name, _numbers(row[name] for row in found))
        for name in ("before", "after"):
            if name in found[0]:
                at.put(name, [row[name] for row in found])


def _grid(into: Numbers, numbers: Mapping[str, Any], names: Mapping[str, str], lines: str, line: str) -> None:
    """Values by metric, model, adjustment and line, along the points of the grid."""
    into.put("verdict_by", _word(numbers["primary"]))
    into.put("lines", numbers[lines])
    into.put("missing", sorted(f"{_word(each['adjustment'])}:{each[line]}" for each in numbers["missing"]))
    for metric, key in names.items():
        for adjustment, by_line in numbers["scores"][metric].items():
            word = _word(adjustment)
            for name, by_model in by_line.items():
                for model, values in by_model.items():
                    into.under(key, model, word, name).put("value", _numbers(values))
            for name, best in numbers["best"][metric][adjustment].items():
                into.under(key, "best", word).put(name, ["+".join(each) for each in best])
            if "errors" in numbers:
                _grid_errors(into.under(key), numbers, (metric, adjustment), lines)
                for pair in numbers["pairs"][metric][adjustment]:
                    _pair(into.under(key, f"{pair['a']}-{pair['b']}", word), pair, line)


def _grid_errors(into: Numbers, numbers: Mapping[str, Any], which: tuple[str, str], lines: str) -> None:
    metric, adjustment = which
    word = _word(adjustment)
    for name, by_model in numbers["errors"][metric][adjustment].items():
        for model, limits in by_model.items():
            _pick(into.under(model, word, name), limits, **_LIMITS)
    differences = numbers["differences"][metric][adjustment]
    if differences is not None:
        reference = differences["reference"]
        into.put(f"reference/{word}", reference)
        for name, by_model in differences[lines].items():
            for model, limits in by_model.items():
                at = into.under(f"{model}-{reference}", word, name)
                _pick(at, limits, difference="differences", **_LIMITS)


def _pair(into: Numbers, pair: Mapping[str, Any], line: str) -> None:
    """How far one of two models leads, and where their order turns."""
    led = {"all": pair["lead"], **pair[f"lead_by_{line}"]}
    for name, lead in led.items():
        at = into.under("lead", name)
        at.put("is_there", lead is not None)
        if lead is not None:
            at.put_all({key: _number(value) for key, value in lead.items()})
    points = pair["tipping_points"]
    at = into.under("turns")
    at.put("line", [point[line] for point in points])
    at.put("at", _numbers(point["at"] for point in points))
    for k, end in enumerate(("low", "high")):
        at.put(end, _numbers((point["interval"] or (None, None))[k] for point in points))
    at.put("sign_above", [point["sign_above"] for point in points])
    if "tips" in pair:
        tips, at = pair["tips"], into.under("tips")
        at.put("where", [f"{tip['kind']}:{tip['family']}:{tip['reason'] or '-'}" for tip in tips])
        at.put("winner_beyond", [tip["winner_beyond"] or "-" for tip in tips])
        for name in ("tau", "hazard_ratio", "multiple"):
            at.put(name, _numbers(tip[name] for tip in tips))


def _curves_on_grid(into: Numbers, found: Any, names: Mapping[str, str]) -> None:
    """Values over time and curves behind values at every point, unrounded."""
    for adjustment, by_line in found.over_tau.answers.items():
        for line, by_point in by_line.items():
            for point, scores in by_point.items():
                for metric, key in names.items():
                    for model, value in scores.values[metric].items():
                        at = into.under(key, model, _word(adjustment), line, f"{point:g}")
                        if value.curve is not None:
                            _put_long(at, "over_time", value.curve)
                        if value.profile is not None:
                            _put_long(at, "behind", value.profile.y)


def bounds(into: Numbers, found: Any) -> None:
    """Bounds of scores and differences: their JSON, and their table, which must agree."""
    numbers = found.to_dict()
    bounds_json(into, numbers)
    for row in _rows(found.table()):
        paired = isinstance(row["against"], str)
        at = into.under(f"{row['model']}-{row['against']}" if paired else row["model"])
        _bound(at, row, (row["interval_low"], row["interval_high"]))


def bounds_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """The numbers of bounds."""
    if numbers["times"] is not None:
        _put_long(into, "times", numbers["times"])
    pairs = {f"{pair['a']}-{pair['b']}": pair for pair in numbers["pairs"]}
    for name, each in {**numbers["models"], **pairs}.items():
        at = into.under(name)
        _bound(at, each, each["interval"])
        if each["curve"] is not None:
            _pick(at.under("over_time"), each["curve"], low="low", high="high")
    for name, pair in pairs.items():
        into.put(f"{name}/certain", pair["certain"] or "-")
        into.put(f"{name}/certain_by_interval", pair["certain_by_interval"] or "-")


def _bound(into: Numbers, numbers: Mapping[str, Any], interval: Sequence[Any]) -> None:
    _pick(into, numbers, low="low", high="high", low_error="low_error", high_error="high_error")
    _ends(into, interval, "interval_")


def plausible_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """Measured covariates as benchmarks."""
    into.put_all({name: numbers[name] for name in ("n", "events", "dropouts", "together", "aligned")})
    into.put("order", [each["name"] for each in numbers["benchmarks"]])
    for each in numbers["benchmarks"]:
        at = into.under("covariates", each["name"])
        names = ("hazard_ratio_event", "hazard_ratio_dropout", "tau", "shrunken_tau")
        at.put_all({name: _number(each[name]) for name in names})
        _ends(at, each["interval"])
        at.put("n_columns", len(each["columns"]))
    _ends(into, numbers["together_interval"], "together_")
    into.under("multiples").put_all(numbers["multiples"])
    hidden = numbers["hidden"]
    for name in ("tau", "hazard_ratio", "multiple"):
        into.put(f"hidden/{name}", _numbers(each[name] for each in hidden))
    into.put("notes", _notes(numbers["notes"]))


def hint_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """The copula that fits best."""
    # What the file calls it, which was written under another name.
    into.put("given", {"imputation": "judge"}.get(numbers["given"], numbers["given"]))
    into.put("sample", numbers["sample"] or "-")
    into.put("is_there", "family" in numbers)
    if "family" in numbers:
        into.put("family", numbers["family"])
        _pick(into, numbers, theta="theta", tau="tau")
        for each in numbers["candidates"]:
            at = into.under("candidates", each["family"])
            names = ("theta", "tau", "train_nll", "validation_nll")
            at.put_all({name: _number(each[name]) for name in names})
            at.put("converged", each["converged"])


def profile_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """The likelihood over τ."""
    into.put("independence", numbers["independence"])
    into.put("best_family", numbers["best"]["family"])
    _pick(into, numbers["best"], best_tau="tau", best_loglik="loglik")
    for family, each in numbers["families"].items():
        at = into.under(family)
        at.put_all({name: _numbers(each[name]) for name in ("taus", "loglik", "difference")})
        _ends(at, each["supported"], "supported_")


def survival_json(into: Numbers, numbers: Mapping[str, Any]) -> None:
    """Survival curves of the sample."""
    into.put("sample", numbers["sample"])
    _pick(into, numbers, times="times", kaplan_meier="kaplan_meier")
    for family, curves in numbers["copula_graphic"].items():
        for tau, curve in zip(numbers["taus"], curves, strict=True):
            _put_long(into, f"copula_graphic/{family}/{tau:g}", curve)
    into.put("at_risk/times", numbers["at_risk"]["times"])
    into.put("at_risk/n", numbers["at_risk"]["n"])


# --- functions, estimators, joint models ------------------------------------------------------------------


def scores(into: Numbers, found: Any) -> None:
    """What a score function returns for a mapping of models, with influences where these came too."""
    values, influences = found if isinstance(found, tuple) else (found, {})
    for model, value in values.items():
        into.under(model).put("value", _flat(value))
    for model, each in influences.items():
        parts = each if isinstance(each, tuple) else (each,)
        at = into.under(model)
        at.put("standard_error", [float(error) for part in parts for error in np.ravel(part.standard_errors)])
        for name in ("test", "fitted"):
            rows = [getattr(part, name) for part in parts]
            if all(each is not None for each in rows):
                at.put(f"influence_{name}", [number for each in rows for number in _summed(np.asarray(each))])


def _flat(value: Any) -> Any:
    """A number, or values one after the other: the AUC comes with its mean."""
    if isinstance(value, tuple):
        return [float(part) for each in value for part in np.ravel(each)]
    return np.asarray(value) if np.ndim(value) else float(value)


def _summed(rows: Any) -> list[float]:
    """Influences of all subjects by a few numbers: the first, the sums of sizes and of squares, the last."""
    return [
        float(rows.ravel()[0]),
        float(np.abs(rows).sum()),
        float((rows**2).sum()),
        float(rows.ravel()[-1]),
    ]


def details(into: Numbers, found: Mapping[str, Mapping[str, Any]]) -> None:
    """What the functions return that draw curves, by model."""
    for model, each in found["calibration"].items():
        at = into.under("calibration", model)
        for name in _CALIBRATION_CURVE:
            _put_long(at.under("curve"), name, getattr(each, name))
        at.under("groups").put_all({name: np.asarray(values) for name, values in vars(each.groups).items()})
        for name in ("counts", "edges"):
            _put_long(at, name, getattr(each, name))
        for name in _SINGLE:
            estimate = getattr(each, name)
            at.under(name).put_all({"value": estimate.value, "standard_error": estimate.standard_error})
        _ends(at.under("observed_expected"), each.observed_expected_interval)
    for model, each in found["d_calibration"].items():
        _d_calibration(into.under("d_calibration", model), vars(each))
    limited = ("values", "standard_error", "low", "high")
    for model, each in found["decision"].items():
        for part in ("net_benefit", "treat_all", "difference"):
            into.under("decision", model, part).put_all({n: getattr(getattr(each, part), n) for n in limited})
    mean = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high", "difference")
    for model, each in found["mean_calibration"].items():
        into.under("mean_calibration", model).put_all({name: getattr(each, name) for name in mean})
    for model, each in found["roc"].items():
        roc = {"x": each.false_alarms, "value": each.found, "low": each.low, "high": each.high}
        into.put(f"roc/{model}/auc", each.auc)
        for name, values in roc.items():
            _put_long(into.under("roc", model), name, values)
    parts = ("miscalibration", "discrimination", "uncertainty", "score")
    for model, each in found["decomposition"].items():
        into.under("decomposition", model).put_all({name: getattr(each, name) for name in parts})


def weights(into: Numbers, found: Any) -> None:
    """The weights of subjects at times: of the first subjects, and the sums of all."""
    for name in ("a", "b"):
        table = getattr(found, name)
        into.put(f"{name}_of_first", table[:12])
        into.put(f"{name}_summed", table.sum(axis=0))
    into.put("hazard_ratio", _number(found.hazard_ratio))


def margin(into: Numbers, found: Any, times: Any) -> None:
    """A survival curve with its errors."""
    into.put("survival", found.predict(times))
    into.put("variance", found.variance(times))
    low, high = found.confidence_interval(times)
    into.put_all({"low": low, "high": high, "support": found.support_})
    into.put("restricted_mean", found.rmst(float(times[-1])))
    into.put("quantiles", found.quantile([0.05, 0.2]))


def cox(into: Numbers, found: Any, times: Any, x: Any) -> None:
    """A Cox model."""
    into.put_all({"coef": found.coef_, "covariance": found.covariance_, "loglik": found.log_likelihood_})
    into.put("converged", bool(found.converged_))
    into.put("baseline", found.baseline_(times))
    into.put("survival", found.survival(times, x))
    into.put("linear_predictor", found.predict(x))


def joint(into: Numbers, found: Any, times: Any, x: Any) -> None:
    """A joint model of event and dropout, by what does not hang on how its functions of time are written."""
    into.put_all({"theta": found.copula.theta, "tau": found.copula.tau})
    into.put_all({"theta_standard_error": found.theta_se_, "tau_standard_error": found.tau_se_})
    into.put_all({"loglik": found.loglik_, "penalised_nll": found.nll_, "converged": bool(found.converged_)})
    into.put_all({"family": found.copula.name, "margins": found.event.name, "times": found.time_kind_})
    errors = {name: error for name, (_, error) in found.parameters().items()}
    for which, part in (("event", found.event), ("dropout", found.dropout)):
        into.put(f"{which}/effects", part.beta)
        named = [error for name, error in errors.items() if name.startswith(f"{which}:x")]
        into.put(f"{which}/effects_standard_error", named)
    into.put("survival", found.survival(times, x))
    into.put("dropout_survival", found.dropout_survival(times, x))
    into.put("after_dropout", found.conditional_survival(times, np.full(_n_rows(x), times[0]), x))
    starts = sorted(found.starts_, key=lambda start: start.tau_start)
    into.put("starts/from_tau", [start.tau_start for start in starts])
    into.put("starts/penalised_nll", [start.nll for start in starts])


def _n_rows(x: Any) -> int:
    return 1 if x is None else len(x)


def choice(into: Numbers, found: Any) -> None:
    """The choice among families of copulas."""
    into.put_all({"family": found.copula.name, "preferred": found.preferred, "gain": found.gain})
    for row in _rows(found.table):
        at = into.under("candidates", row["family"])
        at.put_all({name: row[name] for name in ("theta", "tau", "train_nll", "validation_nll", "converged")})
        at.put_all({f"{name}_standard_error": row[f"{name}_se"] for name in ("theta", "tau")})


def profile(into: Numbers, found: Any) -> None:
    """The likelihood over τ behind a choice."""
    profile_json(into, found.to_dict())


def plausible(into: Numbers, found: Any) -> None:
    """Benchmarks of τ: their JSON, and their table, which must agree."""
    plausible_json(into, found.to_dict())
    *rows, _ = _rows(found.table())
    for row in rows:
        at = into.under("covariates", row["covariate"])
        at.put_all({name: _number(row[name]) for name in ("tau", "low", "high", "shrunken_tau")})
    into.put("multiple_for", [found.multiple_for(tau) for tau in (0.1, 0.3)])
    into.put("strongest", found.strongest.name)


def tensors(into: Numbers, found: Any) -> None:
    """Numbers of another library's arrays."""
    for model, value in found.items():
        plain = value.detach() if hasattr(value, "detach") else value
        into.put(f"{model}/value", [float(each) for each in np.ravel(np.asarray(plain))])


# --- the paper --------------------------------------------------------------------------------------------

_PAPER_KEY = (
    *("copula", "tau", "assumed_copula", "assumed_tau", "censoring_rate", "at_risk", "along", "setting"),
    *("dataset", "strategy", "learner", "seed", "adjustment"),
)
_PAPER_NUMBERS = ("horizon", "oracle_horizon", "oracle", "estimate", "realised_rate", "censored")
_FIRST = 20


def paper(into: Numbers, experiment: str, rows: Sequence[Mapping[str, str]]) -> None:
    """The rows of an experiment of the paper; of the drawn times the first and the means, of costs no time."""
    if experiment == "copula-scatter":
        by: dict[str, list[Mapping[str, str]]] = {}
        for row in rows:
            by.setdefault(f"{row['copula']}/{row['tau']}", []).append(row)
        for key, each in by.items():
            for name in ("event_time", "dropout_time"):
                values = [float(row[name]) for row in each]
                into.under(key).put(name, [*values[:_FIRST], float(np.mean(values))])
        return
    for row in rows:
        at = into.under(*(row[name] or "-" for name in _PAPER_KEY if name in row))
        at.put("numbers", [float(row[name] or "nan") for name in _PAPER_NUMBERS if name in row])
        at.put("is_refused", bool(row.get("note")))
        if "selected" in row:
            at.put("selected", row["selected"].partition("(")[0])
