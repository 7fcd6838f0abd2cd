"""What was decided or found on the way to a result, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Note:
    """Something that a reader of a result should know.

    Code decides by ``kind`` and by what a note is about, never by its words.

    Attributes
    ----------
    kind : {"decision", "caution", "missing"}
        What was decided where more than one way was open; what makes a result doubtful; why there is none.
    text : str
        One or more sentences for people.
    adjustment, model : str or None
        What it is about; None for all of them.

    Examples
    --------
    >>> from cocensor import Note
    >>> print(Note("missing", "x_test is needed.", adjustment="imputed_covariates"))
    x_test is needed.
    """

    kind: Literal["decision", "caution", "missing"]
    text: str
    adjustment: str | None = None
    model: str | None = None

    def __str__(self) -> str:
        return self.text
