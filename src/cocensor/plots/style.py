"""What all plots look like."""

from __future__ import annotations

from itertools import cycle
from typing import Any

# Okabe and Ito's palette, which colour-blind readers can tell apart, with a line style each for print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


def line_styles() -> cycle[dict[str, Any]]:
    """A colour and a line style for one line after the other."""
    return cycle({"color": c, "linestyle": s} for c, s in zip(_COLOURS, _STYLES, strict=True))
