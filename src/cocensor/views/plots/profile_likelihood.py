"""The profile likelihood over Kendall's τ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cocensor._checks import FloatArray
from cocensor.joint.profile import CUT, DependenceProfile
from cocensor.views.plots.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class ProfileLikelihoodDisplay:
    """How well each τ fits, family by family: the profile log-likelihood less the largest of all.

    Values above the dashed line cannot be distinguished from the best (95 %). The axis is cut far below.

    Attributes
    ----------
    curves : dict of pair of array
        By family the τ, and the log-likelihood at each less the largest of all.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.views.plots import ProfileLikelihoodDisplay
    >>> from cocensor import DependenceProfile
    >>> curves = {"clayton": (np.array([0.0, 0.4, 0.8]), np.array([-502.0, -500.0, -509.0]))}
    >>> display = ProfileLikelihoodDisplay.from_profile(DependenceProfile(curves, independence=-502.0, n=300))
    >>> display.curves["clayton"][1]  # and display.plot()
    array([-2.,  0., -9.])
    """

    curves: dict[str, tuple[FloatArray, FloatArray]]

    @classmethod
    def from_profile(cls, profile: DependenceProfile) -> Self:
        """From what :meth:`CopulaChoice.profile` returns."""
        top = profile.best[2]
        return cls({name: (taus, values - top) for name, (taus, values) in profile.curves.items()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw into ``ax``, or into a new figure; returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
        for (name, (taus, difference)), style in zip(self.curves.items(), line_styles(), strict=False):
            ax.plot(taus, difference, marker="o", markersize=3.5, label=name, **style)
        ax.axhline(
            -CUT,
            color="0.4",
            linestyle="--",
            linewidth=1.0,
            label="95 %: not distinguishable from the best above",
        )
        ax.axvline(0.0, color="0.8", linewidth=1.0, zorder=0)
        # What is hopeless need not be drawn to scale; every family's best and independence are.
        shown = [difference.max() for _, difference in self.curves.values()]
        shown += [difference[taus == 0.0].min() for taus, difference in self.curves.values()]
        depth = max(3.0 * CUT, -1.5 * float(min(shown)))
        is_cut = any(difference.min() < -depth for _, difference in self.curves.values())
        cut = f", cut at {-depth:.3g}" if is_cut else ""
        ax.set(
            xlabel="Kendall's τ of event and dropout", ylabel=f"profile log-likelihood less its maximum{cut}"
        )
        ax.set_ylim(-depth, 0.05 * depth)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax
