"""Scores of event and dropout that the imputation model learns from covariates."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.adjustments.models.learned import LearnedScores
from cocensor.adjustments.samples import Samples
from cocensor.data import Sample
from cocensor.data.border import as_predictions
from tests.refusals import refuses

TIMES = np.linspace(0.05, 1.5, 30)


def risks(x):
    """Log hazards of event and dropout that are no line in any covariate."""
    return 1.2 * (np.abs(x[:, 0]) - 0.8) + 0.8 * x[:, 1] * x[:, 2], 0.8 * (np.abs(x[:, 3]) - 0.8)


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    event, dropout = (rng.exponential(np.exp(-risk)) for risk in risks(x))
    return cc.Survival.from_latent(event, 1.5 * dropout), x, event


def learned(sample, setting="auto"):
    scores, values, notes = LearnedScores.of(sample, setting)
    return scores, values, [note.code for note in notes]


def linear(y, x, columns=(0, 1, 2, 3, 4)):
    columns = list(columns)
    return cc.Predictions(TIMES, cc.CoxPH().fit(x[:, columns], y).survival(TIMES, x[:, columns]))


def test_scores_tell_what_no_line_does():
    y, x, _ = drawn(2000)
    scores, values, notes = learned(Sample(y, x))
    assert scores.kinds == ["event", "dropout"]
    assert notes == []
    for own, true in zip(values.T, risks(x), strict=True):
        explained = np.linalg.lstsq(np.column_stack((np.ones(len(x)), x)), true, rcond=None)[1][0]
        assert explained > 0.9 * len(x) * true.var()  # lines explain next to nothing
        assert np.corrcoef(own, true)[0, 1] > 0.75


def test_sampling_weights_are_learned_by():
    """Who has weight 0 teaches nothing; others teach by their weights."""
    y, x, _ = drawn(1200)
    weight = np.repeat([0.0, 1.0, 3.0], 400)
    _, by_rows, _ = learned(Sample(y[400:], x[400:], weight[400:]))
    _, values, _ = learned(Sample(y, x, weight))
    np.testing.assert_allclose(values[400:], by_rows, rtol=0, atol=1e-12)
    _, unweighted, _ = learned(Sample(y[400:], x[400:]))
    assert np.abs(by_rows - unweighted).max() > 0.1


def test_noise_teaches_nothing_out_of_fold():
    """In the sample, trees would tell those with the event from others; out of fold they cannot."""
    correlations = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        time, event = rng.exponential(size=600), rng.random(600) < 0.5
        _, values, _ = learned(Sample(cc.Survival(time, event), rng.normal(size=(600, 4))))
        hazard = cc.KaplanMeier().fit(cc.Survival(time, event)).predict(time)
        correlations.append(np.corrcoef(values[:, 0], event + np.log(np.maximum(hazard, 1e-3)))[0, 1])
    assert abs(np.mean(correlations)) < 3.0 / np.sqrt(8 * 600)


def test_the_order_of_rows_and_the_units_of_columns_change_no_byte():
    y, x, _ = drawn(500)
    y_train, x_train, _ = drawn(400, 1)
    _, values, _ = learned(Sample(y, x, train=Sample(y_train, x_train)))
    rng = np.random.default_rng(3)
    order, order_train = rng.permutation(500), rng.permutation(400)
    train = Sample(y_train[order_train], x_train[order_train])
    _, again, _ = learned(Sample(y[order], x[order], train=train))
    assert again.tobytes() == values[order].tobytes()
    # Folds hash values, and labels where there are any.
    labelled = [cc.Survival(pd.Series(y.time, index=names), y.event) for names in _names(order)]
    _, first, _ = learned(Sample(labelled[0], x))
    _, second, _ = learned(Sample(labelled[1][order], np.exp(3.0 * x[order])))
    assert second.tobytes() == first[order].tobytes()


def _names(order):
    names = np.array([f"patient {k}" for k in range(order.size)])
    return names, names


def test_any_subjects_have_the_scores_that_they_have_within_the_sample():
    y, x, _ = drawn(700)
    x = np.round(x)
    y = cc.Survival(np.ceil(4 * y.time) / 4, y.event)  # some are the same in all
    scores, values, _ = learned(Sample(y, x))
    assert scores.copies[0].size > 20
    np.testing.assert_array_equal(scores.of_subjects(Sample(y, x)), values)
    rows = np.r_[5:40, 600:610]
    np.testing.assert_array_equal(scores.of_subjects(Sample(y[rows], x[rows])), values[rows])
    for start in (0, 1):  # labels count or not; those of a part never do
        index = np.arange(start, 700 + start)
        named = cc.Survival(pd.Series(y.time, index=index), y.event)
        scores, values, _ = learned(Sample(named, x))
        np.testing.assert_array_equal(scores.of_subjects(Sample(named[rows], x[rows])), values[rows])


def test_clusters_stay_together():
    """Trees that saw others of the same cluster, whom x tells, would know its hazard."""
    rng = np.random.default_rng(0)
    n, size = 40, 25
    frailty = np.repeat(rng.normal(size=n), size)
    x = np.repeat(rng.normal(size=n), size)[:, None]
    y = cc.Survival(rng.exponential(np.exp(-frailty)), np.ones(n * size))
    apart, together = (
        np.corrcoef(learned(Sample(y, x, cluster=cluster))[1][:, 0], frailty)[0, 1]
        for cluster in (None, np.repeat(np.arange(n) + 7, size))
    )
    assert apart > 0.8
    assert together < 3.0 / np.sqrt(n)


def test_few_events_teach_nothing_unless_asked_for():
    y, x, _ = drawn(150)
    assert y.n_events < 100
    scores, values, notes = learned(Sample(y, x))
    assert (scores.kinds, values.shape, notes) == ([], (150, 0), ["not_learned"] * 2)
    assert learned(Sample(y, x), True)[0].kinds == ["event", "dropout"]
    # Those of the training sample count.
    y_train, x_train, _ = drawn(400, 1)
    assert learned(Sample(y, x, train=Sample(y_train, x_train)))[0].kinds == ["event", "dropout"]
    # Nothing is learned of what does not happen in the test sample.
    assert learned(Sample(cc.Survival(y.time, np.ones(150)), x))[0].kinds == ["event"]


def test_missing_values_categories_and_many_levels():
    y, x, _ = drawn(800)
    frame = pd.DataFrame(x.copy(), columns=list("abcde"))
    frame["site"] = [f"site {k}" for k in np.where(x[:, 0] > 0.5, 0, np.arange(800))]
    frame.loc[::4, "b"] = np.nan
    frame.loc[::5, "site"] = None
    scores, values, notes = learned(Sample(y, frame))
    assert notes == ["levels_grouped"]
    assert np.isfinite(values).all()
    unseen = frame.assign(site="elsewhere", a=np.nan)
    assert np.isfinite(scores.of_subjects(Sample(y, unseen))).all()
    predicted = {"m": as_predictions(linear(y, x), 800, X=x)}
    fitted = cc.Imputation("everything").fit(y, frame.drop(columns="site"), predicted)
    assert "b missing" in fitted.design.columns
    assert [note.text for note in fitted.notes if note.code == "incomplete"] == [
        "Covariate 'b' has no value for 200 subjects: the imputation model is given an indicator, "
        "and the mean in their place."
    ]
    column = fitted.design.matrix[:, fitted.design.columns.index("b missing")]
    np.testing.assert_array_equal(column, frame["b"].isna())
    refuses(lambda: cc.fit_joint(frame[["b"]], y), "X: column 'b' has no value in row 0")


def test_imputation_is_nearer_to_the_truth():
    """Event and dropout share what the model misses: to the imputation model it is a hidden factor, unless learned."""
    biases = {True: [], False: []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1000, 5))
        bent, crossed = np.abs(x[:, 0]) - 0.8, 0.8 * x[:, 1] * x[:, 2]
        event, dropout = (rng.exponential(np.exp(-slope * bent - crossed)) for slope in (1.2, 1.0))
        y = cc.Survival.from_latent(event, 1.5 * dropout)
        model = {"m": linear(y, x)}
        asked = {"metrics": "ibs", "times": TIMES[:20], "confidence_level": None, "true_times": event}
        for setting in biases:
            adjustment = cc.Imputation("everything", learned=setting)
            result = cc.evaluate(model, y, x, adjustments={"a": adjustment}, **asked)
            biases[setting].append(result.score("m").value - result.truth.value("ibs", "m"))
    assert abs(np.mean(biases[True])) < 0.6 * abs(np.mean(biases[False]))


def test_the_training_sample_joins_and_is_found_by_evaluate():
    y, x, _ = drawn(300)
    y_train, x_train, _ = drawn(900, 1)
    predicted = {"m": linear(y, x)}
    alone = Samples.of(y, x).fit(cc.Imputation("everything"), predicted)
    both = Samples.of(y, x, y_train, x_train).fit(cc.Imputation("everything"), predicted)
    true = risks(x)[0]
    places = [fitted.design.columns.index("learned score of event") for fitted in (alone, both)]
    gains = [
        np.corrcoef(fitted.design.matrix[:, place], true)[0, 1]
        for fitted, place in zip((alone, both), places, strict=True)
    ]
    assert gains[1] > gains[0] + 0.05


def test_the_fit_moves_on_with_the_same_scores():
    """Under other copulas, with a hazard ratio and for resamples the trees are those of the first fit."""
    y, x, _ = drawn(600)
    models = {"m": linear(y, x), "one": linear(y, x, [0])}
    result = cc.evaluate(models, y, x, metrics="ibs", times=TIMES[:20])
    first = result.results["imputation"].fitted
    matrix = first.design.matrix
    assert {"learned score of event", "learned score of dropout"} < set(first.design.columns)
    for moved in (first.with_copula(cc.Frank.from_tau(0.3)), first.with_hazard_ratio(2.0)):
        np.testing.assert_array_equal(moved.design.matrix, matrix)
        assert np.isfinite(moved.weights(y, TIMES[:20]).a).all()
    assert result.bootstrap(4).score("m").standard_error > 0
    # Another evaluation takes the fit as it is: z is frozen.
    frozen = cc.evaluate({"m": models["m"]}, y, x, adjustments={"a": first}, metrics="ibs", times=TIMES[:20])
    assert frozen.score("m").value == pytest.approx(
        result.score("m", adjustment="imputation").value, rel=1e-12
    )


def test_settings_are_checked():
    refuses(lambda: cc.Imputation("everything", learned="yes"), "learned", "'yes'")
    for given in ("covariates", "predictions", "prediction", ()):
        refuses(lambda given=given: cc.Imputation(given, learned=True), "learned must be False", "True")
    assert cc.Imputation(("predictions", "covariates"), learned=True).learned is True
    assert cc.Imputation("everything").learned == "auto"
    assert cc.Imputation("prediction").learned is False
    assert replace(cc.Imputation("everything"), learned=False) != cc.Imputation("everything")


def test_scikit_learn_is_imported_by_the_fit_alone():
    code = "import sys, cocensor; cocensor.Imputation('everything'); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
