from collections import Counter

import numpy as np

from tests.fuzz import cases
from tests.fuzz.calls import PROBABILITY
from tests.fuzz.draws import Draw


def test_a_hundred_random_calls_give_results_or_refusals():
    kinds = Counter()
    for case in range(100):
        _, kind, finding = cases.run_case(20250101, case)
        assert finding is None, f"case {case}: {finding}"
        kinds[kind] += 1
    assert min(kinds["result"], kinds["refused"]) > 20


def test_a_case_is_drawn_again_as_it_was():
    first, again = (Draw(np.random.default_rng([1, 7])) for _ in range(2))
    assert repr(first.outcomes("y", 5)) == repr(again.outcomes("y", 5))


def test_errors_of_others_and_warnings_are_findings(monkeypatch):
    def broken(_):
        return np.zeros(3) + np.zeros(2)

    def warns(_):
        return np.log(np.zeros(1))

    def too_large(_):
        return 1.5

    for call in (broken, warns, too_large):
        monkeypatch.setattr(cases, "CALLS", dict.fromkeys(cases.CALLS, (1, call, PROBABILITY)))
        assert cases.run_case(1, 0)[1] == "finding"
