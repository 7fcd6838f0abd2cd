"""Figures of the guide, from the examples of its pages: ``python -m benchmarks.guide_figures``."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib

DOCS = Path(__file__).parents[1] / "docs"


def ran(page: str) -> dict[str, Any]:
    """What the examples of a page have made, by name."""
    path = DOCS / "guide" / page
    found: dict[str, Any] = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(path.read_text(encoding="utf-8")):
        exec(compile(example.source, str(path), "exec"), found)
    return found


def save(figure: Any, name: str) -> None:
    """In a size that suits a page, and few bytes."""
    figure.savefig(DOCS / "figures" / name, dpi=80, bbox_inches="tight", metadata={"Software": None})


def main() -> None:
    """Those of "Which dependence is plausible?"."""
    matplotlib.use("Agg")
    from cocensor.plots import BenchmarkDisplay, DifferenceDisplay

    made = ran("plausible.md")
    axes = BenchmarkDisplay.from_plausible_tau(made["found"]).plot()
    save(axes.figure, "plausible-benchmarks.png")
    differences = DifferenceDisplay.from_sensitivity(made["sensitivity"])
    axes = differences.plot()
    save(axes.flat[0].figure, "plausible-differences.png")


if __name__ == "__main__":
    main()
