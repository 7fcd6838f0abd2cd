"""The only place where input is coerced or refused."""

from cocensor._validation.arrays import (
    as_flags,
    as_floats,
    as_generator,
    as_matrix,
    as_probabilities,
    as_table,
    as_times,
    as_vector,
    as_weights,
    broadcast,
    check_number,
    to_numpy,
)
from cocensor._validation.blocks import read_only, row_blocks
from cocensor._validation.covariates import coded, spelled
from cocensor._validation.frames import Covariates, as_frame, column_names, frame_column, make_frame
from cocensor._validation.optional import need
from cocensor._validation.refusals import (
    as_tuple,
    check_choice,
    check_length,
    check_whole,
    escaped,
    refuse_at,
    refuse_column,
    refuse_first,
)
from cocensor._validation.types import BoolArray, Counts, FloatArray, IntArray, Progress, Rows, Seed, Side
from cocensor._validation.warned import (
    FitWarning,
    HorizonWarning,
    PredictionWarning,
    TiedTimesWarning,
    collected,
)

__all__ = [
    "BoolArray",
    "Counts",
    "Covariates",
    "FitWarning",
    "FloatArray",
    "HorizonWarning",
    "IntArray",
    "PredictionWarning",
    "Progress",
    "Rows",
    "Seed",
    "Side",
    "TiedTimesWarning",
    "as_flags",
    "as_floats",
    "as_frame",
    "as_generator",
    "as_matrix",
    "as_probabilities",
    "as_table",
    "as_times",
    "as_tuple",
    "as_vector",
    "as_weights",
    "broadcast",
    "check_choice",
    "check_length",
    "check_number",
    "check_whole",
    "coded",
    "collected",
    "column_names",
    "escaped",
    "frame_column",
    "make_frame",
    "need",
    "read_only",
    "refuse_at",
    "refuse_column",
    "refuse_first",
    "row_blocks",
    "spelled",
    "to_numpy",
]
