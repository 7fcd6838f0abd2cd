"""The functions of time of both margins, as what happened allows."""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import Survival
from cocensor.joint.knots import chosen_basis
from cocensor.joint.margins import Basis, MarginForm
from cocensor.joint.settings import Knots


def margin_bases(
    y: Survival,
    n_unshrunk: int,
    margins: MarginForm,
    knots: Knots,
    ends: FloatArray | None,
    barrier: float,
    weight: FloatArray | None,
) -> tuple[tuple[Basis, Basis], str]:
    """The bases of event and dropout, orthonormal, and where there are fewer knots than asked for a clause on that.

    ``n_unshrunk`` effects of covariates have to be estimated beside them; ``ends`` are those of grouped times.
    """
    log_t, fewer = np.log(y.time), ""
    bases = []
    for happened, what in ((y.event, "event"), (y.dropout, "dropout")):
        found = int(happened.sum())
        if not found:
            if what == "event" or y.administrative is None or not y.administrative.any():
                raise ValueError(f"y has no {what}: its margin cannot be fitted.")
            bases.append(Basis(np.empty(0), present=False))  # all censoring is administrative
            continue
        own_times = np.unique(y.time[happened])
        if own_times.size == 1 and found > 1 and log_t.min() < log_t.max():
            remedy = "mark an end of study as administrative"
            why = remedy if what == "dropout" else "their margin cannot be fitted"
            raise ValueError(f"y has all its {what}s at time {own_times[0]:g}: {why}.")
        own_weight = None if weight is None else weight[happened]
        if ends is not None:
            # A margin of grouped times needs more different times than it has functions of time.
            most = own_times.size - 3
        else:
            most = found if own_weight is None else int(own_weight.sum())
            if own_times.size == 1:  # of one subject, however heavy
                most = 0
        if most < 0:
            raise ValueError(
                f"y has {what}s at only {own_times.size} different times, not enough for grouped times."
            )
        if log_t.min() == log_t.max():
            raise ValueError(f"y must have different times, but all of them are {y.time[0]:g}.")
        if margins == "weibull":
            basis = Basis.at_quantiles(log_t[happened], 0)
        elif knots == "auto":
            # One for each time, where somebody is seen to outlast them.
            outlasted = ends is not None and bool(y.t_max > own_times[-1])
            basis = chosen_basis(y, happened, ends, most + outlasted, barrier, weight)
        else:
            if knots > most:
                fewer += f"; {most} inner knots for the {what}s at {own_times.size} times"
            basis = Basis.at_quantiles(log_t[happened], min(knots, most), own_weight)
        check_enough(found, basis.size + n_unshrunk, what)
        bases.append(basis.orthonormal(log_t))
    return (bases[0], bases[1]), fewer


def check_enough(found: int, needed: int, what: str) -> None:
    """Refuse a margin with more parameters than subjects who tell of it."""
    if found < needed:
        some = f"{found} {what}{'' if found == 1 else 's'}"
        raise ValueError(f"y has too few {what}s: {some} for the {needed} parameters of their margin.")
