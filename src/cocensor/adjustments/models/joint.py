"""Imputation by a joint model, and what the subjects that it was fitted to add to scores by it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, Rows, check_choice
from cocensor._newton import Minimum
from cocensor._notes import Note, noted
from cocensor._numerics import hazard_from_log
from cocensor._parallel import one_blas_thread
from cocensor.adjustments.base import Adjustment, Fitted, assumed_copula, encoded
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.models.design import ImputationDesign
from cocensor.adjustments.models.hazard_ratio import check_reasons, geometric_mean, later_ratios, resolve
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.weights import EventWeights, Modelled, NothingFitted, cut_where_unknown
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.copulas import Copula, Independence
from cocensor.data import Sample, Survival
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid, shown_time
from cocensor.estimators import CopulaGraphic
from cocensor.joint.after_dropout import HazardRatio, step_quantiles, tau_after_dropout
from cocensor.joint.conditional import Conditional
from cocensor.joint.design import Design
from cocensor.joint.fit import JointProblem
from cocensor.joint.influence import JointInfluence, parameter_gradient
from cocensor.joint.margins import MarginForm
from cocensor.joint.model import JointModel
from cocensor.joint.settings import DEFAULT_MARGINS, AskedTimeKind, Knots, check_settings, resolve_family
from cocensor.warnings import HorizonWarning

if TYPE_CHECKING:
    from cocensor.adjustments.imputation import Imputation


# As many subjects, at most, have the τ of a hazard ratio computed.
_MOST_SUBJECTS = 2_000


@dataclass(eq=False, repr=False, kw_only=True)
class _ImputedByJoint(EventWeights):
    """Weights of subjects of whom some are event-free with the probabilities q given z of a joint model."""

    fitted: ImputationFromJoint
    z: FloatArray
    q: Conditional

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the joint model was fitted to; as they are, also where dropouts count as ends of study."""
        _ = self.fitted.joint.influence  # refuses where it is not known how they move the model
        return self.fitted.y

    @property
    def hazard_ratio(self) -> float | None:
        """The hazard ratio right after leaving that the copula implies, or that is assumed."""
        rows = np.concatenate([imputed.rows for imputed in self.modelled])
        return geometric_mean(self.q.log_hazard_ratio(rows[~self.q.ended[rows]]))

    @property
    def interval_caveats(self) -> tuple[Note, ...]:
        """A cumulative hazard that only the constraint keeps from falling."""
        return (noted("hazard_kept_from_falling"),) if self.fitted.joint.influence.held else ()

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        """Follow the chain rule from q to the parameters of the joint model, and from there to the sample."""
        return self.pull_back_parts(functionals.parts(self))

    def pull_back_parts(self, parts: Iterator[Part]) -> Iterator[tuple[Rows, FloatArray]]:
        """Return what each subject adds to several parts, whose derivatives by the parameters are added up first."""
        influence = self.fitted.joint.influence
        sums: list[FloatArray] = []
        for part in parts:
            if isinstance(part.status, _ImputedByJoint):  # at times before all censorings nothing is imputed
                added = part.status._parameter_gradient(influence.model, part.functionals)
                sums = [one + other for one, other in zip(sums, added, strict=True)] if sums else [*added]
        if not sums:
            return
        gradient, by_shares = sums
        yield from influence.psi(gradient)
        shares = None if self.q.ratio is None else self.q.ratio.influence
        if shares is not None:
            yield np.arange(len(shares)), shares @ by_shares

    def _parameter_gradient(
        self, model: JointModel, functionals: Functionals
    ) -> tuple[FloatArray, FloatArray]:
        """Return derivatives by the parameters of the joint model, and by the shares of hazard ratios."""

        def gains(rows: Rows, columns: slice) -> Iterator[FloatArray]:
            for gradient in functionals.gradients:
                block = gradient.of_subjects(rows).part(columns)
                yield block.event_free - block.event

        imputed = [modelled.in_order for modelled in self.modelled]
        n_models = len(functionals.gradients)
        return parameter_gradient(model, self.q, self.z, imputed, gains, n_models, functionals.time_weights)


@dataclass(frozen=True, eq=False, repr=False)
class FittedJoint(Fitted):
    """An adjustment by a joint model of the subjects ``y``; a copy for others has the model alone."""

    adjustment: Adjustment
    joint: JointFit
    y: Survival | None

    def for_others(self) -> Self:
        """The joint model, which cannot be fitted again: nothing is known of its error."""
        return replace(self, joint=JointFit(self.joint.model, missing=self.joint.missing), y=None)

    def with_copula(self, copula: Any) -> Fitted:
        """Return a fit under another copula, from the fits so far."""
        adjustment, joint = self.adjustment.with_copula(copula), self.joint.with_copula(copula)
        return replace(self, adjustment=adjustment, joint=joint)

    def forget(self) -> None:
        """Give back the designs of the joint model."""
        if self.joint.problem is not None:
            self.joint.problem.likelihood.forget()


@dataclass(frozen=True, eq=False, repr=False)
class ImputationFromJoint(FittedJoint):
    """Imputation by a joint model."""

    adjustment: Imputation
    #: What the subjects that it was fitted to are given, where these are the test subjects.
    design: ImputationDesign | None = None
    notes: tuple[Note, ...] = ()
    #: The ratios of those who drop out later, as they are among the subjects fitted to.
    later: HazardRatio | None = None

    def for_others(self) -> Self:
        """The joint model, and how to read predictions."""
        later = None if self._later is None else replace(self._later, among=None)
        design = None if self.design is None else self.design[:0]
        return replace(super().for_others(), design=design, later=later)

    def with_hazard_ratio(self, ratio: Any) -> Fitted:
        """Return the fit at independence with a hazard ratio."""
        if not self.adjustment.takes_hazard_ratio:
            return super().with_hazard_ratio(ratio)  # refuses
        adjustment = replace(self.adjustment, copula=None, hazard_ratio=ratio)
        assert self.y is not None
        check_reasons(adjustment.hazard_ratio, self.y, "y_train" if self.design is None else "y_test")
        independent = isinstance(self.adjustment.copula, Copula) and self.adjustment.copula.is_independence
        joint = self.joint if independent else self.joint.with_copula(adjustment.copula)
        return replace(self, adjustment=adjustment, joint=joint)

    def tau_after_dropout(self, ratio: float) -> float:
        """Return Kendall's τ given z, a mean over the subjects fitted to, by the margins at independence."""
        problem = self.joint.problem
        if problem is None:
            return super().tau_after_dropout(ratio)
        copula = self.adjustment.copula
        independent = isinstance(copula, Copula) and copula.is_independence
        model = (self.joint if independent else self.joint.with_copula(Independence())).needed
        some = slice(None, None, -(-len(problem.design) // _MOST_SUBJECTS))
        z = problem.design.matrix[some]
        nodes = np.unique(step_quantiles(problem.y.time))
        event, dropout = (
            hazard_from_log(margin.of(z).at(nodes)(slice(None), slice(None)))
            for margin in (model.event, model.dropout)
        )
        return float(tau_after_dropout(ratio, event, dropout).mean())

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Return a fit by case weights, with the same design."""
        rows, adjustment = resample.fitted_to(self.adjustment), self.adjustment
        if isinstance(adjustment.hazard_ratio, np.ndarray):
            adjustment = replace(adjustment, hazard_ratio=adjustment.hazard_ratio[resample.test])
        assert self.y is not None
        joint = self.joint.resampled(rows, self.adjustment.copula)
        design = None if self.design is None else self.design[rows]
        return replace(self, adjustment=adjustment, joint=joint, y=self.y[rows], design=design)

    def weights_for(
        self, sample: Sample, grid: TimeGrid, predictions: Any, whole: WholeSample
    ) -> EventWeights:
        """Return the weights of a sample, or of a part of the ``whole``, at the times of a grid."""
        y, x = sample.y, sample.x
        cut, unknown = cut_where_unknown(y, grid)
        if not unknown.any():
            return NothingFitted(grid, cut, notes=self.notes)
        model = self.joint.needed
        if self.design is None:
            z = model.covariates(x, len(y), "x_test", "y_test")
        elif predictions is None:
            # Nothing says what others are given than the subjects that were fitted to.
            if self.y is None:
                raise ValueError("predictions are needed: the joint model conditions on them.")
            n = len(self.y)
            if not (np.array_equal(y.time, self.y.time) and np.array_equal(y.event, self.y.event)):
                why = "their outcomes differ" if len(y) == n else f"has {len(y)}"
                raise ValueError(
                    f"y_test must hold the {n} subjects of the fit, but {why}: others need predictions."
                )
            z = self.design.matrix
        else:
            z = self.design.matrix_of(len(y), x, predictions)
        ratio = resolve(self.adjustment.hazard_ratio, y, self._later, whole)
        ended = ~y.dropout
        if ratio is None and not model.dropout.basis.present:
            # Without a margin of the dropout a copula says nothing of it.
            ended = np.ones(len(y), dtype=bool)
        q = Conditional(model, grid.sorted, y.time, z, ended, ratio)
        modelled = []
        for kind, late in ((q.ended, True), (~q.ended, False)):
            rows = np.flatnonzero(unknown & kind)
            modelled.append(Modelled(rows, cut[rows], q, placed=partial(q.placed, rows=rows, ended=late)))
        parts: dict[str, Any] = {"modelled": tuple(modelled), "notes": self.notes, "model": model}
        return _ImputedByJoint(grid, cut, fitted=self, z=z, q=q, **parts)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        """Return the weights as they are; warns of times beyond the data of the joint model."""
        model, last = self.joint.model, weights.grid.last
        if model is not None and whole.first_censored < last and last > model.t_max_:
            warnings.warn(
                f"times pass {shown_time(model.t_max_)}, the last time in the data of the joint model: beyond "
                "it the margins are extrapolated.",
                HorizonWarning,
                stacklevel=3,
            )
        return weights

    @cached_property
    def _later(self) -> HazardRatio | None:
        """The ratios of those who drop out later."""
        return self.later if self.y is None else later_ratios(self.adjustment.hazard_ratio, self.y)


#: Why nothing is known of the error that a fit brings in.
FITTED_ELSEWHERE = "the joint model was fitted elsewhere, and its settings are unknown."


@dataclass(frozen=True, eq=False, kw_only=True)
class JointSettings:
    """The settings of :func:`fit_joint` but for the copula; ``model`` is a fitted model to use instead."""

    margins: MarginForm = DEFAULT_MARGINS
    knots: Knots = "auto"
    penalty: float | None = None
    time_kind: AskedTimeKind = "auto"
    model: JointModel | None = None

    def checked(self, copula: Any, given: bool) -> Any:
        """Return the copula assumed; refuses settings that nothing can be fitted with, or a model beside a copula."""
        check_choice(self.time_kind, "time_kind", ("auto", "continuous", "grouped"))
        check_settings(self.margins, self.penalty, self.knots, self.time_kind)
        if self.model is not None:
            if not isinstance(self.model, JointModel):
                raise TypeError(f"model must be a JointModel, but is of type {type(self.model).__name__}.")
            if copula is not None and copula != self.model.copula:
                raise ValueError(f"copula must be None where a model is given, but is {copula!r}.")
            copula = self.model
        copula = assumed_copula(copula)
        if given:
            resolve_family(copula)  # refuses what is no copula
        else:
            CopulaGraphic(copula)  # refuses a copula without a graphic form
        return copula

    def given_covariates(self, copula: Any, x: Any, y: Survival) -> tuple[JointFit, tuple[Note, ...]]:
        """Return the joint model of the training sample, and what was left out of its covariates."""
        notes: tuple[Note, ...] = ()
        if self.model is None:
            x, notes = design_given(x, "x_train", len(y), "y_train")
        return JointFit.of(self, copula, x, y, "x_train and y_train"), notes


@dataclass(frozen=True, eq=False)
class JointFit:
    """A joint model and the sample that it was fitted to; or why it is ``missing``, where perhaps nobody needs it."""

    model: JointModel | None
    problem: JointProblem | None = None
    missing: str = ""
    optimum: Minimum | None = None

    @classmethod
    def of(cls, form: JointSettings, copula: Any, X: Any, y: Survival, sample: str) -> JointFit:
        """The model that is given, or one of this form fitted to ``X`` and ``y``."""
        if form.model is not None:
            return cls(form.model)
        try:
            problem = JointProblem.of(
                X, y, margins=form.margins, penalty=form.penalty, knots=form.knots, time_kind=form.time_kind
            )
            return cls(None, problem).with_copula(copula)
        except ValueError as error:
            missing = f"the joint model cannot be fitted to {sample}: {error}"
            # Without events, or censorings before the last time, there may be none; whether one is needed shows later.
            if not y.n_events or (y.event | (y.time == y.t_max)).all():
                return cls(None, missing=missing)
            raise ValueError(missing) from error

    def with_copula(self, copula: Any) -> JointFit:
        """Return a fit to the same sample under another copula, starting from the fits so far."""
        if self.problem is None:
            return self
        with one_blas_thread:
            optimum, model = self.problem.optimum(*resolve_family(copula))
        return JointFit(model, self.problem, optimum=optimum)

    def resampled(self, rows: Rows, copula: Any) -> JointFit:
        """Return a fit to ``rows`` of the sample by case weights, with the same design, knots and kind of times."""
        if self.model is None:
            return self
        if self.problem is None:
            raise ValueError(FITTED_ELSEWHERE)
        weight = np.bincount(rows, minlength=len(self.problem.design))
        return replace(self, problem=self.problem.weighted(weight, ridge="refit")).with_copula(copula)

    @property
    def influence(self) -> JointInfluence:
        """The influence of the sample on the model, or a refusal that says why it is not known."""
        if self.problem is None or self.optimum is None or self.problem.likelihood.weight is not None:
            raise ValueError(FITTED_ELSEWHERE)
        model = self.needed
        if not self.optimum.converged:
            raise ValueError("the joint model did not converge.")
        if self.optimum.bound:
            at = f"τ = {model.copula.tau:.2g}"
            raise ValueError(f"the dependence of the joint model is at its bound, {at}.")
        return JointInfluence(self.problem, self.optimum, model)

    @property
    def needed(self) -> JointModel:
        """The model, or a refusal that says why there is none."""
        if self.model is None:
            raise ValueError(self.missing)
        return self.model


def design_given(x: Any, name: str, n: int, of: str) -> tuple[Design, tuple[Note, ...]]:
    """Covariates as a joint model is given them, and what was left out of them."""
    if x is None:
        raise ValueError(f"{name} is needed: the joint model conditions on covariates.")
    encoding, matrix, notes = encoded(x, name, n, of)
    return Design.encoded(encoding, matrix), notes
