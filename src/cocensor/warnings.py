"""What the library warns of, and the one way to collect it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["CensoringWarning", "FitWarning", "HorizonWarning", "PredictionWarning", "TiedTimesWarning"]

_COLLECTING = RLock()


class CensoringWarning(UserWarning):
    """A value depends on how long subjects were followed, and not on the models and the event alone.

    See Also
    --------
    harrell_concordance : Warns where anybody was censored.

    Examples
    --------
    >>> import warnings
    >>> import cocensor as cc
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", cc.warnings.CensoringWarning)
    ...     round(cc.harrell_concordance(([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 0]), [0.9, 0.1, 0.2, 0.6]), 2)
    0.5
    """


class HorizonWarning(UserWarning):
    """Scores are asked for where next to nobody is left to tell: at these times, or with these weights.

    See Also
    --------
    time_grid : Warns where fewer than 1% are at risk at the horizon.
    IPCW : Warns where one subject carries much of the weight.
    """


class PredictionWarning(UserWarning):
    """Predictions were read otherwise than they are written.

    See Also
    --------
    Predictions : What is checked of predictions.
    """


class TiedTimesWarning(UserWarning):
    """Events and dropouts share so many times that what comes first at one of them decides a curve.

    See Also
    --------
    CopulaGraphic : Its curve depends on what comes first at tied times.
    """


class FitWarning(UserWarning):
    """An optimiser stopped before it had converged; its result is not the optimum.

    See Also
    --------
    fit_joint : Warns where the best optimum that was found is not one.
    CoxPH : Warns where Newton's method has not converged.
    """


@contextmanager
def collected(*categories: type[Warning]) -> Iterator[list[str]]:
    """Yield the messages that are warned of in these categories, each once; other warnings go their way.

    The warnings machinery belongs to the whole process: one caller at a time.
    """
    messages: list[str] = []
    with _COLLECTING:
        with warnings.catch_warnings(record=True) as caught:
            for category in categories:
                warnings.simplefilter("always", category)
            yield messages
        for warning in caught:
            if not issubclass(warning.category, categories):
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            elif str(warning.message) not in messages:
                messages.append(str(warning.message))
