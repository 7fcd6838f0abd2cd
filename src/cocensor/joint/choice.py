"""What the choice of a copula family found, and the likelihood behind it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, Progress, make_frame
from cocensor._notes import Note, noted
from cocensor._parallel import one_blas_thread
from cocensor._views import view
from cocensor._warnings import FitWarning
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.copulas.walks import as_taus, walks_from_independence
from cocensor.joint.model import JointModel
from cocensor.joint.problem import JointProblem
from cocensor.joint.profile import DependenceProfile

# Subjects times covariates squared: up to here the profile, some 45 fits to all subjects, takes seconds.
_QUICK_PROFILE = 10_000_000
_FEW_COVARIATES = 10
_DEFAULT_TAUS = np.round(np.arange(-0.9, 0.91, 0.1), 10)


@dataclass(frozen=True, eq=False)
class CopulaChoice:
    """What :func:`select_copula` found; takes the place of a copula in adjustments.

    Attributes
    ----------
    best : JointModel
        The model of the chosen family; ``copula`` is its copula.
    preferred : str
        The family that predicts best; not the chosen one where its ``gain`` over independence, in units of the
        held-out log-likelihood, is below ``min_gain``.
    models : dict of JointModel
        By family.
    table : frame
        Family, θ and τ with their standard errors, mean negative log-likelihood of the training and of the
        validation part, lower is better.

    See Also
    --------
    select_copula : Makes it, with an example.
    """

    best: JointModel
    preferred: str
    gain: float
    min_gain: float
    models: dict[str, JointModel]
    validation: dict[str, float]
    how: str
    problem: JointProblem
    library: Any

    @property
    def copula(self) -> Copula:
        """The chosen copula."""
        return self.best.copula

    @property
    def profile_is_quick(self) -> bool:
        """Whether :meth:`profile` takes seconds rather than minutes."""
        n, p = self.problem.likelihood.n, len(self.problem.design.ridge_of_effects)
        return n * max(p, _FEW_COVARIATES) ** 2 <= _QUICK_PROFILE

    @cached_property
    def table(self) -> Any:
        """One row per family, as the kind of frame that the covariates came in."""

        def column(read: Any) -> list[float]:
            return [float(read(model)) for model in self.models.values()]

        return make_frame(
            {
                "family": list(self.models),
                "theta": column(lambda model: model.copula.theta),
                "theta_se": column(lambda model: model.theta_se_),
                "tau": column(lambda model: model.copula.tau),
                "tau_se": column(lambda model: model.tau_se_),
                "train_nll": column(lambda model: -model.loglik_ / model.n_),
                "validation_nll": [self.validation[name] for name in self.models],
                "converged": [model.converged_ for model in self.models.values()],
                "chosen": [name == self.copula.name for name in self.models],
            },
            library=self.library,
        )

    def profile(
        self, taus: npt.ArrayLike | None = None, progress: Progress | None = None
    ) -> DependenceProfile:
        """The training likelihood at fixed τ, with margins fitted at each, for every family.

        ``taus`` are Kendall's τ, by default from −0.9 to 0.9; a family takes part where it reaches them. Independence
        (τ = 0) is always among them. ``progress`` is called with the number of finished fits and of all.
        """
        grid = np.unique(np.append(_DEFAULT_TAUS if taus is None else as_taus(taus), 0.0))
        families = {name: copula_families()[name] for name in self.models if name != "independence"}
        if not families:
            raise ValueError("families has only independence: there is no τ to profile over.")
        walks = {name: walks_from_independence(family, grid) for name, family in families.items()}
        report = progress or (lambda done, total: None)
        done, total = 0, sum(len(walk) for both in walks.values() for walk in both)
        report(done, total)
        found: dict[str, tuple[FloatArray, FloatArray]] = {}
        notes: list[Note] = []
        with one_blas_thread:
            at_zero = self.problem.loglik(self.problem.independence, Independence())
            for name, family in families.items():
                values = {0.0: at_zero}
                for tau in chain(*walks[name]):
                    copula = family.from_tau(tau)
                    minimum = self.problem.margins_at(copula)
                    values[float(tau)] = self.problem.loglik(minimum, copula)
                    if not minimum.converged:
                        notes.append(noted("not_converged", family=name, tau=float(tau)))
                        warnings.warn(notes[-1].text, FitWarning, stacklevel=2)
                    done += 1
                    report(done, total)
                ordered = sorted(values)
                found[name] = np.array(ordered), np.array([values[tau] for tau in ordered])
        return DependenceProfile(
            found, at_zero, self.problem.likelihood.n, self.library, choice=self, notes=tuple(notes)
        )

    def summary(self) -> str:
        """The table, the choice and its caveat, as text."""
        return view("text.choice_as_text")(self)

    def __repr__(self) -> str:
        return f"CopulaChoice({self.copula!r}, of {', '.join(self.models)}, by {self.how})"
