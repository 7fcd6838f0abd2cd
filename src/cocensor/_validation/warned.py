"""What the library warns of, and the one way to collect it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_COLLECTING = RLock()


class CensoringWarning(UserWarning):
    """A value depends on how long subjects were followed, and not on the models and the event alone."""


class HorizonWarning(UserWarning):
    """Scores are asked for where next to nobody is left to tell: at these times, or with these weights."""


class PredictionWarning(UserWarning):
    """Predictions were read otherwise than they are written."""


class TiedTimesWarning(UserWarning):
    """Events and dropouts share so many times that what comes first at one of them decides a curve."""


class FitWarning(UserWarning):
    """An optimiser stopped before it had converged; its result is not the optimum."""


@contextmanager
def collected(*categories: type[Warning]) -> Iterator[list[str]]:
    """What is warned of in these categories, each message once; other warnings go their way.

    The warnings machinery belongs to the whole process: one caller at a time.
    """
    messages: list[str] = []
    with _COLLECTING:
        with warnings.catch_warnings(record=True) as caught:
            for category in categories:
                warnings.simplefilter("always", category)
            yield messages
        messages += dict.fromkeys(
            str(each.message) for each in caught if issubclass(each.category, categories)
        )
        for each in caught:
            if not issubclass(each.category, categories):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
