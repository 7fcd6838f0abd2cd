"""Subjects in memory, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, check_length
from cocensor._notes import Note
from cocensor.data import Predictions, Survival
from cocensor.data.border import as_predictions
from cocensor.data.covariates import chosen_covariates
from cocensor.data.ids import subject_labels
from cocensor.data.predictions import Predicted, Probabilities, RiskScores
from cocensor.scale.draw import hashed
from cocensor.scale.scan import Batch, Columns, Part, Scan, at_columns, batch_rows
from cocensor.study.prepare import matching_note


@dataclass(frozen=True, eq=False)
class _Chunk:
    name: str
    predictions: Mapping[str, Predicted]
    y: Survival
    x: Any


class ChunkScan(Scan):
    """Chunks in memory."""

    def __init__(
        self, chunks: Sequence[_Chunk], covariates: tuple[str, ...] = (), notes: tuple[Note, ...] = ()
    ) -> None:
        self._chunks = {chunk.name: chunk for chunk in chunks}
        edges = np.cumsum([0, *(len(chunk.y) for chunk in chunks)]).tolist()
        self.n = edges[-1]
        self.models = tuple(chunks[0].predictions)
        self.covariates, self.notes = covariates, notes
        self.parts = tuple(
            Part(*ends, name) for ends, name in zip(pairwise(edges), self._chunks, strict=True)
        )

    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""
        predictions = next(iter(self._chunks.values())).predictions[model]
        return predictions.times if isinstance(predictions, Probabilities) else None

    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a chunk with all predictions, or with those of some models at some columns of their grid."""
        self._check(part)
        chunk = self._chunks[part.name]
        asked = dict.fromkeys(self.models, slice(None)) if columns is None else columns
        predictions = {name: at_columns(chunk.predictions[name], where) for name, where in asked.items()}
        step = batch_rows(max(map(_n_columns, predictions.values()), default=1))
        for start in range(0, part.n_rows, step):
            kept = slice(start, min(start + step, part.n_rows))
            rows = np.arange(part.start + kept.start, part.start + kept.stop)
            yield Batch(
                rows,
                chunk.y if part.n_rows <= step else chunk.y[kept],
                None if chunk.x is None else chunk.x[kept],
                {name: each.taken(kept) for name, each in predictions.items()},
                hashed(rows),
            )

    @property
    def _pieces(self) -> str:
        return f"{len(self.parts):,} chunk{'s' if len(self.parts) > 1 else ''}"


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
        raise TypeError(
            f"chunks must be a list of tuples (models, y) or (models, y, x), but is of type {_kind(chunks)}."
        )
    if not chunks:
        raise ValueError("chunks is empty: at least one is needed.")
    made = [_as_chunk(chunk, f"chunks[{k}]") for k, chunk in enumerate(chunks)]
    for chunk in made[1:]:
        for (what, own), (_, wanted) in zip(_traits(chunk), _traits(made[0]), strict=False):
            if own != wanted:
                raise ValueError(f"{chunk.name} must have {what} as chunks[0], {wanted!r}, but has {own!r}.")
    order = tuple(
        dict.fromkeys(
            note
            for chunk in made
            for model, predictions in chunk.predictions.items()
            for note in matching_note(predictions.matched, model)
        )
    )
    if made[0].x is None:
        return ChunkScan(made, notes=order)
    tables = chosen_covariates("all", [(chunk.x, f"{chunk.name} covariates") for chunk in made])
    whole = [replace(chunk, x=table) for chunk, table in zip(made, tables, strict=True)]
    return ChunkScan(whole, tables[0].labels, order)


def _as_chunk(chunk: Any, name: str) -> _Chunk:
    """A chunk whose predictions and outcomes are checked; its covariates are as they came."""
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3) or not isinstance(chunk[0], Mapping):
        raise TypeError(
            f"{name} must be a tuple (models, y) or (models, y, x) with models by name, but is of type {_kind(chunk)}."
        )
    models, y, x = chunk if len(chunk) == 3 else (*chunk, None)
    if not models:
        raise ValueError(f"{name} has no models.")
    outcomes = Survival.coerce(y, f"{name} y")
    if x is not None:
        check_length(x, f"{name} covariates", len(outcomes), "y")
    labels = subject_labels(x, outcomes.labels)
    predictions = {
        model: as_predictions(each, len(outcomes), X=x, labels=labels, name=f"{name} {model!r}", risk=True)
        for model, each in models.items()
    }
    return _Chunk(name, predictions, outcomes, x)


def _n_columns(predictions: Predicted) -> int:
    return predictions.times.size if isinstance(predictions, Probabilities) else 1


def _traits(chunk: _Chunk) -> Iterator[tuple[str, Any]]:
    """What all chunks have in common, by what it is called; models first, so that the rest can be compared."""
    yield "the same models", sorted(chunk.predictions)
    for model, each in sorted(chunk.predictions.items()):
        yield (
            f"the same kind of predictions of {model!r}",
            "a risk score" if isinstance(each, RiskScores) else "curves",
        )
        if isinstance(each, Probabilities):
            yield f"the same times of {model!r}", each.times.tolist()
        if isinstance(each, Predictions):
            yield f"the same interpolation of {model!r}", each.interpolation or "linear"
            yield f"the same tail of {model!r}", each.tail
    for name, values in (
        ("administrative censorings", chunk.y.administrative),
        ("reasons", chunk.y.reason),
        ("covariates", chunk.x),
    ):
        yield f"{name} or none", "none" if values is None else "some"


def _kind(value: Any) -> str:
    return type(value).__name__
