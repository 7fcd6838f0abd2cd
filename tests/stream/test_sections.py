"""Calibration of subjects who come in batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocensor.data import TimeGrid
from cocensor.metrics import metric
from cocensor.stream.histograms import histogram_accumulator
from cocensor.stream.sections import SectionAccumulator
from tests.stream.given_weights import Sample, sample

CALIBRATION = ("ici", "e50", "e90", "miscalibration", "discrimination")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(30, 150), st.sampled_from(["ipcw", "imputation"]),
    st.sampled_from(["curves", "rounded", "single precision", "constant"]), st.sampled_from([128, 4096]),
    st.sampled_from(CALIBRATION), st.integers(1, 4),
)  # fmt: skip
def test_calibration_of_all_subjects_lies_within_the_bound(seed, n, weights, scores, n_cells, name, n_parts):
    rng = np.random.default_rng(seed)
    asked, data = metric(name, at=2.0), sample(rng, n, weights=weights, scores=scores)
    grid = asked.grid(TimeGrid.of(data.times))
    found = data.batches(
        asked,
        np.array_split(rng.permutation(n), n_parts),
        lambda: SectionAccumulator(asked, grid, ("m", "other"), n_cells),
    )
    for model, exact in data.in_memory(asked).items():
        assert np.isnan(found[model].value) == np.isnan(exact.value)
        if not np.isnan(exact.value):
            assert abs(found[model].value - exact.value) <= found[model].bound + 1e-7


@pytest.mark.parametrize("name", CALIBRATION)
def test_few_distinct_predictions_are_calibrated_as_in_memory(name):
    rng = np.random.default_rng(6)
    asked, data = metric(name, at=2.0), sample(rng, 2000, weights="imputation", scores="rounded")
    found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"], 2000)
    for rows in np.array_split(rng.permutation(2000), 5):
        found.update(*data.at(asked, rows))
    result, exact = found.result(np.inf)["m"], data.in_memory(asked)["m"]
    assert result.bound == 0
    assert result.value == pytest.approx(exact.value, abs=1e-8)
    if exact.profile is not None:
        np.testing.assert_allclose(result.profile, exact.profile, atol=1e-8)


def test_recalibrated_cells_score_no_better_than_subjects():
    rng = np.random.default_rng(7)
    asked, data = metric("discrimination", at=2.0), sample(rng, 3000)
    grid = asked.grid(TimeGrid.of(data.times))
    found = SectionAccumulator(asked, grid, ("m",), 64)
    found.update(*data.at(asked))
    result, exact = found.result(np.inf)["m"], data.in_memory(asked)["m"].value
    assert exact - result.bound <= result.value < exact


def test_a_negative_weight_of_one_subject_leaves_no_recalibration():
    data = sample(np.random.default_rng(8), 40)
    data.a[3, 1], data.b[3, 1] = -0.1, 0.0
    asked = metric("miscalibration", at=2.0)
    found = histogram_accumulator(asked, TimeGrid.of(data.times), ["m"])
    for rows in np.array_split(np.arange(40), 4):
        found.update(*data.at(asked, rows))
    assert np.isnan(found.result(np.inf)["m"].value)
    assert np.isnan(data.in_memory(asked)["m"].value)


def test_d_calibration_is_a_sum():
    rng = np.random.default_rng(9)
    asked, data = metric("d_calibration"), sample(rng, 200, n_times=6, weights="imputation")
    start = [1.0, 0.0]
    data = Sample(
        np.append(0.0, data.times),
        *(np.column_stack((np.full(200, w), each)) for w, each in zip(start, (data.a, data.b), strict=True)),
        data.models,
    )
    found = data.batches(
        asked,
        np.array_split(rng.permutation(200), 6),
        lambda: histogram_accumulator(asked, TimeGrid.of(data.times), ["m", "other"]),
    )
    for name, exact in data.in_memory(asked).items():
        assert found[name].value == pytest.approx(exact.value, abs=1e-12)
        assert found[name].bound == 0
        np.testing.assert_allclose(found[name].profile, exact.profile, atol=1e-12)
