"""The columns of the test subjects in Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cocensor._validation import (
    NO_COMPETING_EVENTS,
    Covariates,
    FloatArray,
    as_flags,
    as_times,
    as_vector,
    categories,
)
from cocensor.curves.columns import repeated
from cocensor.outcomes import Survival
from cocensor.stream.columns import Piece, is_category, is_number, is_text, numbers, texts
from cocensor.stream.files import Files

_COVARIATES = "numbers or texts, and no dates"
_TIMES = "numbers (dates are not read in a stream: make times of them first)"


@dataclass(frozen=True)
class SubjectColumns:
    """The names of the columns of the test sample."""

    time: str
    event: str
    covariates: tuple[str, ...] = ()
    administrative: str | None = None
    reason: str | None = None
    identity: str | None = None

    @property
    def names(self) -> list[str]:
        """All that are read."""
        asked = (self.time, self.event, self.administrative, self.reason, self.identity, *self.covariates)
        return list(dict.fromkeys(name for name in asked if name is not None))

    def check(self, files: Files) -> None:
        """Refuse files that lack one, or have other types than numbers."""
        twice = repeated([self.time, self.event, *self.covariates])
        if twice:
            raise ValueError(
                f"covariates must not name a column twice, or that of time or event, but has {twice[0]!r}."
            )
        files.check(self.time, is_number, _TIMES)
        for name in (self.event, self.administrative):
            if name is not None:
                files.check(name, is_number, "TRUE and FALSE or 1 and 0")
        if self.reason is not None:
            files.check(self.reason, is_text, "texts")
        for name in self.covariates:
            files.check(name, lambda kind: is_number(kind) or is_text(kind), _COVARIATES)
            kinds = [is_category(types[name]) for types in files.types]
            if not all(kind == kinds[0] for kind in kinds):
                other = kinds.index(not kinds[0])
                raise ValueError(
                    f"{files.paths[other]}: column {name!r} must have {'categories' if kinds[0] else 'numbers'}, as in "
                    f"{files.paths[0]}, but has type {files.types[other][name]}."
                )

    def outcomes(self, pieces: Sequence[Piece]) -> Survival:
        """The outcomes of some rows."""
        time = as_times(
            as_vector(numbers(pieces, self.time), f"column {self.time!r}"), f"column {self.time!r}"
        )
        event = as_flags(numbers(pieces, self.event), f"column {self.event!r}", NO_COMPETING_EVENTS)
        ended = None
        if self.administrative is not None:
            ended = as_flags(numbers(pieces, self.administrative), f"column {self.administrative!r}")
        return Survival(time, event, ended, None if self.reason is None else texts(pieces, self.reason))

    def table(self, pieces: Sequence[Piece]) -> Covariates:
        """The covariates of some rows."""
        values, levels = list[FloatArray](), dict[int, tuple[str, ...]]()
        for k, name in enumerate(self.covariates):
            if is_category(pieces[0].data.schema.field(name).type):
                codes, levels[k], missing = categories(texts(pieces, name))
                if missing is not None:
                    raise ValueError(f"column {name!r} has no value in row {missing}.")
                values.append(codes)
            else:
                values.append(as_vector(numbers(pieces, name), f"column {name!r}"))
        return Covariates(np.column_stack(values), self.covariates, levels)
