"""Subjects in memory, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, check_length
from cocensor._notes import Note
from cocensor.data import Predictions, Survival
from cocensor.data.border import as_predictions
from cocensor.data.covariates import chosen_covariates
from cocensor.data.ids import subject_labels
from cocensor.data.predictions import Predicted, Probabilities
from cocensor.scale.scan import Batch, Columns, Part, Scan, at_columns, hashed
from cocensor.study.prepare import matching_note


class ChunkScan(Scan):
    """Chunks in memory."""

    def __init__(self, chunks: Sequence[Batch], covariates: tuple[str, ...], notes: tuple[Note, ...]) -> None:
        self._chunks = chunks
        self.models, self.covariates, self.notes = tuple(chunks[0].predictions), covariates, notes
        ends = [(int(chunk.rows[0]), int(chunk.rows[-1]) + 1) for chunk in chunks]
        self.parts = tuple(Part(*own, _name(k)) for k, own in enumerate(ends))
        self.n = self.parts[-1].stop

    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""
        predictions = self._chunks[0].predictions[model]
        return predictions.times if isinstance(predictions, Probabilities) else None

    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a chunk with all predictions, or with those of some models at some columns of their grid."""
        chosen, size = self._opened(part, columns)
        chunk = self._chunks[self.parts.index(part)]
        if columns is not None:
            read = {name: at_columns(chunk.predictions[name], where) for name, where in chosen.items()}
            chunk = replace(chunk, predictions=read)
        for start in range(0, len(chunk), size):
            yield chunk if len(chunk) <= size else chunk[start : start + size]

    def __repr__(self) -> str:
        return self._shown(len(self.parts), "chunk")


def scan_chunks(chunks: Sequence[Any]) -> Scan:
    """Outcomes and predictions in memory, in chunks that are scored one after the other.

    Parameters
    ----------
    chunks : sequence of tuples
        Each ``(models, y)`` or ``(models, y, x)``, as :func:`evaluate` takes them: predictions by model, outcomes and
        covariates of the same subjects. All chunks have the same models at the same times, and the same columns of
        covariates. Who is drawn depends on a subject's place in all chunks together.

    Returns
    -------
    Scan

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> first = {"cox": ([1.0, 2.0], np.array([[0.8, 0.4], [0.9, 0.7]]))}, ([0.5, 2.5], [1, 0])
    >>> second = {"cox": ([1.0, 2.0], np.array([[0.7, 0.2]]))}, ([1.5], [1])
    >>> scan = cc.scale.scan_chunks([first, second])
    >>> scan
    ChunkScan(n=3 in 2 chunks; cox (2 times, 1 to 2))
    >>> [batch.rows.tolist() for part in scan.parts for batch in scan.batches(part)]
    [[0, 1], [2]]
    """
    if isinstance(chunks, Mapping | str) or not isinstance(chunks, Sequence):
        kind, form = type(chunks).__name__, "tuples (models, y) or (models, y, x)"
        raise TypeError(f"chunks must be a list of {form}, but is of type {kind}.")
    if not chunks:
        raise ValueError("chunks is empty: at least one is needed.")
    parts = [_checked(chunk, _name(k)) for k, chunk in enumerate(chunks)]
    first = list(_traits(*parts[0]))
    for k, part in enumerate(parts):
        for (what, own), (_, wanted) in zip(_traits(*part), first, strict=False):
            if own != wanted:
                raise ValueError(f"{_name(k)} must have {what} as {_name(0)}, {wanted!r}, but has {own!r}.")
    matched = ((model, own.matched) for models, _, _ in parts for model, own in models.items())
    notes = tuple(dict.fromkeys(note for model, how in matched for note in matching_note(how, model)))
    tables: list[Any] = [None] * len(parts)
    if parts[0][2] is not None:
        tables = chosen_covariates(
            "all", [(x, f"{_name(k)} covariates") for k, (_, _, x) in enumerate(parts)]
        )
    edges = pairwise(np.cumsum([0, *(len(y) for _, y, _ in parts)]))
    batches = [
        Batch(rows := np.arange(*edge), y, x, models, hashed(rows))
        for (models, y, _), x, edge in zip(parts, tables, edges, strict=True)
    ]
    return ChunkScan(batches, () if tables[0] is None else tables[0].labels, notes)


def _name(number: int) -> str:
    return f"chunks[{number}]"


def _checked(chunk: Any, name: str) -> tuple[dict[str, Predicted], Survival, Any]:
    """Predictions and outcomes, checked, and covariates as they came."""
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3) or not isinstance(chunk[0], Mapping):
        kind, form = type(chunk).__name__, "a tuple (models, y) or (models, y, x) with models by name"
        raise TypeError(f"{name} must be {form}, but is of type {kind}.")
    models, outcomes, x = chunk if len(chunk) == 3 else (*chunk, None)
    if not models:
        raise ValueError(f"{name} has no models.")
    y = Survival.coerce(outcomes, f"{name} y")
    if x is not None:
        check_length(x, f"{name} covariates", len(y), "y")
    labels = subject_labels(x, y.labels)
    predictions = {
        model: as_predictions(estimate, len(y), X=x, labels=labels, name=f"{name} {model!r}", risk=True)
        for model, estimate in models.items()
    }
    return predictions, y, x


def _traits(models: Mapping[str, Predicted], y: Survival, x: Any) -> Iterator[tuple[str, Any]]:
    """Yield what all chunks must have in common, by what it is called; models first, on which the rest depends."""
    yield "the same models", sorted(models)
    for model, predictions in sorted(models.items()):
        times = predictions.times if isinstance(predictions, Probabilities) else None
        yield f"the same kind of predictions of {model!r}", "a risk score" if times is None else "curves"
        if times is not None:
            yield f"the same times of {model!r}", times.tolist()
        if isinstance(predictions, Predictions):
            yield f"the same interpolation of {model!r}", predictions.interpolation or "linear"
            yield f"the same tail of {model!r}", predictions.tail
    optional = {"administrative censorings": y.administrative, "reasons": y.reason, "covariates": x}
    for name, values in optional.items():
        yield f"{name} or none", "none" if values is None else "some"
