"""What the paper's synthetic set-up does not have: other risks, a hidden covariate, an end of study."""

import numpy as np
import pytest
from scipy.stats import kendalltau

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses


@pytest.mark.parametrize("risk", ["linear", "quadratic", "interactions"])
def test_true_survival_functions_are_those_of_the_draws(risk):
    """S_E(E given x) is uniform, for every form of the risk."""
    data = SyntheticDesign(n=20_000, n_features=3, risk=risk).draw(2)
    own = np.array(
        [
            data.event_survival(t, x[None])[0, 0]
            for t, x in zip(data.event_time[:400], data.X[:400], strict=True)
        ]
    )
    assert abs(own.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 400)
    t = np.quantile(data.event_time, [0.2, 0.5, 0.8])
    found = (data.event_time[:, None] > t).mean(axis=0)
    expected = data.marginal_event_survival(t)
    np.testing.assert_array_less(np.abs(found - expected), 4 * np.sqrt(0.25 / 20_000))
    found = (data.dropout_time[:, None] > t).mean(axis=0)
    np.testing.assert_array_less(
        np.abs(found - data.marginal_dropout_survival(t)), 4 * np.sqrt(0.25 / 20_000)
    )


def test_a_linear_model_does_not_see_the_other_risks():
    shares = {}
    for risk in ("linear", "quadratic", "interactions"):
        data = SyntheticDesign(n=20_000, n_features=3, risk=risk, censoring_rate=0.2).draw(0)
        model = cc.CoxPH().fit(data.X, data.y)
        shares[risk] = float(np.abs(model.coef_).max())
    assert shares["linear"] > 0.2
    assert shares["quadratic"] < 0.1
    assert shares["interactions"] < 0.1


def test_the_same_draws_with_and_without_the_new_parts():
    plain = SyntheticDesign(n=50).draw(3)
    ended = SyntheticDesign(n=50, study_end=(5.0, 15.0)).draw(3)
    np.testing.assert_array_equal(plain.event_time, ended.event_time)
    np.testing.assert_array_equal(plain.dropout_time, ended.dropout_time)


def test_a_hidden_covariate_makes_event_and_dropout_dependent():
    """Figure 1a of the paper: independent given x and z, not given x."""
    data = SyntheticDesign(n=20_000, n_features=1, hidden=1.5).draw(1)
    assert data.hidden.shape == (20_000,)
    assert data.copula == cc.Independence()
    assert data.tau_given(data.X[:, 0]) > 0.2
    # given everything that drives them it is gone
    everything = data.event_coef[0] * data.X[:, 0] + 1.5 * data.hidden
    assert abs(data.tau_given(everything)) < 0.03
    # the true survival function given x averages over it
    t = np.quantile(data.event_time, [0.2, 0.5, 0.8])
    found = (data.event_time[:, None] > t).mean(axis=0)
    np.testing.assert_array_less(np.abs(found - data.marginal_event_survival(t)), 4 * np.sqrt(0.25 / 20_000))
    assert data[:10].hidden.shape == (10,)
    assert SyntheticDesign(n=5).draw(0)[:2].hidden is None


def test_an_end_of_study_is_administrative():
    common = SyntheticDesign(n=2000, study_end=12.0).draw(0)
    assert common.y.t_max == 12.0
    ended = common.y.administrative
    assert (common.y.time[ended] == 12.0).all()
    assert (np.minimum(common.event_time, common.dropout_time)[ended] >= 12.0).all()
    staggered = SyntheticDesign(n=2000, study_end=(6.0, 18.0)).draw(0)
    times = staggered.y.time[staggered.y.administrative]
    assert times.min() >= 6.0
    assert times.max() <= 18.0
    assert np.unique(times).size > 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"risk": "cubic"}, "risk must be one of 'linear', 'quadratic', 'interactions', but is 'cubic'"),
        ({"hidden": np.inf}, "hidden must be finite"),
        ({"study_end": -1.0}, "study_end must be a time above 0 or a pair of them in order, but is -1.0"),
        ({"study_end": (5.0, 3.0)}, "study_end must be a time above 0 or a pair of them in order"),
        ({"study_end": (1.0, 2.0, 3.0)}, "study_end must be a time above 0 or a pair of them in order"),
        ({"study_end": ()}, "study_end must be a time above 0 or a pair of them in order"),
        (
            {"risk": "interactions", "n_features": 2},
            "n_features must be at least 3 for interactions, but is 2",
        ),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(ValueError, match=message):
        SyntheticDesign(**changes)


@pytest.mark.parametrize("weight", [1.5, 5.0, 10.0])
def test_the_average_over_a_hidden_covariate_is_exact(weight):
    data = SyntheticDesign(n=3, n_features=1, hidden=weight).draw(0)
    z = np.linspace(-12, 12, 400_001)
    density = np.exp(-0.5 * z**2)
    t = np.array([2.0, 10.0, 17.0, 30.0])
    log_hazard = 4 * np.log(t / 17) + data.X[0] @ data.event_coef
    exact = [float(np.sum(density * np.exp(-np.exp(h + weight * z))) / density.sum()) for h in log_hazard]
    np.testing.assert_allclose(data.event_survival(t)[0], exact, atol=1e-4)


@pytest.mark.parametrize("ratio", [0.5, 3.0])
def test_a_hazard_ratio_after_dropout_changes_what_follows_it_alone(ratio):
    settings = {"n": 20_000, "n_features": 2, "study_end": (5.0, 25.0)}
    plain, data = SyntheticDesign(**settings).draw(3), SyntheticDesign(**settings, hazard_ratio=ratio).draw(3)
    assert data.y.equals(plain.y)
    gone = data.dropout_time < plain.event_time
    np.testing.assert_array_equal(data.event_time[~gone], plain.event_time[~gone])
    # What is left of the cumulative hazard, a standard exponential, is passed ratio times as fast.
    relative = np.exp(data.X @ data.event_coef)
    left = [((each / 17.0) ** 4 * relative)[gone] for each in (data.event_time, data.dropout_time)]
    spread = 1.0 / np.sqrt(gone.sum())
    assert np.mean(left[0] - left[1]) * ratio == pytest.approx(1.0, abs=4 * spread)
    t = np.quantile(data.event_time, [0.2, 0.5, 0.8])
    found = (data.event_time[:, None] > t).mean(axis=0)
    np.testing.assert_array_less(np.abs(found - data.marginal_event_survival(t)), 4 * np.sqrt(0.25 / 20_000))


def test_what_a_hazard_ratio_after_dropout_does_not_go_with():
    refuses(lambda: SyntheticDesign(hazard_ratio=2.0, copula=cc.Clayton(1.0)), "copula", "Clayton")
    refuses(lambda: SyntheticDesign(hazard_ratio=2.0, hidden=1.0), "hidden", "1")
    refuses(lambda: SyntheticDesign(hazard_ratio=0.0), "hazard_ratio", "0")
    data = SyntheticDesign(n=50, hazard_ratio=2.0).draw(0)
    assert "hazard_ratio=2" in repr(data)
    refuses(lambda: data.copula, "hazard ratio")


@pytest.mark.parametrize(("leave", "ratio"), [(0.5, 3.0), (0.25, 3.0), (0.5, 0.5)])
def test_the_tau_that_a_hazard_ratio_after_dropout_stands_for(leave, ratio):
    # Constant hazards, a share leaving before the event: the formula of the guide.
    rng, n = np.random.default_rng(0), 20_000
    event, dropout = rng.exponential(1 / (1 - leave), n), rng.exponential(1 / leave, n)
    event = np.where(dropout < event, dropout + (event - dropout) / ratio, event)
    expected = leave * (1 - leave) * (ratio - 1) / (1 + (1 - leave) * ratio)
    assert kendalltau(event, dropout).statistic == pytest.approx(expected, abs=4 * 0.67 / np.sqrt(n))
