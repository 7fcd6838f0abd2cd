"""Who is event-free by a joint model, and how that moves with the subjects that the model was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, Rows
from cocensor._newton import Minimum
from cocensor._notes import Note, noted
from cocensor.adjustments.base import Fitted, always_event_free
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.hazard_ratio import (
    LaterRatios,
    check_reasons,
    geometric_mean,
    later_ratios,
    resolve,
)
from cocensor.adjustments.imputation_columns import ImputationDesign
from cocensor.adjustments.joint_settings import FITTED_ELSEWHERE, JointFit
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.status import EventWeights, Group, NothingFitted
from cocensor.adjustments.weights import EVENT, EVENT_FREE, Imputed
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.copulas import Copula
from cocensor.data import Sample, Survival
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid, shown_time
from cocensor.joint.conditional import Conditional
from cocensor.joint.influence import JointInfluence, parameter_gradient
from cocensor.joint.model import JointModel
from cocensor.joint.problem import JointProblem
from cocensor.warnings import HorizonWarning

if TYPE_CHECKING:
    from cocensor.adjustments.imputation import Imputation


class ImputedByJoint(EventWeights):
    """A status with ``imputed`` groups of subjects, event-free with the probabilities q given z of a joint model."""

    def __init__(
        self,
        *args: Any,
        fit: JointFit,
        y: Survival | None,
        z: FloatArray,
        q: Conditional,
        imputed: list[Group],
        **settings: Any,
    ) -> None:
        super().__init__(*args, model=fit.model, **settings)
        self._fit, self._y, self._z, self._q, self._imputed = fit, y, z, q, imputed

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the joint model was fitted to; as they are, also where dropouts count as ends of study."""
        self._check_known()
        return self._y

    @property
    def hazard_ratio(self) -> float | None:
        """By the copula, or as assumed."""
        rows = np.concatenate([group.rows for group in self._imputed])
        return geometric_mean(self._q.log_hazard_ratio(rows[~self._q.ended[rows]]))

    @property
    def interval_caveats(self) -> tuple[Note, ...]:
        """A cumulative hazard that only the constraint keeps from falling."""
        return (noted("hazard_kept_from_falling"),) if self._influence.held else ()

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        """By the chain rule: from q to the parameters of the joint model, and from there to the sample."""
        return self.pull_back_parts(iter([Part(self, functionals, slice(None))]))

    def pull_back_parts(self, parts: Iterator[Part]) -> Iterator[tuple[Rows, FloatArray]]:
        """The same of several parts, whose derivatives by the parameters are added up first."""
        influence = self._influence
        # At times before all censorings nothing is imputed.
        found = [
            part.status._parameter_gradient(influence.model, part.functionals)
            for part in parts
            if isinstance(part.status, ImputedByJoint)
        ]
        if not found:
            return
        gradient, by_shares = (sum(each, np.zeros(())) for each in zip(*found, strict=True))
        yield from influence.psi(gradient)
        shares = None if self._q.ratio is None else self._q.ratio.influence
        if shares is not None:
            yield np.arange(len(shares)), shares @ by_shares

    def _parameter_gradient(
        self, model: JointModel, functionals: Functionals
    ) -> tuple[FloatArray, FloatArray]:
        """How values move with the parameters of the joint model, and with the shares of hazard ratios."""

        def gains(rows: Rows, columns: slice) -> Iterator[FloatArray]:
            for gradient in functionals.gradients:
                block = gradient.of_subjects(rows).part(columns)
                yield block.event_free - block.event

        return parameter_gradient(
            model,
            self._q,
            self._z,
            [group.in_order for group in self._imputed],
            gains,
            len(functionals.gradients),
            functionals.time_weights,
        )

    @property
    def _influence(self) -> JointInfluence:
        """How the sample moves the model, where that is known."""
        return JointInfluence(*self._check_known(), self._fit.needed)

    def _check_known(self) -> tuple[JointProblem, Minimum]:
        """The fit, where it is known how the sample moves it; else a refusal."""
        problem, optimum, model = self._fit.problem, self._fit.optimum, self._fit.needed
        if problem is None or optimum is None or problem.sample_weight is not None:
            raise ValueError(FITTED_ELSEWHERE)
        if not optimum.converged:
            raise ValueError("the joint model did not converge.")
        if optimum.bound:
            raise ValueError(
                f"the dependence of the joint model is at its bound, τ = {model.copula.tau:.2g}."
            )
        return problem, optimum


@dataclass(frozen=True, eq=False, repr=False)
class ImputationFromJoint(Fitted):
    """Imputation by a joint model."""

    adjustment: Imputation
    joint: JointFit
    #: The subjects that it was fitted to; None in a copy for others.
    y: Survival | None
    #: What the subjects that it was fitted to are given, where these are the test subjects.
    design: ImputationDesign | None = None
    notes: tuple[Note, ...] = ()
    #: The ratios of those who drop out later, as they are among the subjects fitted to.
    later: LaterRatios | None = None

    def for_others(self) -> Fitted:
        """The joint model, and how to read predictions."""
        later = None if self._later is None else replace(self._later, among=None)
        design = None if self.design is None else self.design[:0]
        return replace(self, joint=self.joint.model_alone, y=None, design=design, later=later)

    def forget(self) -> None:
        """The designs of the joint model."""
        if self.joint.problem is not None:
            self.joint.problem.likelihood.forget()

    def with_copula(self, copula: Any) -> Fitted:
        """Fitted again, from the fits so far."""
        return replace(
            self, adjustment=self.adjustment.with_copula(copula), joint=self.joint.with_copula(copula)
        )

    def with_hazard_ratio(self, ratio: Any) -> Fitted:
        """The same fit at independence."""
        if not self.adjustment.takes_hazard_ratio:
            return super().with_hazard_ratio(ratio)  # refuses
        adjustment = replace(self.adjustment, copula=None, hazard_ratio=ratio)
        assert self.y is not None
        check_reasons(adjustment.hazard_ratio, self.y, "y_train" if self.design is None else "y_test")
        independent = isinstance(self.adjustment.copula, Copula) and self.adjustment.copula.is_independence
        joint = self.joint if independent else self.joint.with_copula(adjustment.copula)
        return replace(self, adjustment=adjustment, joint=joint)

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Fitted by case weights, with the same design."""
        rows, adjustment = resample.fitted_to(self.adjustment), self.adjustment
        if isinstance(adjustment.hazard_ratio, np.ndarray):
            adjustment = replace(adjustment, hazard_ratio=adjustment.hazard_ratio[resample.test])
        assert self.y is not None
        return replace(
            self,
            adjustment=adjustment,
            joint=self.joint.resampled(rows, self.adjustment.copula),
            y=self.y[rows],
            design=None if self.design is None else self.design[rows],
        )

    def weights_for(
        self, sample: Sample, grid: TimeGrid, predictions: Any, whole: WholeSample
    ) -> EventWeights:
        """Return the weights of a sample, or of a part of the ``whole``, at the times of a grid."""
        y, x = sample.y, sample.x
        # Whoever is censored after the last time asked for is event-free at all of them.
        asked = ~y.event & (y.time < grid.last)
        cut = grid.cut(y.time)
        groups = [
            Group.of(np.flatnonzero(y.event), cut, EVENT_FREE, EVENT),
            always_event_free(np.flatnonzero(~y.event & ~asked), len(y), grid),
        ]
        if not asked.any():
            return NothingFitted(grid, len(y), tuple(groups), notes=self.notes)
        model = self.joint.needed
        if self.design is None:
            z = model.covariates(x, len(y), "x_test", "y_test")
        elif predictions is None:
            self._check_subjects(y)
            z = self.design.matrix
        else:
            z = self.design.matrix_of(len(y), x, predictions)
        ratio = resolve(self.adjustment.hazard_ratio, y, self._later, whole)
        ended = ~y.dropout
        if ratio is None and not model.dropout.basis.present:
            # Without a margin of the dropout a copula says nothing of it.
            ended = np.ones(len(y), dtype=bool)
        q = Conditional(model, grid.sorted, y.time, z, ended, ratio)
        imputed = [
            Group.of(np.flatnonzero(asked & kind), cut, EVENT_FREE, Imputed(q, partial(q.placed, ended=late)))
            for kind, late in ((q.ended, True), (~q.ended, False))
        ]
        return ImputedByJoint(
            grid,
            len(y),
            (*groups, *imputed),
            notes=self.notes,
            fit=self.joint,
            y=self.y,
            z=z,
            q=q,
            imputed=imputed,
        )

    def valid_until(self, load: WeightLoad | None, grid: TimeGrid, whole: WholeSample) -> float:
        """Always; warns of times that nobody's hazard is known at, where these are asked for."""
        model = self.joint.model
        if model is not None and whole.first_censored < grid.last and grid.last > model.t_max_:
            warnings.warn(
                f"times pass {shown_time(model.t_max_)}, the last time in the data of the joint model: beyond "
                "it the margins are extrapolated.",
                HorizonWarning,
                stacklevel=3,
            )
        return np.inf

    def _check_subjects(self, y: Survival) -> None:
        """Refuse others than the subjects that were fitted to, where nothing says what they are given."""
        if self.y is None:
            raise ValueError("predictions are needed: the joint model conditions on them.")
        n, others = len(self.y), "others need predictions"
        if len(y) != n:
            raise ValueError(f"y_test must hold the {n} subjects of the fit, but has {len(y)}: {others}.")
        if not (np.array_equal(y.time, self.y.time) and np.array_equal(y.event, self.y.event)):
            raise ValueError(
                f"y_test must hold the {n} subjects of the fit, but their outcomes differ: {others}."
            )

    @cached_property
    def _later(self) -> LaterRatios | None:
        """Of those who drop out later."""
        return self.later if self.y is None else later_ratios(self.adjustment.hazard_ratio, self.y)
