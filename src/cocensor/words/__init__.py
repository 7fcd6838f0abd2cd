"""Results in words: one narrator for terminal, notebook and page."""

from cocensor.words.after_dropout import after_dropout_as_text, after_dropout_in_words
from cocensor.words.bounds import bounds_as_text, bounds_in_words
from cocensor.words.choice import candidates_as_text, choice_as_text, choice_in_words, hint_in_words
from cocensor.words.dependence import TAU_MEANS, caveat, caveat_of, profile_in_words
from cocensor.words.evaluation import (
    copula_in_words,
    evaluation_as_html,
    evaluation_as_text,
    important_notes,
    minor_notes,
    note_in_words,
    uncounted_in_words,
    winners_in_words,
)
from cocensor.words.headline import Headline, headline
from cocensor.words.judge_fit import judge_fit_in_words
from cocensor.words.plausible import plausible_tau_as_text, plausible_tau_in_words
from cocensor.words.sensitivity import beside_scores, sensitivity_as_text, sensitivity_in_words
from cocensor.words.truth import truth_in_words

__all__ = [
    "TAU_MEANS",
    "Headline",
    "after_dropout_as_text",
    "after_dropout_in_words",
    "beside_scores",
    "bounds_as_text",
    "bounds_in_words",
    "candidates_as_text",
    "caveat",
    "caveat_of",
    "choice_as_text",
    "choice_in_words",
    "copula_in_words",
    "evaluation_as_html",
    "evaluation_as_text",
    "headline",
    "hint_in_words",
    "important_notes",
    "judge_fit_in_words",
    "minor_notes",
    "note_in_words",
    "plausible_tau_as_text",
    "plausible_tau_in_words",
    "profile_in_words",
    "sensitivity_as_text",
    "sensitivity_in_words",
    "truth_in_words",
    "uncounted_in_words",
    "winners_in_words",
]
