"""Streamed evaluations against those of all subjects at once."""

import os
import pickle
import signal
from dataclasses import dataclass

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import MetricValue
from cocensor.study.curves import curve_errors, margin_curves, profile_errors
from cocensor.study.report import Report
from tests.scale.studies import Study, study

ADJUSTMENTS = {
    "ipcw": "ipcw",
    "cox": cc.IPCW("cox"),
    "imputation": "imputation",
    "dependent": cc.Imputation("everything", cc.Clayton.from_tau(0.5)),
    "own": cc.Imputation("prediction"),
}
MEANS = [
    "ibs",
    "brier",
    cc.metric("ils", floor=0.01),
    cc.metric("net_benefit", threshold=0.3),
    "absolute_error",
]
ASKED = {"adjustments": ADJUSTMENTS, "metrics": MEANS, "at": [0.4, 0.9]}


def table(found, *columns):
    frame = found.table() if isinstance(found, cc.Evaluation) else found
    return np.array([[np.nan if v is None else v for v in frame[c]] for c in columns], dtype=float)


def agree(found, held, columns=("score", "standard_error", "skill"), rtol=1e-10):
    np.testing.assert_allclose(table(found, *columns), table(held, *columns), rtol=rtol, atol=1e-13)


def kinds(found):
    return [(note.kind, note.text) for note in found.notes]


@pytest.fixture(scope="module")
def data():
    return study()


@pytest.fixture(scope="module")
def held(data):
    return data.evaluate(**ASKED)


@pytest.mark.parametrize("cuts", [1, 4, [1, 2, 300]])
def test_with_no_more_subjects_than_are_kept_it_is_the_evaluation_in_memory(data, held, cuts):
    found = data.scan(cuts).evaluate(**ASKED)
    assert found.data.streamed is None
    agree(found, held)
    for metric in ("ibs", "brier at 0.4"):
        for name in ADJUSTMENTS:
            one, other = (
                found.compare("full", "part", metric, name),
                held.compare("full", "part", metric, name),
            )
            assert one.difference == pytest.approx(other.difference, rel=1e-10, abs=1e-14)
            assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)
    assert kinds(found) == kinds(held)
    assert found.data.horizon == held.data.horizon
    assert {k: v.notes for k, v in found.results.items()} == {k: v.notes for k, v in held.results.items()}


@pytest.mark.parametrize("cuts", [1, 4, [1, 2, 300]])
@pytest.mark.parametrize("kept", [150, 599])
def test_values_are_those_of_all_subjects_however_they_are_cut(data, held, cuts, kept):
    found = data.scan(cuts).evaluate(**ASKED, n_kept=kept)
    agree(found, held, ("score", "skill"))
    for metric in ("ibs", "ils"):
        for name in ADJUSTMENTS:
            for model in ("full", "part"):
                one = found.results[name].values[metric][model].curve
                other = held.results[name].values[metric][model].curve
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)
    assert found.data.times.tolist() == held.data.times.tolist()
    # What steps would give is told by the subjects at hand.
    told, kept_told = (
        {n.text.partition(" would be about ")[0] for n in each.notes} for each in (held, found)
    )
    assert told <= kept_told
    for name in ADJUSTMENTS:
        assert {n.text for n in held.results[name].notes} == {n.text for n in found.results[name].notes}


def test_standard_errors_are_near_those_of_all_subjects():
    data = study(4000, 1)
    asked = {
        "adjustments": {k: ADJUSTMENTS[k] for k in ("ipcw", "imputation")},
        "metrics": ["ibs", "brier"],
        "at": 0.9,
    }
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=1000)
    # Of the own parts the variance is that of all; what 1,000 subjects tell of the rest errs by a few per cent.
    ratio = table(found, "standard_error") / table(held, "standard_error")
    assert np.abs(ratio - 1).max() < 0.05
    for name in asked["adjustments"]:
        one, other = (each.compare("full", "part", "ibs", name).standard_error for each in (found, held))
        assert one == pytest.approx(other, rel=0.1)
    curves = [curve_errors(each, "ibs", "ipcw").of("full").standard_errors[20:] for each in (found, held)]
    # A standard error by 1,000 subjects has a relative error of about 1/√(2·1000), times the fourth moment's root.
    np.testing.assert_allclose(curves[0], curves[1], rtol=0.15)


@pytest.mark.parametrize("kept", [120, 300])
def test_fewer_subjects_to_fit_to_move_values_within_their_errors(data, held, kept):
    found = data.scan().evaluate(**ASKED, n_fit=300, n_kept=kept)
    here, there = table(found, "score", "standard_error"), table(held, "score", "standard_error")
    known = (here[1] > 0) & (there[1] > 0)
    assert known.sum() > 40
    z = (here[0] - there[0])[known] / here[1][known]
    assert np.abs(z).max() < 3
    # Fitted to half of them, an error is no smaller, but for chance.
    assert (here[1] / there[1])[known].min() > 0.85


def test_a_fit_to_the_training_sample_is_the_same_whoever_is_kept():
    train, data = study(500, 3), study(700, 4)
    asked = {**ASKED, "y_train": train.y, "x_train": train.x}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=200)
    agree(found, held, ("score", "skill"))
    ratio = table(found, "standard_error") / table(held, "standard_error")
    assert np.nanmax(np.abs(ratio - 1)) < 0.15


def test_ties_single_precision_and_columns_in_memory_order():
    data = study(500, 5, ties=True)
    single = {
        name: (times, np.asfortranarray(values.astype(np.float32)))
        for name, (times, values) in data.models.items()
    }
    data = Study(single, data.y, data.x)
    asked = {"adjustments": ["ipcw", "imputation"], "metrics": MEANS, "at": [0.5]}
    agree(data.scan([7, 250]).evaluate(**asked, n_kept=100), data.evaluate(**asked), ("score", "skill"))


def test_the_order_of_files_does_not_matter(data):
    """Subjects keep their numbers: a scan whose parts are read in another order gives the same."""
    asked = {"adjustments": ["ipcw", "imputation"], "metrics": ["ibs", "auc"], "n_kept": 100}
    scan = data.scan(6)
    first = scan.evaluate(**asked)
    scan.parts = scan.parts[::-1]
    agree(scan.evaluate(**asked), first, rtol=1e-12)


@pytest.mark.parametrize("name", ["ipcw", "imputation"])
def test_nobody_censored(name):
    data = study(300, 6)
    data = Study(data.models, cc.Survival(data.y.time, np.ones(300, dtype=bool)), data.x)
    asked = {"adjustments": name, "metrics": ["ibs", "auc", "concordance"]}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=299)
    np.testing.assert_allclose(table(found, "score"), table(held, "score"), rtol=0.01)
    assert found.score("full", "ibs").value == pytest.approx(held.score("full", "ibs").value, rel=1e-12)


def test_chunks_of_one_subject_and_chunks_without_an_event(data):
    order = np.argsort(data.y.event, kind="stable")  # those censored first
    data = Study({k: (t, v[order]) for k, (t, v) in data.models.items()}, data.y[order], data.x.iloc[order])
    asked = {"adjustments": ["ipcw", "imputation"], "metrics": ["ibs", "brier"], "at": 0.5}
    found = data.scan([1, 2, 150, 598, 599]).evaluate(**asked, n_kept=50)
    agree(found, data.evaluate(**asked), ("score", "skill"))


def test_a_chunk_in_which_nobody_counts(data):
    """Uncertainty weighs those censored before the first event by 0."""
    early = np.arange(600) < 40
    time = np.where(early, 0.5 * data.y.time.min(), data.y.time)
    data = Study(data.models, cc.Survival(time, data.y.event & ~early))
    asked = {"adjustments": "dep", "metrics": ["ibs", cc.metric("auc", at=0.5), "d_calibration"]}
    for cuts in ([40], [10, 40, 300]):
        agree(data.scan(cuts).evaluate(**asked, n_kept=80), data.evaluate(**asked), ("score",))


def test_models_with_a_judge_each_are_compared_where_the_reference_needs_no_sums(data):
    found = data.scan().evaluate(adjustments="imputation_prediction", metrics="auc", n_fit=200, n_kept=80)
    assert all(found.score(name).standard_error > 0 for name in data.models)


def test_one_model_and_a_risk_score():
    data = study(400, 7)
    risk = data.x.to_numpy()[:, 0]
    data = Study({"full": data.models["full"], "risk": risk}, data.y, data.x)
    asked = {
        "adjustments": ["ipcw", "imputation"],
        "metrics": ["ibs", cc.metric("auc", at=0.5), "concordance"],
    }
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=150)
    for metric in ("ibs", "auc at 0.5"):
        agree(found.table(metric=metric), held.table(metric=metric), ("score", "skill"))
    for name in ("ipcw", "imputation"):
        one, other = (each.score("risk", "concordance", name) for each in (found, held))
        assert abs(one.value - other.value) < 3 * one.standard_error
    alone = Study({"full": data.models["full"]}, data.y)
    one = alone.scan().evaluate(adjustments="ipcw", metrics="ibs", n_kept=100)
    assert one.score("full").value == pytest.approx(held.score("full", "ibs", "ipcw").value, rel=1e-11)


def test_predictions_that_do_not_differ_where_the_imputation_model_looks():
    """Up to the median of the observed times all are predicted the same: imputation reads where they differ."""
    data = study(500, 8)
    (times, values), half = data.models["full"], np.quantile(data.y.time, 0.6)
    late = np.where(times <= half, 1.0 - 0.1 * times, values * 0.5)
    data = Study({"late": (times, late), "part": data.models["part"]}, data.y)
    asked = {"adjustments": "imputation", "metrics": "ibs"}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=100)
    agree(found, held, ("score",))
    assert [n.text for n in held.results["imputation"].notes] == [
        n.text for n in found.results["imputation"].notes
    ]


@dataclass(frozen=True)
class MedianLoss(cc.metrics.Metric):
    """The median over subjects of the distance to what is most likely: no sum over subjects."""

    name, label, direction, range = "median_loss", "median loss", "lower", (0.0, 1.0)

    def evaluate(self, status, predictions):
        last = status.grid.sorted[-1:]
        free = status.a[:, -1] > status.b[:, -1]
        return {
            name: MetricValue(float(np.median(np.abs(free - each.read(last, slice(None))[:, 0]))))
            for name, each in predictions.items()
        }


@pytest.mark.parametrize("tail", [None, "exponential"])
@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_the_imputation_model_reads_curves_between_and_beyond_their_times(tail, interpolation):
    """Quartiles of the observed times before the first and after the last time of a model."""
    data = study(400, 13)
    grids = {
        "early": np.array([0.01, 0.1, 0.2]),
        "late": np.array([0.9, 1.4]),
        "both": np.linspace(0.05, 1.5, 7),
    }
    curves = {
        name: cc.Predictions(
            times, np.exp(-times * np.exp(data.x.to_numpy()[:, [k % 2]])), interpolation, tail
        )
        for k, (name, times) in enumerate(grids.items())
    }
    data = Study(curves, data.y)
    asked = {
        "adjustments": {"all": "imputation", "at": cc.Imputation("predictions", score_times=[0.05, 0.15])},
        "metrics": "ibs",
    }
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=100)
    agree(found, held, ("score",))
    for name in asked["adjustments"]:
        assert found.results[name].notes == held.results[name].notes


def test_metrics_that_cannot_be_added_up_are_those_of_the_subjects_kept(data):
    found = data.scan().evaluate(
        adjustments="ipcw", metrics=["ibs", MedianLoss()], times=[0.1, 0.5], n_kept=200
    )
    kept = found.data.samples.y_test
    assert len(kept) == 200
    assert found.data.streamed.metrics == {"ibs"}
    assert [note.kind for note in found.notes if "median loss" in note.text and "200" in note.text] == [
        "decision"
    ]
    rows = np.isin(data.y.time, kept.time)
    part = Study({k: (t, v[rows]) for k, (t, v) in data.models.items()}, data.y[rows])
    same = part.evaluate(adjustments="ipcw", metrics=MedianLoss(), times=[0.1, 0.5], y_train=data.y)
    for model in ("full", "part"):
        assert found.score(model, "median_loss").value == same.score(model, "median_loss").value


def test_weights_that_stand_for_too_many_are_told_once_of_all_subjects():
    """Where the training sample is censored far more than the test sample, weights sum to more than there are."""
    data, train = study(300, 11), study(300, 12)
    crude = cc.Survival(train.y.time, train.y.event & (np.arange(300) % 6 == 0))
    asked = {"adjustments": "ipcw", "metrics": "brier", "at": 0.9, "y_train": crude, "times": [0.2, 0.9]}
    never = (data.models["full"][0], np.full((300, 12), 0.99))
    data = Study({"never": never}, cc.Survival(data.y.time, np.ones(300, dtype=bool)))
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=100)
    texts = [[n.text for n in each.results["ipcw"].notes_of("caution")] for each in (held, found)]
    assert texts[0] == texts[1]
    assert any("above 1" in text for text in texts[0])


def test_counts_are_those_of_all_subjects(data, held):
    found = data.scan().evaluate(adjustments="ipcw", metrics="ibs", n_kept=60, n_fit=500)
    other = data.evaluate(adjustments="ipcw", metrics="ibs", horizon=found.data.horizon.time)
    numbers, expected = Report(found).to_dict(), Report(other).to_dict()
    assert numbers["data"]["test"] == expected["data"]["test"]
    assert numbers["at_risk"] == expected["at_risk"]
    assert numbers["horizon"]["at_risk"] == expected["horizon"]["at_risk"]
    assert numbers["streamed"] == {"n": 600, "n_fitted": 500, "n_kept": 60, "metrics": ["ibs"]}
    assert "600 test subjects" in repr(found)
    assert found.data.n_events_by(found.data.horizon.time) == other.data.n_events_by(found.data.horizon.time)
    assert any(all(text in note.text for text in ("600", "500", "60")) for note in found.notes)


def test_further_analyses_are_of_the_subjects_kept(data):
    found = data.scan().evaluate(metrics=["ibs"], n_kept=250, n_fit=400)
    grid = found.sensitivity(families=["clayton"], taus=[0.0, 0.3])
    assert np.isfinite(grid.table()["score"]).all() if "score" in list(grid.table().columns) else True
    assert found.bounds().table() is not None
    assert found.suggest_copula().statement
    assert found.results["imputation"].imputation_fit.cells
    assert margin_curves(found) is not None
    assert found.score("full", "ibs", at=0.5).value > 0
    with pytest.raises(ValueError, match="600"):
        found.bootstrap(10)


def test_progress_counts_parts_over_all_passes(data):
    told = []
    data.scan(3).evaluate(metrics="ibs", n_kept=50, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 9)
    assert told[-1] == (9, 9)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_part_that_cannot_be_read_is_named(data):
    scan = data.scan(4)
    read = scan.batches

    def broken(part, columns=None):
        if part.name == "chunks[2]":
            raise ValueError(f"{part.name} is broken.")
        return read(part, columns)

    scan.batches = broken
    with pytest.raises(ValueError, match=r"chunks\[2\] is broken"):
        scan.evaluate(adjustments="ipcw", metrics="ibs", n_kept=50)


def test_numbers_of_subjects_are_checked(data):
    for name in ("n_fit", "n_kept"):
        with pytest.raises(ValueError, match=f"{name}.*0"):
            data.scan().evaluate(**{name: 0})


@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.HorizonWarning"
)  # few are at risk at the times asked for
def test_an_adjustment_that_fails_for_some_subjects_has_no_score():
    """The censoring curve reaches 0 where a weight is needed: the same reason as in memory."""
    data, train = study(300, 9), study(200, 10)
    ends = cc.Survival(
        np.append(train.y.time, 3.0).clip(max=0.5), np.append(train.y.event & (train.y.time < 0.5), False)
    )
    asked = {
        "adjustments": {"km": cc.IPCW(tail="last"), "imputation": "imputation"},
        "metrics": "ibs",
        "times": [0.1, 0.4, 0.9],
        "y_train": ends,
    }
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=50)
    reasons = [[n.text for n in each.results["km"].notes_of("missing")] for each in (held, found)]
    assert reasons[0] == reasons[1]
    assert "reaches 0 at time 0.5" in reasons[0][0]
    agree(found, held, ("score",))


@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.HorizonWarning"
)  # few are at risk at the times asked for
def test_times_after_those_of_the_subjects_fitted_to_are_refused_with_their_number(data):
    last = float(np.sort(data.y.time[data.y.event])[-1])
    asked = {"adjustments": ["ipcw"], "metrics": "ibs", "times": [0.4, last]}
    models = {"full": ([0.4, last], data.models["full"][1][:, [3, -1]])}
    with pytest.raises(ValueError, match="3 of the 600 test subjects, as n_fit"):
        Study(models, data.y).scan().evaluate(**asked, n_fit=3, n_kept=3)


def test_what_workers_are_sent_can_be_pickled(data):
    found = data.scan().evaluate(metrics=["ibs", "auc"], n_kept=50)
    again = pickle.loads(pickle.dumps(found.results["imputation"].fits["full"].for_others()))
    assert again.adjustment == found.results["imputation"].adjustment


def test_a_cluster_gives_the_same(data, cluster):
    from distributed import Client

    asked = {"metrics": ["ibs", "auc", "ici"], "at": 0.5, "n_kept": 100, "n_fit": 400}
    with Client(cluster, set_as_default=False) as client:
        found = data.scan(3).evaluate(**asked, client=client)
    agree(found, data.scan(2).evaluate(**asked), rtol=1e-9)


@pytest.mark.parametrize("pass_", [0, 2], ids=["outcomes", "everything"])
def test_a_worker_that_dies_amid_a_pass_costs_its_tasks_alone(data, doomed_cluster, pass_):
    from distributed import Client

    asked = {"metrics": ["ibs", "auc"], "n_kept": 100, "n_fit": 400}
    killed = []
    with Client(doomed_cluster, set_as_default=False) as client:

        def kill(done, total):
            if done == pass_ * 8 + 3 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        found = data.scan(8).evaluate(**asked, client=client, progress=kill)
    assert killed
    agree(found, data.scan(2).evaluate(**asked), rtol=1e-9)


def test_without_intervals_and_with_a_selected_copula(data):
    asked = {"metrics": "ibs", "confidence_level": None, "copula": "select"}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=100)
    agree(found, held, ("score", "skill"), rtol=1e-8)
    assert found.data.assumed.origin == held.data.assumed.origin
    assert found.data.assumed.copula == held.data.assumed.copula


def test_the_imputation_model_of_another_evaluation_judges_other_subjects(data):
    fitted = study(400, 20).evaluate(metrics="ibs", adjustments="imputation").results["imputation"].fitted
    found = data.scan(3).evaluate(adjustments={"imputation": fitted}, metrics="ibs", n_kept=100)
    again = data.scan(5).evaluate(adjustments={"imputation": fitted}, metrics="ibs", n_kept=300)
    agree(found, again, ("score",))
    # Another sample of the same law was fitted to: an error of its own beside that of the 600.
    own = data.evaluate(metrics="ibs", adjustments="imputation")
    for model in ("full", "part"):
        one, other = found.score(model), own.score(model)
        assert abs(one.value - other.value) < 4 * one.standard_error
        assert 0.7 < one.standard_error / other.standard_error < 2


def test_details_are_of_the_subjects_kept():
    """A value asked for later has the error of so many subjects: that of 500 out of 2,000 is about twice as large."""
    data = study(2000, 21)
    asked = {"adjustments": "ipcw", "metrics": ["ibs", "auc"], "at": 0.6}
    held, found = data.evaluate(**asked), data.scan().evaluate(**asked, n_kept=500)
    curves = [each.score("full", "ibs", at=0.5).standard_error for each in (held, found)]
    assert 1.6 < curves[1] / curves[0] < 2.4
    roc = [profile_errors(each, "auc", at=0.6).of("full").standard_errors.mean() for each in (held, found)]
    assert 0.85 < roc[1] / roc[0] < 1.15  # added up over all
