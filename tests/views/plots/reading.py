"""What is to be seen in a figure."""

import numpy as np

from cocensor.views.plots.dependence import BEST


def areas(ax):
    return [each for each in ax.collections if len(each.get_paths())]


def limits(ax, k=0):
    """The lower and the upper limits of a shaded area, along x."""
    (path,) = areas(ax)[k].get_paths()
    at = {}
    for x, y in path.vertices:
        at.setdefault(round(float(x), 9), []).append(float(y))
    return np.array([(min(at[x]), max(at[x])) for x in sorted(at)]).T


def texts(legend):
    return [" ".join(text.get_text().split()) for text in legend.get_texts()]


def drawn(ax):
    """The lines that have data, by label."""
    return {each.get_label(): each for each in ax.get_lines() if len(each.get_xdata())}


def best_along(panel):
    """The models with a large dot at each point of a panel of scores along dependence."""
    points = next(iter(panel.lines.values())).x
    dots = [mark for mark in panel.marks if mark.look is BEST]
    return [tuple(mark.name for mark in dots if at in mark.x) for at in points]
