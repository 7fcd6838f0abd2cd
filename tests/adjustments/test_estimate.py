import tracemalloc

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.estimate import Estimate

N, T = 20_000, 50
TIMES = np.linspace(0.0, 1.0, T)
ROWS = np.random.default_rng(0).permutation(N)[:100]
CURVES = np.exp(-TIMES * np.random.default_rng(1).exponential(size=(N, 1)))


def unaligned(values):
    """The same values, one byte off."""
    raw = np.empty(values.nbytes + 1, dtype=np.uint8)
    array = raw[1:].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


LAYOUTS = {
    "by rows": lambda: CURVES.copy(),
    "by columns": lambda: np.asfortranarray(CURVES),
    "transposed": lambda: CURVES.T.copy().T,
    "one curve for everybody": lambda: np.broadcast_to(CURVES[0], (N, T)),
    "every second column": lambda: np.repeat(CURVES, 2, axis=1)[:, ::2],
    "every second row": lambda: np.repeat(CURVES, 2, axis=0)[::2],
    "reversed": lambda: CURVES[::-1].copy()[::-1],
    "unaligned": lambda: unaligned(CURVES),
    "single precision by columns": lambda: np.asfortranarray(CURVES, dtype=np.float32),
    "curves": lambda: cc.SurvivalCurves(TIMES, np.asfortranarray(CURVES)),
    "curves at other times": lambda: cc.SurvivalCurves(TIMES + 0.01, np.asfortranarray(CURVES), tail="last"),
}


@pytest.mark.parametrize("order", [None, np.arange(T)[::-1]], ids=["sorted", "unsorted"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_block_copies_no_more_than_its_rows(layout, order):
    made = LAYOUTS[layout]()
    estimate = made if order is None or isinstance(made, cc.SurvivalCurves) else made[:, order]
    predicted = Estimate.of(estimate, TIMES, order, N)
    tracemalloc.start()
    block = predicted.block(ROWS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    whole = made(TIMES) if isinstance(made, cc.SurvivalCurves) else made
    np.testing.assert_array_equal(block, whole[ROWS])
    # The rows themselves, and a few temporaries of their size; the whole would be 200 times as much.
    assert most < 8 * block.nbytes
