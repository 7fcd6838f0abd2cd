"""From samples, predictions and a plan to the data of an evaluation: covariates, horizon, times and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_vector, check_length, read_only, to_numpy
from cocensor._notes import Note, noted
from cocensor._numerics import quantile, settled
from cocensor.adjustments import Adjustment, Fitted, Imputation
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions, Survival
from cocensor.data.covariates import Covariates, chosen_covariates
from cocensor.data.ids import check_same_order, row_labels
from cocensor.data.predictions import Predicted, PredictionsAt, RiskScores
from cocensor.data.survival import ended_by_reason, unmarked_end
from cocensor.data.times import TimeGrid
from cocensor.metrics import BrierScore, Metric
from cocensor.metrics.base import label_without_time, time_in_name
from cocensor.metrics.scoring import grid_of
from cocensor.study.data import EvaluationData, Horizon
from cocensor.study.plan import AtRisk, Plan, Planned, check_differ, takes_single_times

#: Times to score at, and why they end where they do.
Times = tuple[FloatArray, Horizon]
N_TIMES = 100
DEFAULT_HORIZON = AtRisk(0.05)
_QUARTILES = (0.25, 0.5, 0.75)
# Files may write one and the same time with other last digits.
_ROUNDING = 1e-9


def prepared(
    plan: Plan, samples: Samples, models: Mapping[str, Predicted | Exception], times: Times, notes: list[Note]
) -> EvaluationData:
    """Return the data of an evaluation, by the metrics that can score it; ``notes`` get what was decided.

    ``models`` are their predictions, or why there are none; ``times`` are from :func:`times_of_samples`.
    """
    faults = {name: model for name, model in models.items() if isinstance(model, Exception)}
    known = {name: model for name, model in models.items() if not isinstance(model, Exception)}
    scored, (grid, horizon) = _that_reach(plan, samples, known, times, faults)
    if not scored:
        raise next(iter(faults.values()))
    notes += [noted("refused", model=name, why=str(fault)) for name, fault in faults.items()]
    if plan.times is None:
        for model in scored.values():
            if isinstance(model, Predictions):  # a step that rounding puts behind a time has happened there
                grid = np.maximum(grid, settled(grid, model.times))
        grid = np.minimum(grid, horizon.time)
    else:
        notes += _end_moved(plan, samples, scored, horizon)
    if samples.folds is not None:
        risks = [name for name, model in scored.items() if isinstance(model, RiskScores)]
        notes += [noted("ranked_across_folds", model=name) for name in risks]
    level, axis, averaged = plan.confidence_level, plan.time_axis, TimeGrid.of(grid)
    data = EvaluationData(scored, samples, averaged, plan.metrics, tuple(models), horizon, level, axis)
    data = replace(data, metrics=_metrics(plan, data, faults, notes))
    if samples.y_train is None:
        notes.append(noted("no_training_sample"))
    return data


# --- samples ----------------------------------------------------------------------------------------------


def as_true_times(values: Any, y: Survival, name: str = "true_times") -> FloatArray:
    """Return the event times of all subjects, which agree with what was observed of them."""
    times = as_vector(values, name, negative=False)
    check_length(times, name, len(y), "y_test")
    off = times - y.time
    bad = np.where(y.event, np.abs(off), -off) > _ROUNDING * y.time
    if bad.any():
        row = int(np.argmax(bad))
        rule, observed = ("be the time of", "event") if y.event[row] else ("not lie before", "censoring")
        raise ValueError(
            f"{name} must {rule} an observed {observed}, but row {row} is {times[row]:.9g}, and its {observed} was at "
            f"{y.time[row]:.9g}."
        )
    return times


def as_folds(folds: Any, n: int) -> npt.NDArray[Any] | None:
    """Return labels of the fold that each of ``n`` test subjects was left out in."""
    if folds is None:
        return None
    check_length(folds, "folds", n, "y_test")
    labels = to_numpy(folds, "folds")
    if labels.ndim != 1:
        raise ValueError(f"folds must have one label per test subject, but its shape is {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"folds has no label in row {int(np.argmax(np.isnan(labels)))}.")
    return read_only(labels)


def usable_samples(
    samples: Samples, covariates: Any, adjustments: Mapping[str, Adjustment | Fitted]
) -> tuple[Samples, list[Note]]:
    """Return the samples with the covariates that adjustments may be given, and notes on these and the censoring.

    Covariates that cannot be used are refused where they are named or an adjustment would use them.
    """
    parts = [
        (sample, x, y)
        for sample, x, y in ((samples.test, "x_test", "y_test"), (samples.train, "x_train", "y_train"))
        if sample is not None and sample.x is not None
    ]
    if samples.x_train is not None and samples.x_test is None:
        raise ValueError("x_test is needed where x_train is given.")
    for sample, x, y in parts:
        if _is_outcome(sample.x):
            raise TypeError(
                f"{x} must be covariates, but is an outcome: training outcomes go in as y_train=."
            )
        check_length(sample.x, x, len(sample), y)
        check_same_order(row_labels(sample.x), sample.y.labels, (x, y))
    if not (parts or covariates is None or isinstance(covariates, str)):
        raise ValueError("x_test is needed where covariates are named.")
    needs = {name: (a.adjustment if isinstance(a, Fitted) else a).needs for name, a in adjustments.items()}
    reading = {
        n
        for n, adjustment in adjustments.items()
        if "covariates" in needs[n] or is_given_everything(adjustment)
    }
    tables: dict[str, Covariates] = {}
    if parts and covariates is not None:
        try:
            read = [(sample.x, x) for sample, x, _ in parts]
            incomplete = all(is_given_everything(adjustments[name]) for name in reading)
            chosen = chosen_covariates(covariates, read, incomplete=incomplete)
            tables = {x: table for (_, x, _), table in zip(parts, chosen, strict=True)}
        except ValueError:
            if reading or covariates != "all":
                raise
    fitted_to = set[str]()
    for name, adjustment in adjustments.items():
        # One that is fitted already is applied to the test sample alone.
        to_test = samples.train is None or isinstance(adjustment, Fitted)
        where = "x_test" if to_test or needs[name] & {"prediction", "predictions"} else "x_train"
        if "covariates" in needs[name] and where not in tables:
            lacking = "x_train" if "x_test" in tables else "x_test"
            raise ValueError(
                f"covariates are needed for the adjustment {name!r}: there are none in {lacking}."
            )
        if name in reading:
            fitted_to.add(where)
    train = None if samples.train is None else replace(samples.train, x=tables.get("x_train"))
    usable = Samples(replace(samples.test, x=tables.get("x_test")), train)
    levels = _about_levels({name: table for name, table in tables.items() if name in fitted_to})
    by_name = {"test sample": samples.y_test}
    if samples.y_train is not None and not samples.y_train.equals(samples.y_test):
        by_name["training sample"] = samples.y_train
    return usable, [*levels, *unmarked_end(by_name), *ended_by_reason(by_name)]


def is_given_everything(adjustment: Adjustment | Fitted) -> bool:
    """Whether an adjustment is given any covariates there are, of which values may be missing."""
    return isinstance(adjustment, Imputation) and "everything" in adjustment.given


def may_lack_values(planned: Sequence[Planned]) -> bool:
    """Whether no adjustment of a plan needs covariates without missing values."""
    adjustments = [own.adjustment for own in planned]
    return not any("covariates" in own.needs for own in adjustments)


def _is_outcome(x: Any) -> bool:
    """Whether covariates are outcomes, which the order of scikit-survival's arguments invites."""
    if isinstance(x, Survival):
        return True
    names = x.dtype.names if isinstance(x, np.ndarray) else None
    return names is not None and len(names) == 2 and any(x.dtype[name].kind == "b" for name in names)


def _about_levels(tables: Mapping[str, Covariates]) -> list[Note]:
    """Return notes on the indicators of categories in the samples fitted to, by name."""
    samples_of: dict[tuple[str, int, str], list[str]] = {}
    for name, table in tables.items():
        for k in table.levels:
            levels = table.levels_seen(k)
            if len(levels) > 1:
                samples_of.setdefault((table.labels[k], len(levels), levels[0]), []).append(name)
    notes = []
    for (covariate, n, reference), names in samples_of.items():
        one = None if len(names) == len(tables) else names[0]
        notes.append(noted("categorical", covariate=covariate, levels=n, reference=reference, sample=one))
    return notes


# --- times ------------------------------------------------------------------------------------------------


def times_of_samples(plan: Plan, samples: Samples) -> Times:
    """Return the times to score at as far as the samples decide it, and why they end where they do."""
    if plan.times is not None:
        times = np.array(plan.times)
        _grid(samples, 2, float(times.max()))  # warns where next to nobody is left
        return times, Horizon(float(times.max()), "times", "the times were given")
    rule = DEFAULT_HORIZON if plan.horizon is None else plan.horizon
    both = "the test sample" if samples.train is None else "both samples"
    reason = f"the last time of {both}" if rule == "t_max" else "as asked"
    if isinstance(rule, AtRisk):
        reason = f"the largest time with at least {100 * rule.share:g} % of {both} at risk"
    grid = _grid(samples, N_TIMES, rule)
    return grid, Horizon(float(grid[-1]), "default" if plan.horizon is None else "asked", reason)


def _grid(samples: Samples, n: int, horizon: str | float | AtRisk) -> FloatArray:
    """Return equally spaced times that all samples reach."""
    rule = {"at_risk": horizon.share} if isinstance(horizon, AtRisk) else horizon
    return grid_of([samples.learned_from, samples.test], n, rule)


def _that_reach(
    plan: Plan, samples: Samples, known: Mapping[str, Predicted], times: Times, faults: dict[str, Exception]
) -> tuple[dict[str, Predicted], Times]:
    """Return the predictions that can be scored, and the times that they reach; ``faults`` get why others cannot."""
    _, horizon = times
    if plan.times is not None or plan.horizon is not None:
        asked, verb = ("horizon", "is") if plan.times is None else ("times", "reach")
        for name, model in known.items():
            if isinstance(model, Predictions) and model.end < horizon.time:
                end = f"{model.end:g}, the end of models[{name!r}]"
                faults[name] = ValueError(f"{asked} must not pass {end}, but {verb} {horizon.time:g}.")
    known = {name: model for name, model in known.items() if name not in faults}
    times = _, horizon = _within_predictions(samples, known, times)
    for name, model in known.items():
        if isinstance(model, PredictionsAt) and not 0 < model.time <= horizon.time:
            end = f"but scores end at {horizon.time:g}, {horizon.reason}."
            why = f"{model.limit}, {end if model.time else 'before any event.'}"
            faults[name] = ValueError(f"models[{name!r}] {why}")
    return {name: model for name, model in known.items() if name not in faults}, times


def _within_predictions(samples: Samples, predictions: Mapping[str, Predicted], times: Times) -> Times:
    """Return the times that all curves are known at; without any, those up to the last time of a prediction."""
    curves = [model.end for model in predictions.values() if not isinstance(model, PredictionsAt)]
    if curves:
        end, reason = min(curves), "the largest time up to which all predictions are known"
    else:
        last = min(sample.t_max for sample in (samples.learned_from, samples.test))
        within = [model.end for model in predictions.values() if 0 < model.end <= last]
        end, reason = max(within, default=np.inf), "the last time that is predicted"
    _, horizon = times
    if horizon.time <= end and (curves or horizon.by != "default" or not np.isfinite(end)):
        return times
    return _grid(samples, N_TIMES, end), Horizon(end, "predictions", reason)


def _end_moved(plan: Plan, samples: Samples, known: Mapping[str, Predicted], horizon: Horizon) -> list[Note]:
    """Return a note where scores end elsewhere than they would without the times given."""
    try:
        without = times_of_samples(replace(plan, times=None), samples)
        _, otherwise = _within_predictions(samples, known, without)
    except ValueError:  # without times there would be no scores
        return []
    if np.isclose(horizon.time, otherwise.time, rtol=1e-9, atol=0.0):
        return []
    return [noted("horizon_by_times", time=horizon.time, otherwise=otherwise.time, reason=otherwise.reason)]


# --- metrics ----------------------------------------------------------------------------------------------


def _metrics(
    plan: Plan, data: EvaluationData, refused: Mapping[str, Exception], notes: list[Note]
) -> tuple[Metric, ...]:
    """The metrics that score, those at single times at each of these."""
    at, metrics, horizon = plan.at or (), plan.metrics, data.horizon
    if plan.default_metrics:
        predicted = sorted({one.time for one in data.predictions.values() if isinstance(one, PredictionsAt)})
        if plan.at is None:
            at, decided = _default_times(data, predicted)
            notes += decided
        # The score of predictions at one time comes first, unless the first of the default ones compares curves.
        there = [BrierScore(t) for t in predicted if t in at]
        n_curves = sum(isinstance(model, Predictions) for model in data.predictions.values())
        metrics = (*metrics[:1], *there, *metrics[1:]) if n_curves > 1 else (*there, *metrics)
    if at and at[-1] > horizon.time:
        raise ValueError(f"at must not pass {horizon.time:g}, {horizon.reason}, but has {at[-1]:g}.")
    wanted = at_single_times(metrics, at, beside=plan.default_metrics)
    able, left_out = _scorable(wanted, data, refused, plan.default_metrics)
    notes += left_out
    return tuple(by.in_unit(plan.time_axis.unit) for by in able)


def at_single_times(metrics: Sequence[Metric], at: Sequence[float], *, beside: bool) -> tuple[Metric, ...]:
    """The metrics, with those that take single times at each of these, alone or ``beside`` another value."""
    placed = list[Metric]()
    for by in metrics:
        times = at if takes_single_times(by) else ()
        if not times or (beside and by.single_times == "also"):
            placed.append(by)
        placed += [by.at_time(t) for t in times if by.at_time(t) not in metrics]
    check_differ(placed)
    return tuple(placed)


def _default_times(data: EvaluationData, predicted: list[float]) -> tuple[tuple[float, ...], list[Note]]:
    """Return quartiles and times that are ``predicted``, and a note that says which and why."""
    sample, y, quartiles = data.samples.test, data.samples.y_test, list[float]()
    if not all(isinstance(model, PredictionsAt) for model in data.predictions.values()):
        first, end = float(data.grid.sorted[0]), data.grid.last
        used = y.event & (y.time >= first) & (y.time <= end) & (y.time > 0) & sample.counted
        weight = None if sample.weight is None else sample.weight[used]
        levels = quantile(y.time[used], _QUARTILES, weight).tolist() if used.any() else []
        quartiles = sorted({_in_two_digits(t, end) for t in levels})
    # Times that would have the same name are one.
    at = {time_in_name(t): t for t in (*quartiles, *predicted)}
    if not at:
        return (), []
    note = noted("single_times", quartiles=quartiles, predicted=predicted, unit=data.time_axis.unit)
    return tuple(sorted(at.values())), [note]


def _in_two_digits(t: float, end: float) -> float:
    """A time rounded to two digits; down where it would pass ``end``."""
    near = float(f"{t:.2g}")
    if near <= end:
        return near
    unit = 10.0 ** (np.floor(np.log10(t)) - 1)
    return float(f"{np.floor(t / unit) * unit:.2g}")


def _scorable(
    metrics: Sequence[Metric], data: EvaluationData, refused: Mapping[str, Exception], as_a_set: bool
) -> tuple[tuple[Metric, ...], list[Note]]:
    """Return the metrics that can score a model, and notes on those left out, and on those that not all models have.

    One given by name is refused instead, unless it can score a model at another time.
    """
    able = [by for by in metrics if data.scored_by(by)]
    lost = [by for by in metrics if by not in able]
    families = {by.family for by in able}
    hopeless = [by for by in lost if not (families if as_a_set else by.family in families)]
    if hopeless:
        why = "; ".join(f"{name!r} {model.limit}" for name, model in data.predictions.items())
        others = "".join(f" {name!r} is refused: {fault}" for name, fault in refused.items())
        raise ValueError(f"metric {hopeless[0].name!r} needs survival curves, but {why}.{others}")
    notes = [noted("metrics_left_out", metrics=[by.name for by in lost])] if lost else []
    for name, model in data.predictions.items():
        left = [by for by in able if not by.can_score(model, data.grid)]
        time = model.time if isinstance(model, PredictionsAt) else None
        if left and time is not None and len(left) < len(able):
            notes.append(noted("only_at_one_time", model=name, time=time))
        elif left:
            labels = list(dict.fromkeys(map(label_without_time, left)))
            notes.append(noted("needs_curves", model=name, time=time, metrics=labels))
    return tuple(able), notes
