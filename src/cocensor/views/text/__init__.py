"""Results in words: one narrator for terminal, notebook and page."""

from cocensor.views.text.bounds import bounds_as_text, bounds_in_words
from cocensor.views.text.checks import check_in_words
from cocensor.views.text.evaluation import (
    evaluation_as_html,
    evaluation_as_text,
    minor_notes,
    truth_in_words,
    uncounted_in_words,
    winners_in_words,
)
from cocensor.views.text.fits import (
    TAU_MEANS,
    candidates_as_text,
    caveat,
    choice_as_text,
    choice_in_words,
    hint_in_words,
    imputation_fit_in_words,
    profile_in_words,
)
from cocensor.views.text.headline import headline
from cocensor.views.text.notes import note_in_words
from cocensor.views.text.sensitivity import (
    beside_scores,
    plausible_tau_as_text,
    plausible_tau_in_words,
    sensitivity_as_text,
    sensitivity_in_words,
)
from cocensor.views.text.verdict import verdict_in_words

__all__ = [
    "TAU_MEANS",
    "beside_scores",
    "bounds_as_text",
    "bounds_in_words",
    "candidates_as_text",
    "caveat",
    "check_in_words",
    "choice_as_text",
    "choice_in_words",
    "evaluation_as_html",
    "evaluation_as_text",
    "headline",
    "hint_in_words",
    "imputation_fit_in_words",
    "minor_notes",
    "note_in_words",
    "plausible_tau_as_text",
    "plausible_tau_in_words",
    "profile_in_words",
    "sensitivity_as_text",
    "sensitivity_in_words",
    "truth_in_words",
    "uncounted_in_words",
    "verdict_in_words",
    "winners_in_words",
]
