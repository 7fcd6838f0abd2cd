"""Words of the page, whatever was evaluated: nothing that needs a glossary, and no number that nobody asked for."""

import re

import pytest

import cocensor as cc
from cocensor.views.text.names import ISOLATE

BANNED = (
    "not told from the best",
    "foretell",
    "hang together",
    "as they are no numbers",
    "takes τ for 0",
    "take τ for 0",
    "is told by it",
    "a curve too few",
    "another may be",
)
FIRST_SCREEN = re.compile(r'<p class="state.*?<p class="lead">.*?</p>', re.DOTALL)


def kinds():
    """By name, what an evaluation is asked for beside models and outcomes, and the grid of its sensitivity analysis."""
    grid = (("clayton", "frank", "hazard_ratio"), (0.0, 0.3, 0.6))
    return {
        "usual": ({"metrics": "ibs"}, grid),
        "given": ({"metrics": "ibs", "copula": cc.Clayton(1.4148283084946247)}, grid),
        "without_intervals": ({"metrics": "ibs", "confidence_level": None}, grid),
        "without_grid": ({"metrics": ["concordance", "ibs"]}, None),
        "ipcw": ({"metrics": "auc", "adjustments": "ipcw"}, None),
        "paper": ({"metrics": "ibs", "adjustments": "paper"}, grid),
    }


@pytest.fixture(scope="session", params=list(kinds()))
def page(request, split, cox, tmp_path_factory):
    train, test = split
    asked, grid = kinds()[request.param]
    models = {"all": cox(0, 1, 2), "two": cox(0, 1), "one": cox(0)}
    found = cc.evaluate(models, test.y, test.X, y_train=train.y, x_train=train.X, **asked)
    shown = {} if grid is None else {"sensitivity": found.sensitivity(*grid)}
    return found.to_html(tmp_path_factory.mktemp("page") / "a.html", **shown).read_text(encoding="utf-8")


def shown(page):
    """What a reader sees: no script, style or embedded numbers."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


def test_no_page_has_words_that_nobody_says(page):
    assert not [words for words in BANNED if words in shown(page)]


def test_copulas_are_shown_by_tau(page):
    assert "(theta=" not in shown(page).split("<pre")[0]


def test_tau_is_defined_on_every_page(page):
    assert "τ is the dependence of event and dropout that remains given" in shown(page)


def test_the_first_screen_answers_without_the_words_of_the_method(page):
    screen = re.sub("<[^>]*>", "", FIRST_SCREEN.search(shown(page))[0])
    assert not re.search(r"\b(judge|imputed|imputation|margins?|IBS-Dep|CG-Q)\b", screen)
    assert not any(mark in screen for mark in ISOLATE)


@pytest.mark.parametrize(
    ("copula", "said"),
    [
        (cc.Clayton.from_tau(0.41), "cc.Clayton.from_tau(0.41)"),
        (cc.Clayton(1.4148283084946247), None),
        (cc.Frank(3.0), None),
    ],
)
def test_a_given_copula_is_the_same_by_the_code_of_the_page(split, cox, tmp_path, copula, said):
    train, test = split
    found = cc.evaluate({"a": cox(0, 1)}, test.y, test.X, y_train=train.y, copula=copula, metrics="ibs")
    page = found.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    [code] = re.findall(r"copula=(cc\.\w+(?:\.from_tau)?\([^)]*\))", page)
    assert eval(code, {"cc": cc}) == copula
    assert said in (None, code)
