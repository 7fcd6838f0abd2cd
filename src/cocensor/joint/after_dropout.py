"""The hazard of the event after a dropout, as a multiple of that of those alike still under observation."""

from __future__ import annotations

from dataclasses import dataclass

from cocensor._validation import FloatArray


@dataclass(frozen=True, eq=False)
class HazardRatio:
    """By what the hazard of the event is multiplied from a dropout on; event and dropout are independent up to it.

    ``own`` is the ratio of each subject, after a dropout at its censoring. Whoever was still under observation when the
    study ended would have dropped out later, with the ratio ``later[i, r]`` in a share ``shares[r]`` of all dropouts;
    ``later`` has one row where it is the same for all subjects.
    """

    own: FloatArray
    later: FloatArray
    shares: FloatArray
