"""Figures of the guide, from the examples of its pages, and of the theory: ``python -m benchmarks.guide_figures``."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from cocensor import Evaluation, copula

DOCS = Path(__file__).parents[1] / "docs"


def ran(page: str) -> dict[str, Any]:
    """What the examples of a page have made, by name."""
    path = DOCS / "guide" / page
    found: dict[str, Any] = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(path.read_text(encoding="utf-8")):
        exec(compile(example.source, str(path), "exec"), found)
    return found


def save(draw: Callable[[], Any], name: str) -> None:
    """What is drawn, in a size that suits a page, with few bytes."""
    draw()
    plt.savefig(DOCS / "figures" / name, dpi=160, bbox_inches="tight", metadata={"Software": None})
    plt.close()


def main() -> None:
    """Those of "Which dependence is plausible?", and the families of copulas."""
    save(families, "copula-families.png")
    with redirect_stdout(StringIO()):
        made = ran("plausible.md")
    save(made["benchmarks"].plot, "plausible-benchmarks.png")
    save(partial(near_zero, made["result"]), "plausible-differences.png")


def families() -> None:
    """Ranks of event and dropout times under four families with one τ; the earliest are at the lower left."""
    _, axes = plt.subplots(1, 4, figsize=(9.0, 2.6), sharex=True, sharey=True, layout="constrained")
    for ax, name in zip(axes, ("clayton", "frank", "gumbel", "joe"), strict=True):
        event, dropout = 1.0 - copula(name, tau=0.5).sample(1500, 0).T
        ax.plot(dropout, event, ".", markersize=2.0, alpha=0.5)
        ax.set(title=f"{name}, τ = 0.5", xlabel="dropout", xticks=(0, 1), yticks=(0, 1), aspect="equal")
        ax.set_xticklabels(("first", "last"))
    axes[0].set(ylabel="event", yticklabels=("first", "last"))


def near_zero(result: Evaluation) -> None:
    """Differences under two families; those far from 0 are left out, so that one sees the others."""
    result.sensitivity(["frank", "hazard_ratio"]).plot_differences()
    for ax in plt.gcf().axes:
        ax.set_ylim(-0.02, 0.02)


if __name__ == "__main__":
    plt.switch_backend("Agg")
    main()
