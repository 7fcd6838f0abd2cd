"""Scatter of latent event and dropout times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from cocensor._checks import BoolArray, FloatArray
from cocensor.views.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cocensor.simulate import SimulatedSurvival


@dataclass(eq=False)
class LatentTimesDisplay:
    """The pairs (e, c) of a simulation, by what a study sees: events above the diagonal, unless the study ended before.

    Attributes
    ----------
    event_time, dropout_time : array of shape (n,)
        The latent times e and c.
    event : array of shape (n,)
        Whose event a study sees.
    end : float
        Where the axes end.
    title : str
        Above the axes.

    Examples
    --------
    >>> from cocensor.views.plots import LatentTimesDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> display = LatentTimesDisplay.from_simulation(SyntheticDesign(n=500).draw(0))
    >>> int(display.event.sum())
    250
    """

    event_time: FloatArray
    dropout_time: FloatArray
    event: BoolArray
    #: Up to where the axes go.
    end: float
    title: str = ""

    @classmethod
    def from_simulation(cls, sample: SimulatedSurvival) -> Self:
        """From what a simulator drew."""
        copula, e, c = sample.copula, sample.event_time, sample.dropout_time
        given = " given the hidden covariate" if getattr(sample, "hidden", None) is not None else ""
        # A few extreme times would push all others into a corner.
        end = min(float(np.quantile(np.concatenate((e, c)), 0.995)), 1.5 * sample.y.t_max)
        return cls(e, c, sample.y.event, end, f"{copula.name}, τ = {copula.tau:.2g}{given}")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw into ``ax``, or into a new figure; returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(5.0, 5.0), layout="constrained")
        end = self.end
        size = float(np.clip(12_000.0 / self.event_time.size, 2.0, 16.0))
        for label, mask, style in zip(
            ("event seen", "censored"), (self.event, ~self.event), line_styles(), strict=False
        ):
            ax.scatter(
                self.event_time[mask],
                self.dropout_time[mask],
                s=size,
                color=style["color"],
                alpha=0.5,
                linewidths=0,
                label=f"{label} ({np.mean(mask):.0%})",
            )
        ax.plot([0.0, end], [0.0, end], color="0.3", linewidth=1.0)
        ax.set(
            xlabel="event time e", ylabel="dropout time c", xlim=(0.0, end), ylim=(0.0, end), title=self.title
        )
        ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="upper left", markerscale=2.0, fontsize="small")
        return ax
