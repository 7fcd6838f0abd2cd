"""One case after the other."""

from __future__ import annotations

import traceback
import warnings
from pathlib import Path

import numpy as np

import cocensor as cc
from tests.fuzz.calls import CALLS, one_sentence
from tests.fuzz.draws import Draw

LIBRARY = str(Path(cc.__file__).parent)
#: What the library warns of on purpose.
OWN_WARNINGS = (
    cc.warnings.HorizonWarning,
    cc.warnings.FitWarning,
    cc.warnings.PredictionWarning,
    cc.warnings.TiedTimesWarning,
)


def is_refusal(error: BaseException) -> bool:
    """Whether an error is one sentence of the library, raised by the library itself for a reason of its own."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    own = isinstance(error, ValueError | TypeError) and raised.filename.startswith(LIBRARY)
    if not own or not one_sentence(str(error)):
        return False
    return error.__cause__ is None or is_refusal(error.__cause__)


def run_case(seed: int, case: int) -> tuple[str, str, str | None]:
    """The call of a case, "result" or "refused", and the finding if there is one."""
    rng = np.random.default_rng([seed, case])
    weights = np.array([weight for weight, _, _ in CALLS.values()], dtype=float)
    name = str(rng.choice(list(CALLS), p=weights / weights.sum()))
    _, call, check = CALLS[name]
    draw = Draw(rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in OWN_WARNINGS:
                warnings.simplefilter("ignore", category)
            check(call(draw))
    except Exception as error:
        if is_refusal(error):
            return name, "refused", None
        drawn = "\n".join(f"  {each}" for each in draw.drawn)
        return name, "finding", f"{name}\n{drawn}\n{traceback.format_exc()}"
    return name, "result", None
