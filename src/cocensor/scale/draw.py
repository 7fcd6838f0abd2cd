"""Who is drawn: the subjects with the smallest hashes, whatever the order in which they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import numpy.typing as npt

from cocensor._checks import IntArray, row_blocks
from cocensor._numerics import GOLDEN, splitmix64
from cocensor.scale.scan import Batch, Keys


def hashed(numbers: npt.NDArray[np.integer]) -> Keys:
    """Hashes of whole numbers by splitmix64, which maps 64 bits one to one: different numbers have different hashes.

    Examples
    --------
    >>> [f"{key:016x}" for key in hashed(np.arange(3))]
    ['e220a8397b1dcdaf', '6e789e6aa1b965f4', '06c45d188009454f']
    """
    return splitmix64((np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN)


def hashed_texts(offsets: IntArray, content: npt.NDArray[np.uint8]) -> Keys:
    """Hashes of texts: of their lengths, and then of eight bytes after the other; a pad of zeros ends a text.

    Text k has the bytes from ``offsets[k]`` to ``offsets[k + 1]`` of the ``content``.
    """
    starts, lengths = offsets[:-1], np.diff(offsets)
    keys = hashed(lengths)
    width = -(-int(lengths.max(initial=0)) // 8) * 8
    for rows in row_blocks(lengths.size, width):
        inside = np.arange(width) < lengths[rows, None]
        padded = np.zeros(inside.shape, dtype=np.uint8)
        ends = starts[rows][-1] + lengths[rows][-1]
        padded[inside] = content[starts[rows][0] : ends]
        for k, word in enumerate(padded.view("<u8").T):
            there = lengths[rows] > 8 * k
            keys[rows][there] = hashed(keys[rows][there] ^ word[there])
    return keys


@dataclass
class Drawn:
    r"""At most ``k`` of ``n`` subjects: those with the smallest keys, and all where there are no more than ``k``.

    Keys are uniform, so that this is a simple random sample, and the same one whatever the batches, their order and the
    workers that saw them. Of :math:`n > k` subjects only those with a key below
    :math:`2^{64} (k + 10\sqrt{k} + 50)/n` are ever held: fewer than k of these would be a chance of about
    :math:`10^{-22}`, and would only make the sample a little smaller.

    Examples
    --------
    >>> from cocensor import Survival
    >>> rows = np.arange(1000)
    >>> batch = Batch(rows, Survival(rows + 1.0, rows % 2), None, {}, hashed(rows))
    >>> first, second = Drawn(k=5, n=1000), Drawn(k=5, n=1000)
    >>> first.update(batch[:700])
    >>> second.update(batch[700:])
    >>> first.merge(second)
    >>> first.result().rows.tolist()
    [254, 366, 410, 503, 821]
    """

    k: int
    n: int
    _held: list[Batch] = field(default_factory=list, init=False, repr=False)

    @property
    def ceiling(self) -> np.uint64:
        """No key above this one is drawn."""
        share = 1.0 if self.n <= self.k else (self.k + 10 * sqrt(self.k) + 50) / self.n
        return np.uint64(min(int(share * 2.0**64), 2**64 - 1))

    def update(self, batch: Batch) -> None:
        """Take up what may be drawn of a batch."""
        low = batch.key <= self.ceiling
        if low.any():
            self._held.append(batch if low.all() else batch[low])

    def merge(self, other: Drawn) -> None:
        """Take up what another worker held."""
        self._held += other._held

    def result(self) -> Batch:
        """The subjects drawn, in the order of their numbers; none are held any more."""
        if not self._held:
            raise ValueError(f"no subject was drawn out of {self.n}: the scan has no rows.")
        held = Batch.joined(self._held)
        self._held = []
        order = np.lexsort((held.rows, held.key))[: self.k]
        order = order[np.argsort(held.rows[order], kind="stable")]
        return held[order]
