"""Figures of the validation pages, from kept tables of ``make bench``: ``python -m benchmarks.validation_figures``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

KEPT = Path(__file__).parent / "results" / "bench"
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
IMPUTATION, IPCW = "#0072b2", "#d55e00"
_STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "savefig.dpi": 160,
}


def table(name: str, slug: str) -> list[list[str]]:
    """Rows of a kept table, as texts; the first is its head."""
    text = (KEPT / f"{name}.md").read_text(encoding="utf-8")
    inside = text.split(f"<!-- table: {slug} -->")[1].split(f"<!-- end: {slug} -->")[0]
    head, _, *rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in inside.splitlines()
        if line.startswith("|")
    ]
    return [head, *rows]


def numbers(cell: str) -> list[float]:
    """All numbers of a cell, such as the mean and the lowest of "93.2 (92.0)"."""
    return [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", cell)]


def coverage() -> None:
    """Shares of 95% intervals that cover the truth over τ: mean over models, and the lowest."""
    figure, axes = plt.subplots(2, 3, figsize=(7.2, 4.4), sharex=True, sharey=True, layout="constrained")
    taus = (0.0, 0.3, 0.6)
    for row, (slug, what) in enumerate((("scores", "Scores"), ("differences", "Differences"))):
        by_condition = {cells[0]: cells[1:] for cells in table("coverage", slug)[1:]}
        for column, n in enumerate(("200", "500", "2,000")):
            ax = axes[row, column]
            ax.axhline(95.0, color="0.6", linewidth=0.8, zorder=0)
            for law, filled in (("linear", True), ("nonlinear, form given", False)):
                cells = [numbers(cell) for cell in by_condition[f"{law}, {n}"]]
                for colour, part, shift in ((IMPUTATION, cells[:3], -0.012), (IPCW, cells[3:], 0.012)):
                    at = [tau + shift + (0.0 if filled else 0.03) for tau in taus]
                    means, lowest = zip(*part, strict=True)
                    ax.vlines(at, lowest, means, color=colour, linewidth=1.0, alpha=0.6)
                    ax.plot(
                        at,
                        means,
                        "o",
                        color=colour,
                        markersize=5,
                        markerfacecolor=colour if filled else "white",
                    )
            ax.set(title=f"{what}, n = {n}", xticks=taus, ylim=(-3, 103))
        axes[row, 0].set_ylabel("coverage, %")
    for ax in axes[1]:
        ax.set_xlabel("τ")
    axes[0, 0].text(0.0, 62.0, "imputation", color=IMPUTATION)
    axes[0, 0].text(0.26, 62.0, "IPCW", color=IPCW)
    axes[0, 0].text(
        0.0, 16.0, "filled: linear risks\nopen: nonlinear risks\nline: to the lowest model", fontsize=8
    )
    save(figure, "coverage.png")


def speed() -> None:
    """Seconds against subjects for the integrated Brier score by IPCW, of peers too, at 100 times."""
    _, *rows = table("brier", "speed")
    peers = ("scikit-survival", "SurvivalEVAL", "pycox", "torchsurv")
    lines: dict[str, list[tuple[float, float]]] = {}
    for cells in rows:
        n, times = numbers(cells[0])[0], numbers(cells[1])[0]
        if times != 100:
            continue
        ours = numbers(cells[3])[0] / 1000.0
        lines.setdefault("one pass over the array", []).append((n, numbers(cells[2])[0] / 1000.0))
        lines.setdefault("cocensor", []).append((n, ours))
        for name, cell in zip(peers, cells[4:], strict=True):
            if "fails" not in cell:
                lines.setdefault(name, []).append((n, numbers(cell)[0] * ours))
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for name, points in lines.items():
        at, seconds = zip(*points, strict=True)
        own = name == "cocensor"
        colour = IMPUTATION if own else "0.55" if name.startswith("one") else "0.35"
        ax.loglog(at, seconds, "o-", color=colour, linewidth=2.0 if own else 1.0, markersize=4)
        below = -9 if name == "SurvivalEVAL" else -3
        ax.annotate(name, (at[-1], seconds[-1]), (7, below), textcoords="offset points", color=colour)
    ax.set(xlabel="test subjects", ylabel="seconds", xlim=(8e3, 8e6), xticks=(1e4, 1e5, 1e6))
    ax.set_title("Brier score at 100 times by IPCW, from raw arrays")
    save(figure, "speed.png")


def verdicts() -> None:
    """Shares of pairs whose winner is wrong over the true τ, by IPCW, at τ = 0 and over the plausible range."""
    head, *rows = table("verdicts", "settled")
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True, layout="constrained")
    for ax, n in zip(axes, ("500", "2,000"), strict=True):
        ax.axvspan(0.0, 0.2, color="0.93", zorder=0)
        ax.axhline(2.5, color="0.6", linewidth=0.8, zorder=0)
        of_size = [cells for cells in rows if cells[0] == n]
        taus = [numbers(cells[1])[0] for cells in of_size]
        colours = (IPCW, IMPUTATION, "black")
        for column, colour in zip((3, 4, 5), colours, strict=True):
            wrong = [numbers(cells[column])[0] for cells in of_size]
            ax.plot(taus, wrong, "o-", color=colour, markersize=4)
            end = (taus[-1], wrong[-1])
            ax.annotate(head[column], end, (7, -3), textcoords="offset points", color=colour)
        ax.set(title=f"{n} test subjects", xlabel="true τ", xlim=(-0.02, 0.85), xticks=(0.0, 0.2, 0.35, 0.5))
    axes[0].set_ylabel("winner is wrong, % of pairs")
    axes[0].text(
        0.01, 0.97, "plausible", transform=axes[0].get_xaxis_transform(), va="top", fontsize=8, color="0.4"
    )
    save(figure, "verdicts.png")


def save(figure: Figure, name: str) -> None:
    figure.savefig(FIGURES / name, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    with plt.rc_context(_STYLE):
        coverage()
        speed()
        verdicts()


if __name__ == "__main__":
    main()
