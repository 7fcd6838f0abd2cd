"""Subjects that come in batches: what a source of outcomes and predictions has to give, and chunks in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import BoolArray, FloatArray, IntArray, Progress, check_length
from cocensor._notes import Note, noted
from cocensor._numerics import GOLDEN, splitmix64
from cocensor.data import Predictions, Sample, Survival
from cocensor.data.border import as_predictions
from cocensor.data.covariates import Covariates, chosen_covariates
from cocensor.data.predictions import Predicted, Probabilities

if TYPE_CHECKING:
    from cocensor.study import Evaluation

#: A subject's hash, by which it is drawn.
Keys = npt.NDArray[np.uint64]
#: Some columns of a model's predictions, by their places on its grid.
Columns = slice | IntArray
#: About this many numbers of one model make a batch, between these numbers of subjects.
_BATCH_VALUES, _FEWEST, _MOST = 2**20, 2**12, 2**16


@dataclass(frozen=True, eq=False)
class Batch:
    """Outcomes, covariates and predictions of some subjects, checked."""

    #: The numbers of the subjects, the same however the data are cut into files and batches.
    rows: IntArray
    y: Survival
    x: Covariates | None
    #: By model; empty where none were asked for.
    predictions: Mapping[str, Predicted]
    #: Hashes of the ids, or of the numbers: subjects with the smallest are drawn.
    key: Keys

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, kept: slice | BoolArray | IntArray) -> Batch:
        """Return some of the subjects, at least one."""
        x = None if self.x is None else self.x[kept]
        predictions = {name: table.taken(kept) for name, table in self.predictions.items()}
        return Batch(self.rows[kept], self.y[kept], x, predictions, self.key[kept])

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return all subjects of several batches of one scan, with the same columns of predictions."""
        first = batches[0]
        if len(batches) == 1:
            return first
        covariates = [batch.x for batch in batches if batch.x is not None]
        predictions = {
            name: own.joined([batch.predictions[name] for batch in batches])
            for name, own in first.predictions.items()
        }
        return cls(
            np.concatenate([batch.rows for batch in batches]),
            Survival.joined([batch.y for batch in batches]),
            Covariates.joined(covariates) if covariates else None,
            predictions,
            np.concatenate([batch.key for batch in batches]),
        )


@dataclass(frozen=True)
class Part:
    """The rows of a scan from ``start`` to before ``stop``, which one worker reads; ``name`` is for people."""

    start: int
    stop: int
    name: str


class Scan(ABC):
    """Outcomes and predictions that are read in batches, as :func:`scan_parquet` and :func:`scan_chunks` return them.

    Nothing of the size of all predictions is ever held. A scan can be read again, in any order of its ``parts``, and
    sent to other processes.

    Attributes
    ----------
    n : int
        The number of subjects.
    models : tuple of str
        The names of the models.
    covariates : tuple of str
        The names of the columns of covariates; empty where there are none.
    parts : tuple of Part
        What can be read apart.
    notes : tuple of Note
        What was decided about the data before they were read.

    See Also
    --------
    scan_parquet : Reads Parquet files, with an example.
    scan_chunks : Reads chunks in memory, with an example.
    """

    n: int
    models: tuple[str, ...]
    covariates: tuple[str, ...]
    parts: tuple[Part, ...]
    notes: tuple[Note, ...] = ()
    # How many pieces the data came in, and what these are; parts where that is None.
    _pieces: tuple[int, str] | None = None

    @abstractmethod
    def grid(self, model: str) -> FloatArray | None:
        """The times of a model's columns; None of a risk score."""

    @abstractmethod
    def batches(self, part: Part, columns: Mapping[str, Columns] | None = None) -> Iterator[Batch]:
        """The batches of a part with all predictions, or with those of some models at some ``columns`` of their grid.

        With no models in ``columns``, outcomes and covariates alone are read. The array of a batch is in Fortran order
        where that saves copying it: a column per time.
        """

    def width(self, model: str, columns: Columns = slice(None)) -> int:
        """Return how many columns of a model there are, or how many of these."""
        times = self.grid(model)
        return 1 if times is None else times[columns].size

    def evaluate(
        self,
        *,
        adjustments: Any = "default",
        metrics: Any = "default",
        times: npt.ArrayLike | None = None,
        at: npt.ArrayLike | None = None,
        horizon: Any = None,
        copula: Any = None,
        y_train: Any = None,
        x_train: Any = None,
        confidence_level: float | None = 0.95,
        n_fit: int = 1_000_000,
        n_kept: int | None = None,
        client: Any = None,
        progress: Progress | None = None,
        time_name: str | None = None,
        time_unit: str | None = None,
    ) -> Evaluation:
        r"""Score the models, as :func:`cocensor.evaluate` does, in passes over all subjects.

        Scores are sums over subjects once the adjustments are fitted. A first pass reads outcomes and covariates, and
        draws the subjects to fit to; a second one reads their predictions where an adjustment is given these, at the
        few times that it reads; the last one adds up all scores, and keeps some subjects whole. With no more than
        ``n_kept`` subjects all are held, and the result is that of :func:`cocensor.evaluate`.

        Of all subjects are the means of losses (Brier and logarithmic scores, net benefit, absolute error),
        D-calibration, and up to 10,000,000 subjects the AUC at single times, for which all predictions for these times
        are held. The other metrics of order and calibration (mean AUC, concordance, ICI, E50, E90, parts of the Brier
        score) and a user's own that are no means of losses come from the subjects kept, with the sampling error of
        these, and a note names them.

        The error of a score over n subjects with an adjustment fitted to N of them is
        :math:`\frac1n\sum_i d_i + \frac1N\sum_j \psi_j`, with d the part of each subject and ψ what it adds by way
        of the fit; its variance :math:`V(d)/n + V(\psi)/N + 2\,\mathrm{Cov}(d, \psi)/n` is that of the subjects kept,
        and V(d) that of all where a score is a mean of losses.

        Parameters
        ----------
        adjustments, metrics, times, at, horizon, copula, y_train, x_train, confidence_level, time_name, time_unit
            As in :func:`cocensor.evaluate`. Horizon and single times are found from the subjects drawn.
        n_fit : int
            Adjustments, and the reference curve, are fitted to at most so many test subjects, those with the smallest
            hashes of their id or number.
        n_kept : int, optional
            So many of these are kept with all of their predictions: standard errors, alarms, metrics that cannot be
            added up, and further analyses of the result, such as :meth:`Evaluation.sensitivity`, come from them. At
            most ``n_fit``; by default as many as have predictions of 1 GiB in double precision, up to 1,000,000.
        client : distributed.Client, optional
            Of a Dask cluster that reads the parts.
        progress : callable, optional
            Called with the number of parts read, over all passes, and of all.

        Returns
        -------
        Evaluation
            Its values are those of all subjects; :attr:`EvaluationData.streamed` says who they are.

        Examples
        --------
        >>> import cocensor as cc
        >>> from cocensor.simulate import SyntheticDesign
        >>> data = SyntheticDesign(n=4000, n_features=2).draw(0)
        >>> times = cc.time_grid(data.y, n=20, horizon={"at_risk": 0.1})
        >>> curves = cc.CoxPH().fit(data.X[:500], data.y[:500]).survival(times, data.X)
        >>> parts = [slice(start, start + 1000) for start in range(0, 4000, 1000)]
        >>> scan = cc.scale.scan_chunks([({"cox": (times, curves[part])}, data.y[part]) for part in parts])
        >>> found = scan.evaluate(adjustments="ipcw", metrics="ibs", n_kept=1000)
        >>> held = cc.evaluate({"cox": (times, curves)}, data.y, adjustments="ipcw", metrics="ibs")
        >>> abs(float(found.score("cox")) - float(held.score("cox"))) < 1e-12
        True
        """
        arguments = {name: value for name, value in locals().items() if name != "self"}

        from cocensor.scale.evaluate import evaluate_scan

        return evaluate_scan(self, arguments)

    def __repr__(self) -> str:
        models = []
        for name in self.models:
            times = self.grid(name)
            if times is None:
                models.append(f"{name} (risk score)")
            elif times.size == 1:
                models.append(f"{name} (at {times[0]:g})")
            else:
                models.append(f"{name} ({times.size} times, {times[0]:g} to {times[-1]:g})")
        given = f", covariates {', '.join(self.covariates)}" if self.covariates else ""
        n_pieces, piece = self._pieces or (len(self.parts), "part")
        pieces = f"{n_pieces:,} {piece}{'s' if n_pieces > 1 else ''}"
        return f"{type(self).__name__}(n={self.n:,} in {pieces}; {', '.join(models)}{given})"

    def _opened(self, part: Part, columns: Mapping[str, Columns] | None) -> tuple[Mapping[str, Columns], int]:
        """Return the columns of each model to be read, and how many subjects make a batch of a part of this scan."""
        if part not in self.parts:
            raise ValueError(f"part must be one of the parts of this scan, but is {part.name}.")
        chosen = dict.fromkeys(self.models, slice(None)) if columns is None else columns
        widest = max([1, *(self.width(name, where) for name, where in chosen.items())])
        return chosen, min(max(_BATCH_VALUES // widest, _FEWEST), _MOST)


class ChunkScan(Scan):
    """Chunks in memory."""

    def __init__(self, chunks: Sequence[Batch], covariates: tuple[str, ...], notes: tuple[Note, ...]) -> None:
        self._chunks = chunks
        self.models, self.covariates, self.notes = tuple(chunks[0].predictions), covariates, notes
        ends = [(int(chunk.rows[0]), int(chunk.rows[-1]) + 1) for chunk in chunks]
        self.parts = tuple(Part(*own, f"chunks[{k}]") for k, own in enumerate(ends))
        self.n, self._pieces = self.parts[-1].stop, (len(chunks), "chunk")

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
    names = [f"chunks[{k}]" for k in range(len(chunks))]
    parts = [_checked(chunk, name) for name, chunk in zip(names, chunks, strict=True)]
    first = list(_traits(*parts[0]))
    for name, part in zip(names, parts, strict=True):
        for (what, own), (_, wanted) in zip(_traits(*part), first, strict=False):
            if own != wanted:
                raise ValueError(f"{name} must have {what} as {names[0]}, {wanted!r}, but has {own!r}.")
    matched = ((model, own.matched) for models, _, _ in parts for model, own in models.items())
    notes = tuple(dict.fromkeys(noted(f"matched_by_{how}", model=model) for model, how in matched if how))
    tables: list[Any] = [None] * len(parts)
    if parts[0][2] is not None:
        named = [(x, f"{name} covariates") for name, (_, _, x) in zip(names, parts, strict=True)]
        tables = chosen_covariates("all", named, incomplete=True)
    edges = pairwise(np.cumsum([0, *(len(y) for _, y, _ in parts)]))
    batches = []
    for (models, y, _), x, edge in zip(parts, tables, edges, strict=True):
        rows = np.arange(*edge)
        batches.append(Batch(rows, y, x, models, hashed(rows)))
    return ChunkScan(batches, () if tables[0] is None else tables[0].labels, notes)


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
    labels = Sample(y, x).labels
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


def hashed(numbers: npt.NDArray[np.integer]) -> Keys:
    """Hashes of whole numbers by splitmix64, which maps 64 bits one to one: different numbers have different hashes."""
    return splitmix64((np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN)


def at_columns(predictions: Predicted, columns: Columns) -> Predicted:
    """Return the predictions at some of their times; a risk score has none, and stays as it is."""
    if not isinstance(predictions, Predictions):
        return predictions
    times, table = predictions.times[columns], predictions.probabilities[:, columns]
    return predictions.changed(times=times, probabilities=table)
