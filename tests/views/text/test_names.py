import pytest

from cocensor.views.text.names import BARE, ON_PAGE, model_name
from cocensor.views.text.verdict import conclusion
from tests.views.text.made_up import made


@pytest.mark.parametrize("mark", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_no_name_ends_its_own_isolation(mark):
    assert model_name(f"a{mark}b{mark}") == "\u2068ab\u2069"


def test_several_share_the_best_score():
    assert BARE.have_best_score(["a"]) == "a has the best score"
    assert BARE.have_best_score(["a", "b", "c"]) == "a, b and c share the best score"
    assert ON_PAGE.have_best_score(["א"]) == "\u2068א\u2069 has the best score"


def test_the_conclusion_of_the_page_isolates_names_and_says_the_same(three):
    evaluation, _ = made(
        three, {"frank": ((0.0,), {"a": [0.1], "b": [0.2]})}, {"a": 0.1, "b": 0.2}, error=0.01
    )
    bare, isolated = (conclusion(evaluation.verdict, names) for names in (BARE, ON_PAGE))
    assert "\u2068" in isolated
    assert isolated.replace("\u2068", "").replace("\u2069", "") == bare
