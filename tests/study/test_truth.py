"""Simulated data: scores by the true event times stand beside the others."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.registry import metric_names
from cocensor.study.ranking import counted
from cocensor.study.report import Report

NEEDED = {"net_benefit": {"threshold": 0.3}, "ils": {"floor": 0.01}}
METRICS = [cc.metric(name, **NEEDED.get(name, {})) for name in metric_names()]


@pytest.fixture(scope="module")
def both(study):
    """The same evaluation without and with the truth, by all metrics."""
    options = {"adjustments": ["ipcw", "imputation"], "metrics": METRICS, "at": [8.0], "copula": None}
    return study.evaluate(**options), study.evaluate(**options, true_times=study.test.event_time)


def test_it_is_what_the_oracle_scores(study, both):
    _, known = both
    alone = study.evaluate(
        adjustments={"oracle": cc.Oracle(study.test.event_time)},
        metrics=METRICS,
        at=[8.0],
        copula=None,
        confidence_level=None,
    )
    direct = alone.results["oracle"]
    assert len(known.truth.values) >= len(METRICS)
    for metric in known.metrics:
        for model in known.models:
            assert known.truth.value(metric, model) == pytest.approx(direct.value(metric, model), rel=1e-12)
        assert known.truth.reference[metric].value == direct.reference[metric].value


def test_it_is_the_mean_squared_distance_from_what_happens(study):
    """The Brier score at one time without any weights: every status is known."""
    known = study.evaluate(metrics="brier", at=9.0, true_times=study.test.event_time)
    alive = study.test.event_time > 9.0
    for model, curves in known.data.predictions.items():
        expected = np.mean((alive - curves(np.array([9.0]))[:, 0]) ** 2)
        assert known.truth.value("brier at 9", model) == pytest.approx(expected, rel=1e-12)


def test_nothing_else_changes(both):
    without, known = both
    numbers, more = Report(without).to_dict(), Report(known).to_dict()
    truth = more.pop("truth")
    assert more == numbers
    assert truth == {
        metric: {model: known.truth.value(metric, model) for model in known.models}
        for metric in known.metrics
    }
    assert (known.primary, counted(known), list(known.results)) == (
        without.primary,
        counted(without),
        list(without.results),
    )
    assert known.verdict.to_dict() == without.verdict.to_dict()
    assert "truth" not in known.sensitivity(families="clayton", taus=[0.0, 0.2]).over_tau.answers
    assert without.truth is None


def test_the_table_has_it_as_a_column(both):
    without, known = both
    assert "truth" not in without.table()
    table = known.table()
    assert len(table) == len(without.table())
    for row in table.itertuples():
        assert row.truth == known.truth.value(row.metric, row.model)


def test_a_bootstrap_keeps_it(study):
    known = study.evaluate(adjustments="ipcw", true_times=study.test.event_time, n_resamples=3)
    assert known.truth.value("ibs", "one") > 0


def test_a_refused_model_has_none(study):
    models = {**study.models, "broken": ValueError("no curves")}
    known = study.evaluate(models, adjustments="ipcw", true_times=study.test.event_time)
    assert set(known.truth.values["ibs"]) == set(study.models)
    assert np.isnan(known.truth.value("ibs", "broken"))


def test_times_of_censored_subjects_may_be_those_of_their_censoring(study):
    y = study.test.y
    assert study.evaluate(adjustments="ipcw", true_times=y.time).truth.answered


def test_the_last_digits_of_a_file_do_not_matter(study):
    true = study.test.event_time
    rounded = study.evaluate(adjustments="ipcw", true_times=[float(f"{t:.12g}") for t in true]).truth
    exact = study.evaluate(adjustments="ipcw", true_times=true).truth
    assert rounded.value("ibs", "one") == pytest.approx(exact.value("ibs", "one"), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda times, y: times[:-1], ("true_times", "length 299", "300")),
        (lambda times, y: [*times[:3], np.nan, *times[4:]], ("true_times", "row 3", "nan")),
        (lambda times, y: [*times[:3], np.inf, *times[4:]], ("true_times", "row 3", "inf")),
        (lambda times, y: [*times[:3], -1.0, *times[4:]], ("true_times", "row 3", "-1")),
        (lambda times, y: times[:, None], ("true_times", "one-dimensional", "(300, 1)")),
    ],
)
def test_what_are_no_true_times(study, change, parts):
    with pytest.raises(ValueError, match="true_times") as refused:
        study.evaluate(true_times=change(study.test.event_time, study.test.y))
    for part in parts:
        assert part in str(refused.value)


@pytest.mark.parametrize(("seen", "off"), [("event", 0.5), ("event", -0.5), ("censoring", -0.5)])
def test_times_that_contradict_what_was_observed(study, seen, off):
    y, times = study.test.y, study.test.event_time.copy()
    row = int(np.flatnonzero(y.event if seen == "event" else ~y.event)[4])
    times[row] = y.time[row] + off
    with pytest.raises(ValueError, match="true_times") as refused:
        study.evaluate(true_times=times)
    for part in (seen, f"row {row} is {times[row]:.9g}", f"{y.time[row]:.9g}"):
        assert part in str(refused.value)
