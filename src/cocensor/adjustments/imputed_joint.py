"""Who is event-free by a joint model, and how that moves with the subjects that the model was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cocensor._newton import Minimum
from cocensor._validation import FloatArray, Rows
from cocensor.adjustments.gradient import Functionals
from cocensor.adjustments.hazard_ratio import geometric_mean
from cocensor.adjustments.joint_settings import FITTED_ELSEWHERE, JointFit
from cocensor.adjustments.status import Group, Status
from cocensor.joint.conditional import Conditional
from cocensor.joint.influence import JointInfluence, parameter_gradient
from cocensor.joint.problem import JointProblem
from cocensor.outcomes import Survival


class ImputedByJoint(Status):
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
    def doubts(self) -> tuple[str, ...]:
        """A cumulative hazard that only the constraint keeps from falling."""
        if not self._influence.held:
            return ()
        return (
            "A cumulative hazard of the joint model is kept from falling: only the bootstrap allows for it.",
        )

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        """By the chain rule: from q to the parameters of the joint model, and from there to the sample."""
        influence = self._influence

        def gains(rows: Rows, columns: slice) -> Iterator[FloatArray]:
            for gradient in functionals.gradients:
                block = gradient.of_subjects(rows).part(columns)
                yield block.event_free - block.event

        gradient, by_shares = parameter_gradient(
            influence.model,
            self._q,
            self._z,
            [(group.rows, group.cut) for group in self._imputed],
            gains,
            len(functionals.gradients),
            functionals.time_weights,
        )
        yield from influence.psi(gradient)
        shares = None if self._q.ratio is None else self._q.ratio.influence
        if shares is not None:
            yield np.arange(len(shares)), shares @ by_shares

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
