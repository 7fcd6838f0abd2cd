"""Which copula the likelihood would choose, given the predictions and any covariates: a hint, beside the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from cocensor._checks import escaped
from cocensor._json import finite
from cocensor._notes import Note, noted
from cocensor._views import view
from cocensor._warnings import FitWarning, collected
from cocensor.adjustments import Fitted
from cocensor.adjustments.joint_settings import design_given
from cocensor.adjustments.samples import Samples
from cocensor.data import Survival
from cocensor.joint import CopulaChoice, select_copula
from cocensor.joint.design import Design


@dataclass(frozen=True, eq=False, repr=False)
class CopulaHint:
    """What :func:`select_copula` chose; made by :meth:`Evaluation.suggest_copula`.

    Attributes
    ----------
    choice : CopulaChoice or None
        None where none could be made; ``notes`` say why.
    given : "imputation", "covariates", "nothing" or "own"
        What event and dropout were taken given: what the imputation model conditions on, the covariates of the
        sample, or nothing; "own" where a choice was handed over.
    columns : tuple of str
        The columns of it.
    sample : "test", "training" or None
        Whose outcomes it was chosen by; None where a choice was handed over.
    notes : tuple of Note
    """

    choice: CopulaChoice | None
    given: Literal["imputation", "covariates", "nothing", "own"]
    columns: tuple[str, ...] = ()
    sample: Literal["test", "training"] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def statement(self) -> str:
        """What was chosen, given what, and what to think of it, in words."""
        return view("text.hint_in_words")(self)

    def to_dict(self) -> dict[str, Any]:
        """The candidates and what they were chosen given, as JSON can hold it."""
        found: dict[str, Any] = {
            "given": self.given,
            "columns": list(self.columns),
            "sample": self.sample,
            "statement": self.statement,
            "notes": [note.to_dict() for note in self.notes],
        }
        if self.choice is None:
            return found
        chosen = self.choice.copula
        return found | {
            "family": chosen.name,
            "theta": float(chosen.theta),
            "tau": float(chosen.tau),
            "how": self.choice.how,
            "candidates": [
                {
                    "family": name,
                    "theta": float(model.copula.theta),
                    "tau": float(model.copula.tau),
                    "train_nll": finite(-model.loglik_ / model.n_),
                    "validation_nll": finite(self.choice.validation[name]),
                    "converged": bool(model.converged_),
                    "chosen": name == chosen.name,
                }
                for name, model in self.choice.models.items()
            ],
        }

    def __repr__(self) -> str:
        return escaped(self.statement)


def hinted(samples: Samples, shared: Fitted | None) -> CopulaHint:
    """A copula selected given what the shared imputation conditions on; without one, given the sample's covariates."""
    if shared is not None and shared.design is not None:
        return _selected(shared.design, samples.y_test, "imputation", "test")
    if samples.y_train is None:
        return _selected(samples.x_test, samples.y_test, "covariates", "test")
    return _selected(samples.x_train, samples.y_train, "covariates", "training")


def _selected(
    x: Any, y: Survival, given: Literal["imputation", "covariates"], sample: Literal["test", "training"]
) -> CopulaHint:
    try:
        design = (
            Design.of(x, len(y))
            if x is None or isinstance(x, Design)
            else design_given(x, "x", len(y), "y")[0]
        )
    except ValueError as error:
        return CopulaHint(None, given, (), sample, (noted("no_score", why=str(error)),))
    columns = design.columns or tuple(f"x{k}" for k in range(design.n_columns))
    kind: Literal["imputation", "covariates", "nothing"] = given if columns else "nothing"
    try:
        with collected(FitWarning) as warned:
            choice = select_copula(design, y)
    except ValueError as error:
        return CopulaHint(None, kind, columns, sample, (noted("no_score", why=str(error)),))
    return CopulaHint(choice, kind, columns, sample, tuple(noted("warned", why=text) for text in warned))
