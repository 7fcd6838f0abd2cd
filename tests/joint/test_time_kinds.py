"""Events and ends of study that are recorded in different units."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.joint.settings import as_time_kind

COPULA = cc.Clayton.from_tau(0.75)
DAYS = 365.25
MONTH = DAYS / 12


def study(n, seed, *, event_unit, end_unit):
    """Exponential events given x, dropout with a copula, ends of study between 3 and 6 years, each in its unit."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    u, v = COPULA.sample(n, rng).T
    latent = 4.0 * DAYS * -np.log(u) * np.exp(-0.8 * x)
    dropout = 4.0 * DAYS * -np.log(v) * np.exp(-0.4 * x)
    end = np.ceil(rng.uniform(3.0, 6.0, n) * DAYS / end_unit) * end_unit
    event, dropout = (np.ceil(each / event_unit) * event_unit for each in (latent, dropout))
    return x, event, cc.Survival.from_latent(event, dropout, end)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("event_unit", "end_unit", "kind"),
    [(MONTH, 1.0, "grouped"), (1.0, DAYS, "continuous"), (MONTH, DAYS, "grouped"), (1.0, 1.0, "continuous")],
    ids=["months, days", "days, years", "months, years", "days, days"],
)
def test_the_unit_of_the_ends_of_study_does_not_matter(event_unit, end_unit, kind):
    """The kind is that of events and dropouts, and the imputed score is right within its standard error."""
    times = np.linspace(0.0, 4 * DAYS, 25)[1:]
    errors, of_ipcw = [], []
    for seed in range(6):
        x, event, y = study(1_500, seed, event_unit=event_unit, end_unit=end_unit)
        assert as_time_kind(y, "auto")[0] == kind
        curves = np.exp(-np.outer(np.exp(0.8 * x), times) / (4.0 * DAYS))

        def score(adjustment, y=y, curves=curves):
            return cc.integrated_brier_score(y, y, curves, times, adjustment=adjustment)

        truth = score(cc.Oracle(event))
        errors.append(score(cc.Imputation("everything", COPULA)) - truth)
        of_ipcw.append(score(cc.IPCW()) - truth)
    errors, of_ipcw = np.array(errors), np.array(of_ipcw)
    assert abs(errors.mean()) < 3 * errors.std(ddof=1) / np.sqrt(errors.size) + 0.001
    assert np.abs(errors).mean() < 0.5 * np.abs(of_ipcw).mean()
