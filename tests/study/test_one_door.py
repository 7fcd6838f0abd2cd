"""What holds between the times of a table is decided, and noted, in one way by whatever door it comes in."""

import json

import lifelines
import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from tests.cli.study import run
from tests.study.noted import noted

# Few times, between which lines and steps are far apart.
GRID = np.array([0.0, 4.0, 8.0, 12.0, 16.0])
ONE = {"adjustments": "ipcw", "metrics": "ibs"}


def notes_on_steps(result):
    return [note for note in result.notes if "steps" in note.text]


@pytest.fixture(scope="module")
def table(study):
    return study.models["three"](GRID)


def by_command_line(folder, study, table, *more):
    y, frame = study.test.y, pd.DataFrame(table, columns=GRID)
    pd.DataFrame({"time": y.time, "event": y.event}).to_csv(folder / "test.csv", index=False)
    frame.to_csv(folder / "m.csv", index=False)
    options = ["--test", folder / "test.csv", "--predictions", f"m={folder / 'm.csv'}", "--verbose"]
    options += ["--time", "time", "--event", "event", "--adjustments", "ipcw", "--metrics", "ibs"]
    found = run("evaluate", *options, "--json", folder / "out.json", *more)
    assert found.exit_code == 0, found.output
    [metric] = json.loads((folder / "out.json").read_text())["metrics"]
    return metric["scores"]["ipcw"]["m"], found.stdout


def test_five_doors_give_one_note(study, table, tmp_path):
    y, columns = study.test.y, [f"{t:g}" for t in GRID]
    forms = {
        "pair": (GRID, table),
        "frame": pd.DataFrame(table, columns=GRID),
        "transposed": pd.DataFrame(table.T, index=GRID),
        "predictions": cc.Predictions(GRID, table),
    }
    results = {name: cc.evaluate({"m": form}, y, **ONE) for name, form in forms.items()}
    pd.DataFrame({"time": y.time, "event": y.event}).to_parquet(tmp_path / "test.parquet")
    pd.DataFrame(table, columns=columns).to_parquet(tmp_path / "m.parquet")
    scan = cc.scan_parquet(
        tmp_path / "test.parquet", {"m": tmp_path / "m.parquet"}, time="time", event="event"
    )
    results["in batches"] = scan.evaluate(**ONE)
    results["in passes"] = scan.evaluate(**ONE, n_kept=100)
    score, printed = by_command_line(tmp_path, study, table)
    stepped = cc.evaluate({"m": cc.Predictions(GRID, table, "step")}, y, **ONE)
    told = f"about {stepped.score('m').value:#.4g} instead of {score:#.4g}."
    for name, result in results.items():
        [note] = notes_on_steps(result)
        assert (note.kind, note.about.model) == ("decision", "m")
        if name != "in passes":  # where 100 subjects tell the difference
            assert told in note.text
    assert told in printed
    assert not notes_on_steps(stepped)


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_a_rule_that_is_stated_is_not_doubted(study, table, tmp_path, interpolation):
    stated = cc.Predictions(GRID, table, interpolation)
    result = cc.evaluate({"m": stated}, study.test.y, **ONE)
    assert not notes_on_steps(result)
    score, printed = by_command_line(tmp_path, study, table, "--interpolation", interpolation)
    assert score == pytest.approx(result.score("m").value, rel=1e-12)
    assert "steps" not in printed


def test_the_note_needs_a_difference_of_a_tenth_of_the_standard_error(study):
    """On a fine grid lines and steps differ by less, and at the times of the evaluation they do not differ."""
    y, curves = study.test.y, study.models["three"]
    fine = np.linspace(0.0, 16.0, 400)
    for confidence_level in (0.95, None):
        given = ONE | {"confidence_level": confidence_level}
        assert not notes_on_steps(cc.evaluate({"m": (fine, curves(fine))}, y, **given))
        assert not notes_on_steps(cc.evaluate({"m": curves(GRID)}, y, times=GRID, **given))
        assert notes_on_steps(cc.evaluate({"m": (GRID, curves(GRID))}, y, **given))
    result = cc.evaluate(
        {"m": (fine, curves(fine)), "n": cc.Predictions(fine, curves(fine), "step")}, y, **ONE
    )
    score = result.score("m")
    assert 0 < abs(score.value - result.score("n").value) < 0.1 * score.standard_error


def test_one_note_tells_of_all_models(study, table):
    result = cc.evaluate({"a": (GRID, table), "b": pd.DataFrame(table**2, columns=GRID)}, study.test.y, **ONE)
    [note] = notes_on_steps(result)
    assert note.about.model is None
    for name in "ab":
        assert f"instead of {result.score(name).value:#.4g} for {name}" in note.text


def test_models_of_lifelines_say_themselves_what_holds_between_their_times(study):
    """Cox's model steps, and so its own frame of a few times is another thing: that is noted."""
    names = ["a", "b", "c"]
    x_train, x_test = (pd.DataFrame(part.X, columns=names) for part in (study.train, study.test))
    y = study.train.y
    frame = x_train.assign(t=y.time, e=y.event)
    cox, weibull = (
        fitter.fit(frame, "t", "e") for fitter in (lifelines.CoxPHFitter(), lifelines.WeibullAFTFitter())
    )
    models = {"cox": cox, "weibull": weibull}
    result = cc.evaluate(models, study.test.y, x_test, **ONE)
    assert [result.data.predictions[name].interpolation for name in models] == ["step", "linear"]
    assert not notes_on_steps(result)
    own = {name: model.predict_survival_function(x_test) for name, model in models.items()}
    frames = cc.evaluate(own, study.test.y, x_test, **ONE)
    assert frames.score("weibull").value == pytest.approx(result.score("weibull").value, rel=1e-12)
    gap = abs(frames.score("cox").value - result.score("cox").value)
    assert 0 < gap < 0.1 * result.score("cox").standard_error
    few = cox.predict_survival_function(x_test, times=GRID)
    [note] = notes_on_steps(cc.evaluate({"cox": few}, study.test.y, x_test, **ONE))
    assert "lines" in note.text


def test_times_that_move_the_horizon_say_so(study, table):
    y = study.test.y
    pair = cc.evaluate({"m": (GRID, table)}, y, **ONE)
    short = cc.evaluate({"m": (GRID, table)}, y, times=GRID[:3], **ONE)
    [note] = [note for note in noted(short) if "times=" in note.text]
    assert note.kind == "decision"
    assert (
        f"up to 8, the last of the times given; without times= they would end at {pair.data.horizon.time:g}"
        in note.text
    )
    assert pair.data.horizon.reason in note.text
    until = np.linspace(0.0, pair.data.horizon.time, 9)
    same = cc.evaluate({"m": (GRID, table)}, y, times=until, **ONE)
    assert not [note for note in noted(same) if "times=" in note.text]


@pytest.mark.parametrize(
    "name", ["weights", "sample_weight", "groups", "clusters", "entry", "landmark", "cause"]
)
def test_what_is_not_there_yet_is_said_in_a_sentence(study, table, name):
    with pytest.raises(TypeError, match=f"^{name} is not supported yet: .*[.]$"):
        cc.evaluate({"m": (GRID, table)}, study.test.y, **{name: np.ones(300)})
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric'"):
        cc.evaluate({"m": (GRID, table)}, study.test.y, metric="ibs")


def test_a_model_that_predicts_an_array_is_told_what_to_give(study):
    class XGBRegressor:
        def predict(self, X):
            return np.asarray(X)[:, 0]

    class Curves:
        def predict(self, X):
            return np.ones((len(X), 5))

    test = study.test
    with pytest.raises(TypeError, match=r"models\['x'\].*give model.predict\(x_test\) in place.*risk score"):
        cc.evaluate({"x": XGBRegressor()}, test.y, test.X)
    with pytest.raises(TypeError, match=r"give a pair \(times, model.predict\(x_test\)\)"):
        cc.evaluate({"x": Curves()}, test.y, test.X)
    assert cc.evaluate({"x": XGBRegressor().predict(test.X)}, test.y, metrics="auc").score("x").value > 0
