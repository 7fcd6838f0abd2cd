"""What the page carries of an evaluation's numbers, and how."""

import json

import numpy as np
import pytest

from cocensor.views.html.numbers import page_numbers
from cocensor.views.html.packing import packed
from cocensor.views.html.thinning import points_to_draw
from tests.views.html.packed import numbers_of, unpacked

MODELS = ["$", "b", "$0", "__proto__"]


def through(numbers, models=MODELS, names=("line",)):
    text = json.dumps(packed(numbers, models, names), allow_nan=False)
    return unpacked(json.loads(text))


@pytest.mark.parametrize(
    "numbers",
    [
        {"text": ["$", "$$", "$0", "", "a text that repeats", "a text that repeats"]},
        {"scores": {"line": {model: [0.25, None, -1.5, 1e-3] for model in MODELS}}},
        {"ranks": dict(zip(MODELS, [1, 2, 3, 4], strict=True)), "flags": [True, False, True, True]},
        {"best": {"line": [["b", "$"], [], ["$0"]]}, "none": [[], []]},
        {"curves": [None, [0.1, 0.2, 0.3], [0.1, None, 0.2]], "nothing": None, "empty": {}, "no": []},
        {"rows": [{"a": "b", "at": float(k), "why": None} for k in range(5)]},
        {"unlike": [[1.0, 2.0], [1.0, 2.0, 3.0]], "deep": {"$": {"$": [[1, 2], [3, 4]]}}},
        {"zero": [0.0, 0.0, 0.0, 0.0], "at": 0.1234567890123, "one": [None, None, None, None]},
    ],
)
def test_what_is_packed_comes_out_again(numbers):
    assert through(numbers) == numbers


def test_arrays_are_rounded_by_their_largest_number():
    values = [3.14159265, 1e-7, -2.718281828]
    [found] = through({"low": {"b": values, "$": values}}).values()
    np.testing.assert_allclose(found["b"], values, atol=0.5e-4)
    [scores] = through({"scores": {"b": values, "$": values}}).values()
    np.testing.assert_allclose(scores["$"], values, atol=0.5e-7)


def test_a_curve_that_starts_at_1_is_as_fine_as_one_that_starts_below():
    curve = [1.0, 0.98765, 0.54321, 0.12345]
    [found] = through({"profiles": curve}).values()
    np.testing.assert_allclose(found, curve, atol=0.5e-3)


@pytest.mark.parametrize("n_models", [1, 36, 37, 100])
def test_any_number_of_models_has_codes(n_models):
    models = [f"m{k}" for k in range(n_models)]
    numbers = {"best": [models, models[::-1], models[-1:]]}
    assert through(numbers, models) == numbers


def test_random_arrays_come_out_to_their_digits():
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(size=(2, 4, 30))) * rng.choice([-1.0, 1.0], size=(2, 4, 30))
    numbers = {
        "low": {
            name: dict(zip(MODELS, part.tolist(), strict=True))
            for name, part in zip(("line", "x"), values, strict=True)
        }
    }
    found = through(numbers)["low"]
    shape = np.array([[found[name][model] for model in MODELS] for name in ("line", "x")])
    np.testing.assert_allclose(
        shape, values, atol=0.5 * 10.0 ** (np.floor(np.log10(np.abs(values).max())) - 4)
    )


def test_a_thinned_curve_looks_the_same():
    x = np.linspace(0.0, 1.0, 3000)
    curves = [np.sin(7 * x), np.where(x > 0.4, x, 0.0), np.exp(-30 * x)]
    kept = points_to_draw(x, curves, most=100)
    assert kept.size < 100
    assert kept[[0, -1]].tolist() == [0, 2999]
    for y in curves:
        np.testing.assert_allclose(np.interp(x, x[kept], y[kept]), y, atol=1.01 * 2 / 1600)


def test_a_curve_with_gaps_keeps_their_ends_and_any_order_of_times():
    x, y = np.linspace(0.0, 1.0, 500), np.ones(500)
    y[100:200] = np.nan
    kept = points_to_draw(x, [y], most=50)
    assert kept.tolist() == [0, 99, 100, 199, 200, 499]
    assert points_to_draw(x[::-1], [y[::-1]], most=50).tolist() == [499 - k for k in kept]


def test_of_a_curve_that_never_rests_there_are_as_many_points_as_asked_for():
    x = np.arange(500.0)
    assert points_to_draw(x, [np.random.default_rng(0).normal(size=500)], most=60).size == 60


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


def test_ranks_on_the_page_are_those_of_close_scores():
    scores = {
        "scores": {
            "line": {"$": [0.2, 0.3], "b": [0.2000001, 0.3], "$0": [0.2, 0.3], "__proto__": [0.2, 0.3]}
        }
    }
    found = through(scores)["scores"]["line"]
    assert found["$"][0] < found["b"][0]


def test_limits_follow_from_errors(handed):
    whole = json.loads(handed.to_json())
    found = unpacked(page_numbers(whole))["sensitivity"]
    for metric, by in whole["sensitivity"]["errors"].items():
        for how, lines in by.items():
            reach = found["errors"][metric][how]["reach"]
            for line, models in lines.items():
                for model, limits in models.items():
                    values = found["scores"][metric][how][line][model]
                    errors = found["errors"][metric][how]["lines"][line][model]["standard_errors"]
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
