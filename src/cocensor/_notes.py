"""What was decided or found on the way to a result, as data: codes and values, of which views make sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from cocensor._views import view

#: What was decided where more than one way was open; what makes a result doubtful; why there is none.
Kind = Literal["decision", "caution", "missing"]

_CODES: dict[Kind, str] = {
    "decision": """
        decided after_last_training_time categorical columns_left_out constant_covariates
        constant_in_benchmarks covariates_are_all curve_is_simpler determined_in_benchmarks extreme_in_curve
        extreme_scores few_dropouts files_sorted from_another_library from_kept_rows
        hazard_kept_from_falling horizon_by_times ids_as_integers incomplete index_as_id index_left_out
        intervals_are_about levels_grouped matched_by_labels matched_by_position metrics_left_out no_copula_selected
        no_risk_score no_training_sample not_learned nuisance_models numbered_rows paper_needs_archimedean penalised
        probability_floored put_in_order read_as read_in_parts resampled rounded score_times scores_shrunk
        single_times steps_instead
    """,
    "caution": """
        warned copula_assumed copula_unused few_for_benchmarks imputation_misfit no_interval
        no_standard_errors not_converged ranked_across_folds reason_reads_as_end resamples_failed
        ridge_in_benchmarks unit_in_name unmarked_end
    """,
    "missing": """
        no_score metric_failed metric_undefined needs_curves no_benchmarks no_calibration_curve
        no_hazard_ratio no_score_from only_at_one_time refused too_many_reasons
    """,
}
#: The kind of every code.
KINDS: dict[str, Kind] = {code: kind for kind, codes in _CODES.items() for code in codes.split()}


class About(NamedTuple):
    """The adjustment and the model that a note is about; None for all of them."""

    adjustment: str | None = None
    model: str | None = None


_EVERYTHING = About()


@dataclass(frozen=True)
class Note:
    """Something that a reader of a result should know.

    Code decides by ``code``, ``kind`` and what a note is about; its sentence is made by a view.

    Attributes
    ----------
    code : str
        What it says. ``"decided"``, ``"warned"`` and ``"no_score"`` have a sentence of your own as their value
        ``why``; the other codes are the library's.
    about : About
        The adjustment and the model that it is about; None for all of them.
    values : dict
        What the sentence is filled with.

    Examples
    --------
    >>> from cocensor.study import Note
    >>> note = Note("no_score", values={"why": "x_test is needed."}).on(adjustment="imputation_covariates")
    >>> note.kind, note.about.adjustment
    ('missing', 'imputation_covariates')
    >>> print(note)
    x_test is needed.
    """

    code: str
    about: About = _EVERYTHING
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.code not in KINDS:
            raise ValueError(f"code must be one of {', '.join(sorted(KINDS))}, but is {self.code!r}.")

    def __hash__(self) -> int:
        return hash((self.code, self.about))

    @property
    def kind(self) -> Kind:
        """Whether it is a decision, a caution, or says why something is missing."""
        return KINDS[self.code]

    @property
    def text(self) -> str:
        """One or more sentences for people."""
        return str(view("text.notes.note_in_words")(self))

    def on(self, *, adjustment: str | None = None, model: str | None = None) -> Note:
        """Return the note about an adjustment or a model."""
        return replace(self, about=About(adjustment or self.about.adjustment, model or self.about.model))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        own = {"code": self.code, "kind": self.kind, **self.about._asdict()}
        return {**own, "values": dict(self.values), "text": self.text}

    def __str__(self) -> str:
        return self.text


def noted(code: str, /, *, adjustment: str | None = None, model: str | None = None, **values: Any) -> Note:
    """A note with its values as arguments."""
    return Note(code, About(adjustment, model), values)
