"""Views show what was computed: they fit nothing, and change nothing."""

import pytest

import cocensor as cc
from cocensor.joint.fit import JointProblem
from cocensor.simulate import SyntheticDesign
from cocensor.study.report import Report
from cocensor.views.numbers import sensitivity_numbers


def evaluated(**asked):
    """An evaluation with covariates, and its sensitivity analysis over a few τ."""
    data = SyntheticDesign(n=300, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    train, test = data[:150], data[150:]
    models = {
        f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for k in (1, 3)
    }
    result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics=["ibs", "auc"])
    return result, result.sensitivity(["clayton", "frank"], [0.0, 0.3, 0.6], **asked)


@pytest.fixture
def fits(monkeypatch):
    """The models that are fitted from here on, as they come."""
    counted = []

    def counting(model, method):
        fit = getattr(model, method)

        def counted_fit(self, *args, **options):
            counted.append(model.__name__)
            return fit(self, *args, **options)

        monkeypatch.setattr(model, method, counted_fit)

    counting(cc.CoxPH, "fit")
    counting(JointProblem, "optimum")
    return counted


@pytest.mark.parametrize("asked", [{}, {"plausible": (0.0, 0.3)}])
def test_views_fit_nothing(fits, tmp_path, asked):
    result, sensitivity = evaluated(**asked)
    assert {"CoxPH", "JointProblem"} == set(fits)  # the count works
    fits.clear()
    views = [
        lambda: repr(result),
        result._repr_html_,
        lambda: str(result.verdict),
        Report(result, sensitivity).to_dict,
        lambda: result.to_html(tmp_path / "page.html", sensitivity=sensitivity),
        lambda: repr(sensitivity),
        lambda: sensitivity.statement,
        lambda: str(sensitivity.verdict),
        lambda: sensitivity_numbers(sensitivity),
        sensitivity.table,
        sensitivity.tipping_table,
        sensitivity.plot,
        sensitivity.plot_differences,
        lambda: sensitivity.over_tau.uncertainty(0.0, 0.2, "1", "3"),
    ]
    for view in views:
        view()
        assert fits == []


def test_what_was_looked_at_before_changes_no_byte_of_the_page(tmp_path):
    seen, fresh = Report(*evaluated()), Report(*evaluated())
    seen.evaluation.to_html(tmp_path / "first.html", sensitivity=seen.sensitivity)
    seen.evaluation.sensitivity("frank", [0.0, 0.3])
    repr(seen.sensitivity)
    repr(seen.evaluation)
    seen.sensitivity.plot()
    pages = [each.to_html(tmp_path / f"{k}.html").read_bytes() for k, each in enumerate((seen, fresh))]
    assert pages[0] == pages[1] == (tmp_path / "first.html").read_bytes()
    assert seen.to_json() == fresh.to_json() == seen.to_json()
    alone = [each.evaluation.to_html(tmp_path / f"{k}.html") for k, each in enumerate((seen, fresh))]
    assert alone[0].read_bytes() == alone[1].read_bytes() != pages[0]


def test_the_page_has_the_benchmarks_behind_the_plausible_range(tmp_path):
    result, sensitivity = evaluated()
    page = result.to_html(tmp_path / "page.html", sensitivity=sensitivity).read_text(encoding="utf-8")
    assert sensitivity.benchmarks.together == result.benchmarks().together
    numbers = Report(result, sensitivity).to_dict()
    assert numbers["plausible_tau"]["together"] == sensitivity.benchmarks.together
    assert "would take a hidden factor" in page
