"""How models look in the figures."""

from __future__ import annotations

from itertools import islice
from typing import Any

from cocensor.study import Evaluation
from cocensor.views.plots.style import line_styles

_N_STYLES = 6
_DASHES = {"-": "none", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}


def palette() -> dict[str, list[str]]:
    """The colours of all plots, and their line styles as dashes of SVG."""
    styles = list(islice(line_styles(), _N_STYLES))
    return {
        "colours": [style["color"] for style in styles],
        "dashes": [_dashes(style["linestyle"]) for style in styles],
    }


def series(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each model the letter that stands for it, and the places of its colour and dashes in :func:`palette`."""
    known = palette()
    return [
        {
            "name": name,
            "letter": _letter(k),
            "colour": known["colours"].index(style["color"]),
            "dash": known["dashes"].index(_dashes(style["linestyle"])),
        }
        for k, (name, style) in enumerate(zip(evaluation.models, line_styles(), strict=False))
    ]


def _letter(k: int) -> str:
    """A to Z, then AA, AB, ..."""
    return ("" if k < 26 else _letter(k // 26 - 1)) + chr(ord("A") + k % 26)


def _dashes(style: Any) -> str:
    """A line style of matplotlib as SVG's ``stroke-dasharray``."""
    return _DASHES[style] if isinstance(style, str) else " ".join(f"{2 * length:g}" for length in style[1])
