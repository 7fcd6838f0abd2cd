"""Mistakes as users make them get an alarm and no star; honest models get neither."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocensor as cc
from cocensor.data import Sample
from cocensor.study.checks import Check, Probe
from cocensor.study.ranking import rankable, standing
from cocensor.study.report import Report
from tests.study.mistakes import TIMES, cause, disqualifying, kinds, quickly, right

DISQUALIFYING = {"negative_skill", "against_outcome"}


def disqualified(result):
    return set(result.models) - set(rankable(result))


# --- the mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [7.0, 12.0, 30.4375, 365.25, 1 / 7.0, 1 / 12.0])
def test_prediction_times_in_another_unit(factor):
    study = right(seed=1)
    off = cc.Predictions(TIMES * factor, study.probabilities)
    result = quickly({"off": off}, study.y)
    assert kinds(result, "off") == {"negative_skill"}
    assert cause(result, "off") == "level"
    [check] = disqualifying(result, "off")
    assert "Are its times in the unit of the outcomes?" in check.text
    assert standing(result).best == ()


@pytest.mark.parametrize("metrics", ["brier", "auc"])
def test_risks_at_one_time_given_as_survival(metrics):
    study, at = right(), 24.0
    risks = 1.0 - study.curves([at])
    result = quickly({"risks": (at, risks[:, 0])}, study.y, metrics=metrics, at=at)
    assert kinds(result, "risks") == {"negative_skill", "against_outcome"}
    assert cause(result, "risks") == "risks"
    assert standing(result).best == ()


@given(at=st.floats(6.0, 40.0), right_way=st.booleans())
def test_a_prediction_at_any_one_time_is_looked_at(at, right_way):
    study = right(300, 3)
    values = study.curves([at])[:, 0]
    models = {"once": (at, values if right_way else 1.0 - values)}
    assert rankable(quickly(models, study.y, metrics="brier")) == (("once",) if right_way else ())


def test_one_time_in_another_unit():
    study = right()
    late = study.curves([24.0])[:, 0]
    result = quickly({"years": (2.0, late)}, study.y, metrics="brier")
    assert kinds(result, "years") == {"negative_skill"}
    assert all("in the unit of the outcomes?" in check.text for check in disqualifying(result, "years"))


def test_the_unit_is_asked_for_where_few_have_the_event_and_the_skill_hardly_falls():
    study = right(n=2000, seed=2)
    y = cc.Survival(study.y.time, study.y.event & (np.arange(2000) % 16 == 0))
    off = cc.Predictions(TIMES * 30.4375, np.repeat(study.probabilities.mean(axis=0)[None] ** 0.06, 2000, 0))
    result = quickly({"off": off}, y)
    assert result.score("off").skill.value > -0.1
    [said] = [check.text for check in result.checks if check.code == "worse"]
    assert "is worse than Kaplan–Meier" in said
    assert "Are the file, the time column and its unit the right ones?" in said
    assert rankable(result) == ()


def test_an_inverted_event_flag_is_said_once_for_all_models():
    study = right(effect=0.5, dropout=0.2)
    y = cc.Survival(study.y.time, ~study.y.event)
    result = quickly({"a": study.curves, "b": study.flat}, y)
    [check] = [each for each in result.checks if each.disqualifies]
    assert check.model is None
    assert check.values["cause"] == "flag"
    assert "event flag inverted" in check.text
    assert rankable(result) == ()


def test_rows_in_another_order():
    study = right()
    shuffled = study.curves[np.random.default_rng(3).permutation(len(study.y))]
    result = quickly({"good": study.curves, "shuffled": shuffled}, study.y)
    assert kinds(result, "shuffled") == {"negative_skill"}
    assert cause(result, "shuffled") == "rows"
    assert standing(result).best == ("good",)
    assert standing(result).ranks == {"good": 1}


def test_a_risk_score_of_which_more_is_less():
    study = right()
    result = quickly({"risk": study.risk, "turned": -study.risk}, study.y, metrics="concordance")
    assert kinds(result, "turned") == {"against_outcome"}
    assert cause(result, "turned") == "negative"
    assert rankable(result) == ("risk",)


def test_a_model_that_ranks_well_but_is_off_is_told_so():
    study = right(n=1000, effect=0.5)
    steep = cc.Predictions(TIMES, study.probabilities**3.0)
    result = quickly({"steep": steep}, study.y)
    assert kinds(result, "steep") == {"negative_skill"}
    assert cause(result, "steep") == "level"
    [check] = result.checks
    assert "ranks subjects well" in check.text


def test_without_intervals_the_same_is_found():
    study = right()
    shuffled = study.curves[np.random.default_rng(3).permutation(len(study.y))]
    days = cc.Predictions(TIMES * 30.4375, study.probabilities)
    models = {"good": study.curves, "shuffled": shuffled, "days": days}
    result = quickly(models, study.y, confidence_level=None)
    assert rankable(result) == ("good",)
    ranked = quickly(models, study.y, metrics="concordance", confidence_level=None)
    assert rankable(ranked) == ("good",)


# --- remarks -------------------------------------------------------------------------------------------


def test_a_curve_for_everybody_is_honest_and_cannot_rank():
    study = right()
    result = quickly({"flat": study.flat, "good": study.curves}, study.y)
    assert kinds(result, "flat") == {"constant"}
    assert "no better than Kaplan–Meier" in result.checks[0].text
    assert rankable(result) == ("flat", "good")


@pytest.mark.parametrize("level", [0.95, None])
def test_a_model_that_is_not_better_than_kaplan_meier_is_told_whatever_the_cause(level, tmp_path):
    """Rows in another order, whose skill is not so bad as to be an alarm; and guesses that change little."""
    study = right(effect=0.4)
    rng = np.random.default_rng(3)
    guessed = study.flat(TIMES) ** np.exp(0.05 * rng.normal(size=(len(study.y), 1)))
    models = {
        "good": study.curves,
        "shuffled": study.curves[rng.permutation(len(study.y))],
        "guessed": cc.Predictions(TIMES, guessed),
    }
    result = quickly(models, study.y, confidence_level=level)
    assert -0.1 < result.score("shuffled").skill.value < -0.05
    assert kinds(result, "good") == set()
    worse, may_be = result.checks
    assert [(each.code, each.model) for each in result.checks] == [
        ("worse", "shuffled"),
        ("no_better", "guessed"),
    ]
    assert "is worse than Kaplan–Meier" in worse.text
    assert "Does each row belong to its subject?" in worse.text
    assert "may be no better than Kaplan–Meier" in may_be.text
    assert rankable(result) == ("good", "guessed")
    assert [result.verdict.better_than_reference[model].here for model in models][1:] == ["no", "cannot tell"]
    page = result.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    for view in (" ".join(repr(result).split()), page, result.to_json()):
        assert worse.text.partition(",")[0] in view.replace("\u00a0", " ")
    for view in (repr(result), result._repr_html_(), page):
        assert "cannot tell" in view


def test_a_model_that_ranks_well_is_told_so_where_subjects_are_too_few():
    study = right(n=80, seed=1, effect=0.7)
    bent = cc.Predictions(TIMES, study.probabilities**0.6)
    [alarm] = quickly({"bent": bent}, study.y).checks
    assert alarm.code == "no_better"
    assert "may be no better than Kaplan–Meier" in alarm.text
    assert "ranks them better than chance" in alarm.text
    assert "row" not in alarm.text


def test_a_model_with_too_few_events_or_without_probabilities_is_not_held_against_a_curve():
    study = right(effect=0.4)
    few = cc.Survival(study.y.time, study.y.event & (np.cumsum(study.y.event) < 9))
    assert kinds(quickly({"good": study.curves}, few), "good") == {"few_events"}
    risks = quickly({"risk": study.risk}, study.y, metrics="concordance")
    assert kinds(risks, "risk") == set()


def test_training_and_test_sample_are_the_same():
    study = right()
    x = study.risk[:, None]

    def found(**options):
        return kinds(quickly({"good": study.curves}, study.y, **options), "good")

    assert found(x_test=x, y_train=study.y, x_train=x) == {"same_sample"}
    assert found(y_train=study.y) == {"same_sample"}
    frames = {"x_test": pd.DataFrame({"x": study.risk}), "x_train": pd.DataFrame({"x": study.risk})}
    assert found(y_train=study.y, **frames) == {"same_sample"}
    assert found() == set()
    assert found(x_test=x, y_train=study.y, x_train=x + 1.0) == set()
    assert found(y_train=study.y, folds=np.arange(len(study.y)) % 5) == set()
    # The covariates of one sample alone say nothing against it.
    assert found(x_test=x, y_train=study.y) == {"same_sample"}
    order = np.random.default_rng(0).permutation(len(study.y))
    assert found(x_test=x, y_train=study.y[order]) == {"same_sample"}
    assert found(x_test=x, y_train=study.y[order], x_train=x[order]) == {"same_sample"}
    assert found(x_test=x, y_train=study.y[order], x_train=x) == set()


def test_a_few_times_in_common_are_no_reason_to_take_samples_for_one():
    """Twelve subjects with three times each are often alike but for their order."""
    time, event = np.tile([1.0, 2.0, 3.0], 4), np.tile([True, True, False, True], 3)
    curves = cc.Predictions([1.0, 2.0, 3.0], np.tile([0.7, 0.5, 0.4], (12, 1)))
    y, turned = cc.Survival(time, event), cc.Survival(time[::-1], event[::-1])
    assert "same_sample" not in kinds(quickly({"m": curves}, y, y_train=turned), "m")
    assert "same_sample" in kinds(quickly({"m": curves}, y, y_train=y), "m")


@pytest.mark.parametrize(("events", "kind"), [(0, "all_censored"), (1, "few_events"), (9, "few_events")])
def test_few_events(events, kind):
    study = right(n=100)
    seen = np.flatnonzero(study.y.event & (study.y.time < 40))[:events]
    y = cc.Survival(study.y.time, np.isin(np.arange(100), seen))
    result = quickly({"good": study.curves}, y, horizon=40.0)
    assert kinds(result, "good") == {kind}
    assert rankable(result) == (("good",) if events else ())


def test_without_an_event_up_to_the_horizon_no_model_is_best():
    study = right(n=100)
    y = cc.Survival(study.y.time, study.y.event & (study.y.time > 5.0))
    result = quickly({"good": study.curves}, y, horizon=5.0)
    assert kinds(result, "good") == {"all_censored"}
    assert rankable(result) == ()


def test_a_flat_prediction_is_said_to_be_one():
    study = right()
    flat = cc.Predictions(study.curves.times, np.full(study.curves.probabilities.shape, 0.5))
    [alarm] = quickly({"flat": flat}, study.y).checks
    assert alarm.code == "negative_skill"
    assert "same for every subject" in alarm.text


def test_ten_events_are_no_remark_and_those_behind_the_horizon_do_not_count():
    study = right(n=100)
    seen = np.flatnonzero(study.y.event & (study.y.time < 40))[:10]
    y = cc.Survival(study.y.time, np.isin(np.arange(100), seen))
    assert "few_events" not in kinds(quickly({"good": study.curves}, y, horizon=40.0), "good")
    early = float(np.sort(y.time[seen])[4])
    assert "few_events" in kinds(quickly({"good": study.curves}, y, horizon=early), "good")


def test_a_training_sample_without_events():
    study = right()
    train = cc.Survival(study.y.time, np.zeros(len(study.y)))
    result = quickly({"good": study.curves}, study.y, y_train=train)
    [alarm] = [each for each in result.checks if each.code == "training_censored"]
    assert "training" in alarm.text


# --- honest models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n", "effect"), [(150, 0.7), (400, 0.3), (1000, 1.0)])
def test_honest_models_raise_no_alarm(n, effect, seed):
    study = right(n, 100 + seed, effect)
    models = {
        "true": study.curves,
        "flat": study.flat,
        "hazards 1.3 times": cc.Predictions(TIMES, study.probabilities**1.3),
        "hazards 0.8 times": cc.Predictions(TIMES, study.probabilities**0.8),
        "weak": cc.Predictions(TIMES, study.flat.probabilities ** np.exp(0.3 * study.risk)[:, None]),
    }
    assert disqualified(quickly(models, study.y)) == set()


def test_a_risk_that_tells_nothing_runs_against_the_outcome_as_often_as_chance_has_it():
    alarms = 0
    for seed in range(80):
        study, noise = right(100, seed), np.random.default_rng(seed).normal(size=100)
        alarms += not rankable(quickly({"noise": noise}, study.y, metrics="concordance"))
    assert alarms <= 6  # of 80 with a chance of 2.5 % there are more once in 200 times


def test_out_of_fold_curves_of_everybody_else_are_honest():
    """Who has the event is missing from the curve that is predicted for it: all ranks are wrong, and mean nothing."""
    y = right(60, 5, 0.0).y
    rows = np.arange(60)
    curves = [cc.KaplanMeier().fit(y[rows != k]).predict(TIMES, tail="last") for k in rows]
    models = {"others": cc.Predictions(TIMES, np.array(curves), "step", "last")}
    assert "against_outcome" in kinds(quickly(models, y), "others")
    assert kinds(quickly(models, y, folds=rows), "others") & DISQUALIFYING == set()


def test_what_a_reference_gains_by_chance_is_allowed_for():
    """The Kaplan–Meier curve of other subjects from the same population is honest."""
    alarms = 0
    for seed in range(40):
        other, study = right(100, 1000 + seed, 0.0, 1.5), right(100, 2000 + seed, 0.0, 1.5)
        curve = np.asarray(cc.KaplanMeier().fit(other.y).predict(TIMES, tail="last"))
        flat = cc.Predictions(TIMES, np.repeat(curve[None], 100, axis=0), "step", "last")
        alarms += not rankable(quickly({"flat": flat}, study.y))
    assert alarms <= 3  # of 40 with a chance of 2.5 % there are more once in 50 times


# --- what an alarm does --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """The best score has a model with an alarm."""
    study = right(300, 7)
    worse = cc.Predictions(TIMES, study.probabilities**1.2)
    found = quickly(
        {"best": study.curves, "next": worse, "flat": study.flat},
        study.y,
        x_test=study.risk[:, None],
        adjustments=["ipcw", "imputation"],
        metrics=["ibs", "concordance"],
    )
    assert rankable(found) == ("best", "next", "flat")
    return found


@given(off=st.sets(st.sampled_from(["best", "next", "flat"])))
def test_who_is_disqualified_is_nowhere_best_and_keeps_its_scores(mixed, off):
    checks = tuple(Check("negative_skill", model, {"skill": -0.5, "cause": "rows"}) for model in sorted(off))
    result = replace(mixed, checks=checks)
    assert disqualified(result) == off
    for metric in result.metrics:
        for name in result.results:
            assert set(standing(result, metric, name).ranks) == set(result.models) - off
            assert not set(standing(result, metric, name).best) & off
            assert (
                sorted(set(standing(result, metric, name).ranks.values()))[:1] == [1][: len(rankable(result))]
            )
    assert [result.score(model).value for model in off] == [mixed.score(model).value for model in off]
    table = result.table()
    assert not table.loc[table["model"].isin(off), "best"].any()
    assert table.loc[table["model"].isin(off), "rank"].isna().all()


def test_an_alarm_about_all_models_leaves_no_contender(mixed):
    result = replace(mixed, checks=(Check("negative_skill", None, {"skills": [-0.5], "cause": "flag"}),))
    assert rankable(result) == ()
    assert standing(result).best == ()
    assert not result.table("ranks")["may_be_best"].any()
    assert result.verdict.state == "no_usable_model"


def test_remarks_disqualify_nobody(mixed):
    for kind in ("constant", "refused", "same_sample", "training_censored", "few_events"):
        assert rankable(replace(mixed, checks=(Check(kind, "best"),))) == rankable(mixed)


def test_alarms_outlive_a_bootstrap_and_are_in_the_numbers():
    study = right(200)
    models = {"good": study.curves, "days": cc.Predictions(TIMES * 30.4375, study.probabilities)}
    result = quickly(models, study.y, n_resamples=20)
    assert rankable(result) == ("good",)
    numbers = Report(result).to_dict()["checks"]
    assert {each["code"] for each in numbers if each["disqualifies"]} == {"negative_skill"}
    assert {each["model"] for each in numbers} == {"days"}
    assert all(each["text"] for each in numbers)


def test_many_subjects_are_looked_at_in_part():
    study = right(200)
    many = cc.Survival(np.tile(study.y.time, 250), np.tile(study.y.event, 250))
    probe = Probe(Sample(many), TIMES)
    assert len(probe.outcomes) <= 20_000
    curves = cc.Predictions(TIMES, np.tile(study.probabilities, (250, 1)))
    assert curves.read(TIMES[1:3], probe.rows).shape == (len(probe.outcomes), 2)


@pytest.mark.parametrize("time", [1.0, 5.0], ids=["the last event", "after everybody left"])
def test_a_curve_whose_variance_is_nowhere_known_gains_nothing_by_chance(time):
    everybody_at_once = cc.Survival(np.ones(12), np.ones(12, dtype=bool))
    assert Probe(Sample(everybody_at_once), np.array([time])).gain_by_chance == 0.0
