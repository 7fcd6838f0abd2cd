"""A plan is what is asked of an evaluation: frozen, equal by value, without data, and a file that gives it back."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocensor as cc
from cocensor.study.plan import AtRisk, SensitivityPlan
from cocensor.study.run import run
from tests.refusals import refuses

CLAYTON, FRANK = cc.Clayton.from_tau(0.3), cc.Frank(2.0)
OWN = {
    "mine": cc.Imputation("everything", CLAYTON),
    "αβ γ": cc.Imputation("covariates", FRANK),
    "c": cc.IPCW(),
}
METRICS = [
    "ibs",
    cc.metric("ils", floor=0.02),
    cc.metric("brier", at=3.5),
    cc.metric("net_benefit", threshold=0.2, at=4.0),
]
OVER = {"families": ["clayton", "hazard_ratio"], "taus": [0.3, 0.0], "adjustments": "imputation"}
PLANS = {
    "nothing in particular": {},
    "a set": {"adjustments": "paper"},
    "a name": {"adjustments": "ipcw"},
    "names": {"adjustments": ["ipcw", "imputation_covariates"]},
    "labels": {"adjustments": ["IPCW (Cox)", "Imputation"]},
    "names of one's own": {"adjustments": {"mine": "imputation", "a.b": "ipcw", 'say "x"\n': "dep"}},
    "objects": {"adjustments": OWN},
    "metrics": {"metrics": METRICS},
    "the default metrics by name": {"metrics": ["ibs", "auc", "concordance", "ici"]},
    "times": {"times": [3.5, 1, 2.0]},
    "single times": {"at": [12, 3]},
    "one time": {"at": 4.0},
    "the last time": {"horizon": "t_max"},
    "a horizon": {"horizon": 7},
    "a share": {"horizon": {"at_risk": 0.1}},
    "the copula that fits best": {"copula": "select"},
    "independence": {"copula": cc.Independence()},
    **{
        name: {"copula": family.from_tau(0.3)}
        for name, family in cc.copulas.copula_families().items()
        if name != "independence"
    },
    "no covariates": {"covariates": None},
    "some covariates": {"covariates": ["age", "größe"]},
    "columns": {"covariates": [2, 0]},
    "no intervals": {"confidence_level": None},
    "a level": {"confidence_level": 0.9},
    "a bootstrap": {"n_resamples": 50, "seed": 7},
    "a name of time": {"time_name": 'the "time"\t\\ \x7f', "time_unit": "days"},
    "a sensitivity analysis": {
        "sensitivity": SensitivityPlan.of(**OVER, hazard_ratios=[2, 1], plausible=(-0.1, 0.3))
    },
    "a plausible range alone": {"sensitivity": SensitivityPlan.of(plausible=(0, 0.3))},
}


# --- values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_equal_by_value_and_frozen(name):
    plan, again = cc.Plan.of(**PLANS[name]), cc.Plan.of(**PLANS[name])
    assert plan == again
    assert hash(plan) == hash(again)
    assert pickle.loads(pickle.dumps(plan)) == plan
    for each in fields(plan):
        with pytest.raises(FrozenInstanceError):
            setattr(plan, each.name, None)


def test_plans_of_different_questions_differ():
    plans = [cc.Plan.of(**asked) for asked in PLANS.values()]
    assert len(set(plans)) == len(plans)


def test_one_question_asked_in_two_ways_is_one_plan():
    pairs = [
        ({}, {"adjustments": "default", "metrics": "default", "covariates": "all"}),
        ({"adjustments": "ipcw"}, {"adjustments": ["IPCW"]}),
        ({"metrics": "integrated Brier score"}, {"metrics": ["ibs"]}),
        ({"at": 3}, {"at": [3.0, 3.0]}),
        ({"horizon": {"at_risk": 0.1}}, {"horizon": AtRisk(0.1)}),
        ({"covariates": "age"}, {"covariates": ["age"]}),
        ({"times": np.array([1.0, 2.0])}, {"times": (1, 2)}),
    ]
    for one, other in pairs:
        assert cc.Plan.of(**one) == cc.Plan.of(**other)


def parts(value):
    """All values of a plan, however deep."""
    yield value
    if isinstance(value, tuple | list):
        for each in value:
            yield from parts(each)
    elif is_dataclass(value):
        for each in fields(value):
            yield from parts(getattr(value, each.name))


def plain(plan):
    """Whether a plan has settings alone: no arrays, outcomes, predictions, fits or models."""
    kinds = (
        str,
        int,
        float,
        type(None),
        tuple,
        cc.copulas.Copula,
        cc.metrics.Metric,
        cc.adjustments.Adjustment,
    )
    return all(isinstance(each, kinds) or is_dataclass(each) for each in parts(plan)) and not any(
        isinstance(each, cc.Survival | cc.Predictions | cc.adjustments.Fitted | cc.joint.JointModel)
        for each in parts(plan)
    )


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_holds_no_data(name):
    assert plain(cc.Plan.of(**PLANS[name]))


def test_of_what_is_fitted_a_plan_holds_the_value(study):
    fitted = cc.IPCW(min_probability=0.1).fit(study.train.y)
    first = study.evaluate({"one": study.models["one"]}, copula=None)
    imputation = first.results["imputation"].fitted
    result = study.evaluate(adjustments={"ipcw": fitted, "imputation": imputation})
    assert [each.adjustment for each in result.plan.adjustments] == [fitted.adjustment, imputation.adjustment]
    assert plain(result.plan)
    assert len(pickle.dumps(result.plan)) < 5_000
    choice = cc.select_copula(study.train.X, study.train.y, families=("clayton",))
    chosen = study.evaluate(copula=choice, adjustments="cg_q")
    assert chosen.plan.copula == choice.copula
    assert chosen.data.assumed.hint.choice is choice


# --- files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_a_file_gives_the_plan_back(name):
    plan = cc.Plan.of(**PLANS[name])
    text = plan.to_toml()
    assert cc.Plan.from_toml(text) == plan
    assert cc.Plan.from_toml(text).to_toml() == text


def test_a_file_has_what_is_not_by_default_alone():
    assert cc.Plan.of().to_toml() == ""
    assert cc.Plan.of(adjustments="paper", seed=3).to_toml() == 'adjustments = "paper"\nseed = 3'
    assert cc.Plan.of(metrics=METRICS[1]).to_toml() == 'metrics = [{name = "ils", floor = 0.02}]'


def test_a_copula_may_be_written_by_its_tau():
    for text in ('copula = {family = "clayton", tau = 0.3}', '[copula]\nfamily = "clayton"\ntau = 0.3'):
        assert cc.Plan.from_toml(text) == cc.Plan.of(copula=CLAYTON)
    text = 'adjustments = {mine = {name = "imputation", copula = {family = "frank", theta = 2}}}'
    assert cc.Plan.from_toml(text) == cc.Plan.of(adjustments={"mine": cc.Imputation("everything", FRANK)})


def test_numbers_of_numpy_are_numbers():
    asked = {
        "n_resamples": np.int64(50),
        "seed": np.int64(1),
        "metrics": [cc.metric("ils", floor=np.float64(0.02)), cc.metric("brier", at=np.float64(3.5))],
        "confidence_level": np.float64(0.9),
        "horizon": np.int64(7),
    }
    plan = cc.Plan.of(**asked)
    assert cc.Plan.from_toml(plan.to_toml()) == plan


def test_columns_by_numbers_of_numpy_are_columns():
    plan = cc.Plan.of(covariates=np.array([2, 0]))
    assert cc.Plan.from_toml(plan.to_toml()) == plan == cc.Plan.of(covariates=[2, 0])


def test_an_object_without_a_name_is_called_the_same_in_a_file():
    plan = cc.Plan.of(adjustments=[cc.IPCW(), cc.Imputation("everything", CLAYTON)])
    found = cc.Plan.from_toml(plan.to_toml())
    assert [each.label for each in found.adjustments] == [each.label for each in plan.adjustments]


NAMES = st.sampled_from(cc.adjustments.adjustment_names())
COPULAS = st.sampled_from([cc.Independence(), CLAYTON, FRANK, cc.Gumbel.from_tau(0.5), cc.Joe.from_tau(0.2)])
JUDGES = st.builds(cc.Imputation, st.sampled_from(["everything", "covariates", "prediction"]), COPULAS)
POSITIVE = st.floats(1e-6, 1e6)
ANY_METRIC = st.one_of(
    st.sampled_from(["ibs", "auc", "concordance", "ici", "e90", "d_calibration", "absolute_error"]).map(
        cc.metric
    ),
    st.builds(lambda at: cc.metric("brier", at=at), POSITIVE),
    st.builds(lambda floor: cc.metric("ils", floor=floor), st.floats(1e-6, 0.4)),
    st.builds(lambda share: cc.metric("net_benefit", threshold=share), st.floats(0.01, 0.99)),
)


@st.composite
def arguments(draw):
    """Arguments of a plan, each of which may be left out."""
    known = {
        "adjustments": st.one_of(
            st.sampled_from(["default", "paper"]),
            st.lists(NAMES, min_size=1, max_size=4, unique=True),
            st.dictionaries(
                st.text(min_size=1, max_size=8).filter(lambda name: name != "model"),
                st.one_of(NAMES, JUDGES),
                min_size=1,
                max_size=4,
            ),
        ),
        "metrics": st.lists(ANY_METRIC, min_size=1, max_size=4, unique_by=lambda metric: metric.name),
        "horizon": st.one_of(st.just("t_max"), POSITIVE, st.builds(AtRisk, st.floats(0.01, 0.99))),
        "copula": st.one_of(st.just("select"), COPULAS),
        "covariates": st.one_of(
            st.none(), st.lists(st.one_of(st.text(), st.integers(0, 99)), min_size=1, max_size=4)
        ),
        "confidence_level": st.one_of(st.none(), st.floats(0.01, 0.99)),
        "n_resamples": st.integers(2, 10_000),
        "seed": st.integers(0, 2**32),
        "time_name": st.text(min_size=1),
        "time_unit": st.text(min_size=1),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(known))))
    return {name: draw(known[name]) for name in sorted(chosen)}


@pytest.mark.parametrize("name", cc.adjustments.adjustment_names())
@pytest.mark.parametrize("copula", [None, cc.Clayton(2.0)], ids=["independence", "clayton"])
def test_a_file_gives_an_adjustment_back_though_another_is_the_same_at_independence(name, copula):
    for adjustments in (name, {"mine": name}):
        plan = cc.Plan.of(adjustments=adjustments, copula=copula)
        assert cc.Plan.from_toml(plan.to_toml()) == plan


@settings(max_examples=60)
@given(arguments())
def test_a_file_gives_any_plan_back(asked):
    plan = cc.Plan.of(**asked)
    assert cc.Plan.from_toml(plan.to_toml()) == plan


@settings(max_examples=40)
@given(
    taus=st.lists(st.floats(-0.9, 0.9), min_size=1, max_size=5),
    ratios=st.lists(st.floats(0.01, 100.0), min_size=1, max_size=5),
    ends=st.tuples(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9)).map(sorted),
)
def test_a_file_gives_any_sensitivity_analysis_back(taus, ratios, ends):
    over = SensitivityPlan.of(("frank", "hazard_ratio"), taus, None, ratios, ends)
    plan = cc.Plan.of(sensitivity=over)
    assert over.taus == tuple(sorted(set(taus)))
    assert cc.Plan.from_toml(plan.to_toml()) == plan


# --- refusals -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share(cc.metrics.Metric):
    name: ClassVar[str] = "share"
    label: ClassVar[str] = "share"
    direction: ClassVar[str] = "lower"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def evaluate(self, status, predictions):
        return {name: cc.metrics.MetricValue(0.5) for name in predictions}


class Unknown(cc.Clayton):
    name = "unknown"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"adjustments": {"a": cc.IPCW(min_probability=0.1)}}, ("adjustments", "registered", "0.1")),
        (
            {"adjustments": {"a": cc.Imputation("everything", hazard_ratio=2.0)}},
            ("adjustments", "registered"),
        ),
        ({"metrics": Share()}, ("metrics", "registered", "Share()")),
        ({"copula": Unknown(2.0)}, ("copula", "family", "Unknown")),
        ({"adjustments": {"a": cc.Imputation("everything", Unknown(2.0))}}, ("copula", "family", "Unknown")),
    ],
)
def test_what_no_name_makes_is_refused_in_a_file_and_not_in_a_plan(asked, said):
    plan = cc.Plan.of(**asked)
    refuses(plan.to_toml, *said)


def test_what_was_registered_can_be_written():
    refuses(cc.Plan.of(metrics=Share()).to_toml, "registered")
    cc.metrics.register_metric(Share)
    try:
        plan = cc.Plan.of(metrics=Share())
        assert cc.Plan.from_toml(plan.to_toml()) == plan
    finally:
        cc.metrics.unregister_metric("share")


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ('metrix = "ibs"', "metrix", "metrics"),
        ("confidence = 0.9", "confidence", "confidence_level"),
        ('copula = {famly = "clayton", tau = 0.3}', "famly", "family"),
        ("sensitivity = {tau = [0.1]}", "tau", "taus"),
        ('adjustments = {a = {nam = "ipcw"}}', "nam", "name"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(text, key, nearest):
    with pytest.raises(ValueError, match=f"has no key '{key}': did you mean '{nearest}'[?]$"):
        cc.Plan.from_toml(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qqq = 1", ("'qqq'", "keys are adjustments")),
        ("no TOML", ("TOML", "line 1")),
        ("sensitivity = 3", ("sensitivity", "3")),
        ("metrics = [{at = 3.0}]", ("metric", "name")),
        ('metrics = [{name = "brier", floor = 1.0}]', ("'brier'", "floor")),
        ("adjustments = {a = {copula = {family = 'clayton', tau = 0.3}}}", ("adjustment", "name")),
        ('copula = {family = "student", tau = 0.3}', ("'student'", "clayton")),
        ("copula = {tau = 0.3}", ("copula", "family")),
        ("horizon = {at_riks = 0.3}", ("horizon", "at_riks")),
        ("n_resamples = 1", ("n_resamples", "1")),
        ("time_unit = 3", ("time_unit",)),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_a_sentence(text, said):
    refuses(lambda: cc.Plan.from_toml(text), *said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"adjustments": []}, ("adjustments", "empty")),
        ({"adjustments": {"model": "ipcw"}}, ("adjustments", "'model'")),
        ({"adjustments": {"": "ipcw"}}, ("adjustments", "''")),
        ({"adjustments": ["dep"], "copula": cc.Gaussian(0.3)}, ("copula", "Archimedean")),
        ({"metrics": []}, ("metrics", "empty")),
        ({"metrics": ["ibs", "ibs"]}, ("metrics", "ibs, ibs")),
        ({"metrics": "ibs", "at": 3.0}, ("at", "ibs", "'brier'")),
        ({"times": [1.0, 2.0], "horizon": 2.0}, ("horizon", "times")),
        ({"horizon": "never"}, ("horizon", "'never'")),
        ({"copula": "clayton"}, ("copula", "'clayton'")),
        ({"confidence_level": 95}, ("confidence_level", "95")),
        ({"n_resamples": 1}, ("n_resamples", "1")),
        ({"seed": -1}, ("seed", "-1")),
    ],
)
def test_what_takes_no_data_to_refuse_is_refused_by_the_plan(asked, said):
    refuses(lambda: cc.Plan.of(**asked), *said)


def test_a_refusal_calls_an_argument_as_its_door_does():
    said = refuses(lambda: cc.Plan.of(horizon="never", named=lambda name: f"--{name}"), "--horizon")
    assert said.startswith("--horizon")
    refuses(
        lambda: SensitivityPlan.of("clayton", hazard_ratios=[2], named=lambda name: f"--{name}"), "--families"
    )


# --- what a plan does -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"adjustments": "paper", "copula": FRANK},
        {"metrics": "default", "adjustments": "ipcw"},
        {"metrics": ["ibs", "brier"], "at": [8.0], "adjustments": OWN, "confidence_level": None},
        {"adjustments": "ipcw", "n_resamples": 5, "seed": 2},
        {"covariates": [0], "horizon": {"at_risk": 0.2}},
    ],
    ids=["default", "paper", "default metrics", "own adjustments", "bootstrap", "few covariates"],
)
def test_the_plan_of_a_result_gives_the_same_table_again(study, asked):
    result = study.evaluate(**({"copula": None} | asked))
    given = {"x_test": study.test.X, "y_train": study.train.y, "x_train": study.train.X}
    again = run(result.plan, study.models, study.test.y, **given)
    assert again.plan == result.plan
    assert again.table().equals(result.table())
    assert again.to_json() == result.to_json()


def test_a_plan_from_a_file_gives_the_same_table(study):
    result = study.evaluate(
        adjustments={"mine": cc.Imputation("everything", CLAYTON)}, at=8.0, metrics=["ibs", "brier"]
    )
    given = {"x_test": study.test.X, "y_train": study.train.y, "x_train": study.train.X}
    again = run(cc.Plan.from_toml(result.plan.to_toml()), study.models, study.test.y, **given)
    assert again.table().equals(result.table())


def test_a_result_says_what_was_asked(study):
    asked = {
        "adjustments": "ipcw",
        "metrics": "brier",
        "at": [8.0, 12.0],
        "horizon": 15.0,
        "time_unit": "months",
    }
    assert study.evaluate(**asked).plan == cc.Plan.of(copula=cc.Frank.from_tau(0.3), **asked)
    drawn = study.evaluate(adjustments="ipcw").bootstrap(4, seed=3)
    assert (drawn.plan.n_resamples, drawn.plan.seed) == (4, 3)


def test_a_sensitivity_analysis_does_what_its_plan_says_unless_it_is_told_otherwise(study):
    result = study.evaluate(copula=None, confidence_level=None)
    over = SensitivityPlan.of(
        ["frank", "hazard_ratio"], [0.0, 0.3], hazard_ratios=[2.0], plausible=(0.0, 0.3)
    )
    planned = replace(result, plan=replace(result.plan, sensitivity=over))
    found = planned.sensitivity()
    assert (found.over_tau.lines, found.over_tau.points) == (("frank",), (0.0, 0.3))
    assert found.over_ratio.points == (2.0,)
    assert (found.plausible.low, found.plausible.high, found.plausible.origin) == (0.0, 0.3, "asked")
    told = planned.sensitivity("clayton", plausible=(-0.1, 0.1))
    assert (told.over_tau.lines, told.over_tau.points, told.over_ratio) == (("clayton",), (0.0, 0.3), None)
    assert told.plausible.high == 0.1
