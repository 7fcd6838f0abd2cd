"""Imputation: the chance that a censored subject is event-free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

from cocensor._checks import check_choice, check_whole
from cocensor._notes import noted
from cocensor.adjustments.base import Adjustment, Fitted, Hold, Need
from cocensor.adjustments.models.design import Recipe, check_score_times, imputation_design
from cocensor.adjustments.models.hazard_ratio import as_hazard_ratio, check_reasons, in_words
from cocensor.adjustments.models.joint import ImputationFromJoint, JointFit, JointSettings
from cocensor.adjustments.models.learned import Learned
from cocensor.adjustments.models.margins import ImputationFromMargins
from cocensor.copulas import Copula
from cocensor.data import Sample, Survival
from cocensor.data.predictions import Predicted
from cocensor.estimators import CopulaGraphic
from cocensor.joint.settings import resolve_family

# With fewer there is no margin of the dropout.
_FEWEST_DROPOUTS = 5
#: How the imputation model reads predictions where it is given everything.
_SMOOTH = Recipe(score_times="auto", score_df=3, time_varying=True, shrink=True, learned="auto")
Given = Literal["covariates", "prediction", "predictions", "everything"]
_GIVEN = ("covariates", "prediction", "predictions", "everything")


@dataclass(frozen=True, eq=False)
class Imputation(JointSettings, Adjustment):
    r"""A censored subject is event-free at t with the probability :math:`q_i(t)`: :math:`a = q`, :math:`b = 1 - q`.

    .. math:: q_i(t) = P(E > t \mid E > c_i, C = c_i, z_i),

    and :math:`P(E > t \mid E > c_i, C > c_i, z_i)` after an administrative censoring. What is *given*, z, decides how
    the law of (E, C) is fitted. What is imputed follows the subject through z: that is what imputation from the margins
    alone lacks, and what keeps the loss of a good model from being overstated.

    Parameters
    ----------
    given : str or sequence of str
        What is known of a subject beside its outcome; nothing by default.

        - ``()``: Copula-Graphic margins of the training outcomes.
        - ``"covariates"``: z = x, with a joint model fitted to the training sample.
        - ``"prediction"``: :math:`z = \log(-\log \hat S_i(t_0))`, the risk score of the model that is scored, with a
          joint model fitted to the *test* outcomes: a score depends on the data only through (E, C) and the
          prediction, so neither covariates nor training data are needed. Each model has its own weights.
        - ``"predictions"``: the risk scores of all models at once, with one joint model, fitted to the test outcomes,
          and the same weights for all.
        - ``"everything"``: the predictions of all models, and the covariates where there are any, with one joint model,
          fitted to the test outcomes, and the same weights for all.
    copula : Copula, family, name, CopulaChoice or JointModel, optional
        The dependence of E and C that is left given z; independence by default. A family (or its name) has its θ
        estimated, which rests on the form of the margins alone. Given nothing it must be an Archimedean copula.
    conditioning : {"dropout", "event_free"}
        ``"event_free"`` forgets that the subject dropped out and takes :math:`q = S_E(t)/S_E(c)`: the paper's CG-Q,
        given nothing.
    tail : {"last"} or None
        Given nothing: hold curves at their last value beyond the last training time, or refuse.
    score_times : int, sequence of float or "auto"
        At which times predictions are read, or how many of them, at equally spaced quantiles of the observed times
        (1: the median). "auto", the default given everything: the median, and beside it those of the other quartiles
        where the score at the median explains less than 95 % of the variance of the score there.
    score_df : int
        The degrees of freedom of the natural spline by which a score acts: 1 is a straight line. By default 3 given
        everything, else 1.
    time_varying : bool
        Whether the effects of scores and covariates change with log time, in both margins: without it, imputation
        favours models with proportional hazards. By default given everything.
    shrink : bool
        Whether ridges shrink all effects but the linear ones of scores, which would bias the verdict. Scores at further
        times, covariates, curvature and changes with time have one each, in each margin, with weights by marginal
        likelihood at independence, kept for all copulas. Where there are fewer than ten events or dropouts for each
        score, the scores that add least are shrunk as well. By default given everything.
    learned : bool or "auto"
        Whether scores of event and dropout that are learned from the covariates enter beside them, with a ridge of
        their own: gradient boosting, each subject predicted by trees that were fitted without its fold, from the test
        and the training sample together. They tell what no linear form knows. "auto", the default given everything,
        learns a score from 100 events, or dropouts, on. Influence functions hold the trees fixed.
    hazard_ratio : float, mapping or array, optional
        Given something, at independence: by what the hazard is multiplied from a dropout on, against those alike who
        are still under observation: :math:`q_i(t) = [S_E(t \mid z)/S_E(c_i \mid z)]^\rho`. One ρ for all; by reason of
        the dropout, with 1 for reasons that are not named; or one for each test subject. Whoever was under observation
        at the end of the study may have dropped out later: see the notes.
    margins, knots, penalty, time_kind, model
        Of the joint model, as in :func:`fit_joint`; or, given covariates, a fitted one.

    Notes
    -----
    Columns that are constant, or that others explain, leave the design; a prediction of exactly 0 or 1 is given
    the most extreme score of the others, for the score only. ``notes`` records all of it, and ``weights.model`` is the
    joint model. A time of 0 says nothing of a hazard: an event then has happened, and of a dropout nothing is known, so
    that :math:`q = S_E(t \mid z)`. Given nothing, on the fitting sample and without administrative censoring, the mean
    of a is :math:`S_E(t)` exactly.

    With a ``hazard_ratio`` ρ, who was under observation when the study ended, at a, may have dropped out later. With Λ
    and M the cumulative hazards of event and dropout given z, and :math:`\Pi = e^{-\Lambda - M}`,

    .. math:: q(t) = \frac{\Pi(t)}{\Pi(a)}
        + \int_a^t \frac{\Pi(s)}{\Pi(a)}\, e^{-\rho[\Lambda(t) - \Lambda(s)]}\, dM(s).

    By reason of the dropout it is the mean of these, each weighed by the share of its reason among the dropouts of the
    sample that was fitted to. It is right to about 1e-5; with grouped times, where events come before dropouts at the
    end of each group, exactly.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor import Imputation
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=4000, n_features=3, copula=cc.Clayton(2.0)).draw(0)
    >>> train, test = data[:2000], data[2000:]
    >>> times = cc.time_grid(train.y, n=20, horizon={"at_risk": 0.1})
    >>> curves = cc.CoxPH().fit(train.X, train.y).survival(times, test.X)
    >>> def score(adjustment):
    ...     return cc.integrated_brier_score(train.y, test.y, curves, times, adjustment=adjustment)
    >>> truth = score(cc.Oracle(test.event_time))
    >>> for adjustment in (cc.IPCW(), Imputation("prediction", cc.Clayton(2.0))):
    ...     print(f"{score(adjustment) - truth:+.4f}")
    -0.0106
    -0.0019

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival models.
    *UAI*.
    """

    given: tuple[Given, ...] | Given = ()
    copula: Any = None
    conditioning: Literal["dropout", "event_free"] = "dropout"
    tail: Hold = None
    score_times: int | Sequence[float] | Literal["auto"] | None = None
    score_df: int | None = None
    time_varying: bool | None = None
    shrink: bool | None = None
    learned: Learned | None = None
    hazard_ratio: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", _as_given(self.given))
        default = _SMOOTH if self.given == ("everything",) else Recipe()
        for setting in fields(Recipe):
            if getattr(self, setting.name) is None:
                object.__setattr__(self, setting.name, getattr(default, setting.name))
        check_whole(self.score_df, "score_df")
        if not isinstance(self.learned, bool):
            check_choice(self.learned, "learned", ("auto",))
        if self.learned and self.given not in (("everything",), ("covariates", "predictions")):
            rule = "learned must be False unless the predictions of all models are given beside covariates"
            raise ValueError(f"{rule}, but is {self.learned!r}.")
        check_choice(self.conditioning, "conditioning", ("dropout", "event_free"))
        if self.tail is not None:
            check_choice(self.tail, "tail", ("last",))
        object.__setattr__(self, "score_times", check_score_times(self.score_times))
        if self.model is not None and self.given != ("covariates",):
            why = "it is fitted to the test outcomes"
            raise ValueError(f"model must be None unless given is 'covariates': {why}.")
        object.__setattr__(self, "copula", self.checked(self.copula, bool(self.given)))
        if self.given and self.conditioning == "event_free":
            raise ValueError(f"conditioning must be 'dropout' given {' and '.join(self.given)}.")
        object.__setattr__(self, "hazard_ratio", as_hazard_ratio(self.hazard_ratio))
        if self.hazard_ratio is not None:
            if not self.given:
                raise ValueError("hazard_ratio must be None where nothing is given: it needs a joint model.")
            if not (isinstance(self.copula, Copula) and self.copula.is_independence):
                rule = "copula must be independence where there is a hazard_ratio"
                raise ValueError(f"{rule}, but is {self.copula!r}.")

    @property
    def assumption(self) -> str:
        """The assumption behind the adjustment, in one sentence."""
        if not self.given:
            return (
                "Event and dropout have the stated copula, and the predictions add no information "
                "to the censoring time."
            )
        names = {
            "covariates": "the covariates",
            "prediction": "the evaluated model's own risk score",
            "predictions": "the risk scores of all models",
            "everything": "the risk scores of all models and any covariates",
        }
        z = " and ".join(names[kind] for kind in self.given)
        if self.hazard_ratio is not None:
            times = in_words(self.hazard_ratio)
            return (
                f"Given {z}, event and dropout are independent up to the dropout, with margins of the "
                f"stated form. After dropout, the hazard is {times} that of similar subjects still "
                "under observation."
            )
        stated = isinstance(self.copula, Copula)
        family = resolve_family(self.copula)[0].name
        copula = "the stated copula" if stated else f"a {family} copula with θ estimated"
        return f"Given {z}, event and dropout have {copula} and margins of the stated form."

    @property
    def needs(self) -> frozenset[Need]:
        """The inputs that are given; covariates are not needed where "everything" is."""
        return frozenset("predictions" if kind == "everything" else kind for kind in _as_given(self.given))

    @property
    def counts_in_ranking(self) -> bool:
        """False given nothing: what is imputed from margins alone does not follow the subject."""
        return bool(self.given)

    @property
    def rests_on_copula(self) -> bool:
        """False where a hazard ratio after dropout is assumed instead."""
        return super().rests_on_copula and self.hazard_ratio is None

    @property
    def takes_hazard_ratio(self) -> bool:
        """True given something, unless a model is that was fitted under dependence."""
        return bool(self.given) and (self.model is None or self.model.copula.is_independence)

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        y, x = sample.y, sample.x
        if not self.given:
            return ImputationFromMargins(self, sample, CopulaGraphic(self.copula).fit(y, sample.weight))
        if self.given == ("covariates",):
            check_reasons(self.hazard_ratio, y, "y_train")
            fit, notes = self.given_covariates(self.copula, sample)
            return ImputationFromJoint(self, fit, sample, notes=notes)
        if "covariates" in self.given and x is None:
            raise ValueError("x_test is needed: the joint model conditions on covariates.")
        if not predictions:
            raise ValueError("predictions are needed: the joint model conditions on them.")
        check_reasons(self.hazard_ratio, y, "y_test")
        covariates = x if {"covariates", "everything"} & set(self.given) else None
        recipe = Recipe(**{setting.name: getattr(self, setting.name) for setting in fields(Recipe)})
        n_dropouts, few, seen = int(y.dropout.sum()), [], y
        if 0 < n_dropouts < _FEWEST_DROPOUTS and y.n_events:
            few = [noted("few_dropouts", n=n_dropouts)]
            seen = Survival.trusted(y.time, y.event, ~y.event, labels=y.labels)
        design, notes = imputation_design(replace(sample, y=seen, x=covariates), predictions, recipe)
        fit = JointFit.of(self, self.copula, replace(sample, y=seen, x=design), "y_test")
        return ImputationFromJoint(self, fit, sample, design, (*notes, *few))


def _as_given(given: Any) -> tuple[Given, ...]:
    if not isinstance(given, str | tuple | list):
        raise TypeError(f"given must be a string or several, but is of type {type(given).__name__}.")
    kinds = (given,) if isinstance(given, str) else tuple(given)
    for kind in kinds:
        check_choice(kind, "given", _GIVEN)
    alone = [kind for kind in _GIVEN[1:] if kind in kinds]
    if len(alone) > 1 or ("everything" in alone and len(kinds) > 1):
        raise ValueError(f"given must have at most one of {', '.join(_GIVEN[1:])}, but is {given!r}.")
    return cast("tuple[Given, ...]", tuple(kind for kind in _GIVEN if kind in kinds))
