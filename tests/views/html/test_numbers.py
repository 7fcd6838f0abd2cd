"""What the page carries of an evaluation's numbers, and how."""

import json

import numpy as np
import pytest

from cocensor.views.html.numbers import page_numbers
from tests.views.html.packed import numbers_of

MODELS = ["$", "b", "__proto__", "scores", "profiles"]


def of_metric(**parts):
    """The page's numbers of one metric, in the order of JSON."""
    metric = {"name": "auc", "family": "auc", **parts}
    numbers = {"primary": "ipcw", "metrics": [metric], "details": {}}
    return json.loads(json.dumps(page_numbers(numbers), allow_nan=False))["metrics"][0]


@pytest.mark.parametrize(
    "part",
    [
        {
            "text": ["", "a text", "ä"],
            "flags": [True, False],
            "ranks": dict(zip(MODELS, range(5), strict=True)),
        },
        {"scores": {"line": {model: [0.25, None, -1.5, 1e-3] for model in MODELS}}},
        {"best": {"line": [["b", "$"], [], ["scores"]]}, "none": [[], []], "nothing": None, "empty": {}},
        {"curves": [None, [0.1, 0.2, 0.3], [0.1, None, 0.2]]},
        {"at": 0.1234567890123, "one": [None, None], "zero": [0.0, 0.0]},
    ],
)
def test_what_is_short_is_kept(part):
    assert of_metric(**part).items() >= part.items()


def test_numbers_have_the_digits_that_are_read_whatever_models_are_called():
    value = 0.123456789012
    by_model = dict.fromkeys(MODELS, value)
    found = of_metric(
        scores={"ipcw": by_model}, reference=value, profiles={"ipcw": by_model}, curves=by_model
    )
    assert set(found["scores"]["ipcw"].values()) == {0.12345679}
    assert found["reference"] == 0.123457
    assert set(found["profiles"]["ipcw"].values()) == {0.123}
    assert set(found["curves"].values()) == {0.1235}


def test_ranks_on_the_page_are_those_of_close_scores():
    found = of_metric(scores={"ipcw": {"a": 0.2, "b": 0.2000001}})["scores"]["ipcw"]
    assert found["a"] < found["b"]


def test_a_long_curve_has_fewer_points_its_ends_among_them_and_looks_the_same():
    x = np.linspace(0.0, 1.0, 3000)
    y = np.sin(7 * x)
    y[:500] = np.nan
    values = [None if np.isnan(value) else value for value in y.tolist()]
    found = of_metric(times=x.tolist(), curves={"ipcw": {"a": values}}, ranks=list(range(100)))
    at, kept = np.array(found["times"]), np.array(found["curves"]["ipcw"]["a"], dtype=float)
    assert at.size == kept.size == 100
    assert (at[0], at[-1]) == (0.0, 1.0)
    seen = np.isfinite(kept)
    assert seen.sum() == pytest.approx(100 * 2500 / 3000, abs=1)
    drawn = np.interp(x[x >= at[seen][0]], at[seen], kept[seen])
    np.testing.assert_allclose(drawn, y[x >= at[seen][0]], atol=2 / 1600)
    assert found["ranks"] == list(range(100))


def test_the_page_has_the_scores_of_to_json_and_what_figures_are_drawn_from(handed, report):
    whole, found = json.loads(handed.to_json()), numbers_of(report)
    for one, other in zip(found["metrics"], whole["metrics"], strict=True):
        for name, by_model in other["scores"].items():
            assert one["scores"][name] == pytest.approx(by_model, rel=1e-6)
        assert one["ranks"] == other["ranks"]
        assert one["best"] == other["best"]
        assert one["times"][-1] == pytest.approx(max(other["times"]), rel=1e-4)
    grid, full = found["sensitivity"], whole["sensitivity"]
    assert grid["best"] == full["best"]
    for metric, by in full["scores"].items():
        for how, lines in by.items():
            for line, models in lines.items():
                for model, values in models.items():
                    assert grid["scores"][metric][how][line][model] == pytest.approx(values, rel=1e-6)
    assert {"survival", "profile", "hint"} <= found.keys()


def test_limits_follow_from_errors(handed):
    whole = json.loads(handed.to_json())
    found = page_numbers(whole)["sensitivity"]
    for metric, by in whole["sensitivity"]["errors"].items():
        for how, lines in by.items():
            reach = found["errors"][metric][how]["reach"]
            for line, models in lines.items():
                for model, limits in models.items():
                    values = found["scores"][metric][how][line][model]
                    errors = found["errors"][metric][how]["lines"][line][model]
                    for value, error, low, high, band in zip(
                        values, errors, limits["low"], limits["high"], limits["band_high"], strict=True
                    ):
                        if error is None:
                            assert low is None
                            continue
                        # Four digits are shown.
                        assert value - found["reach"] * error == pytest.approx(low, abs=3e-6)
                        assert value + found["reach"] * error == pytest.approx(high, abs=3e-6)
                        assert value + reach.get(model, 0.0) * error == pytest.approx(
                            band, abs=1e-3 * abs(band)
                        )


def test_differences_follow_from_scores(handed):
    whole = json.loads(handed.to_json())["sensitivity"]
    for metric, by in whole["differences"].items():
        for how, found in by.items():
            for line, models in found["families"].items():
                scores = whole["scores"][metric][how][line]
                for model, each in models.items():
                    for less, value, base in zip(
                        each["differences"], scores[model], scores[found["reference"]], strict=True
                    ):
                        assert (less is None) == (value is None or base is None)
                        assert less is None or less == pytest.approx(value - base, abs=1e-12)
