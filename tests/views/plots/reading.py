"""What is to be seen in a figure."""

import numpy as np

from cocensor.views.plots.dependence import BEST
from cocensor.views.plots.panels import NAMED


def areas(ax):
    return [each for each in ax.collections if len(each.get_paths())]


def limits(ax, k=0):
    """The lower and the upper limits of a shaded area, along x."""
    (path,) = areas(ax)[k].get_paths()
    at = {}
    for x, y in path.vertices:
        at.setdefault(round(float(x), 9), []).append(float(y))
    return np.array([(min(at[x]), max(at[x])) for x in sorted(at)]).T


def at_ends(ax):
    """The names at the ends of lines, with their colours, from top to bottom."""
    names = [text for text in ax.texts if text.get_gid() == NAMED]
    return {text.get_text(): text.get_color() for text in sorted(names, key=_height, reverse=True)}


def _height(text):
    return text.get_window_extent().y0


def bracket(ax):
    """From which to which τ dependence is called plausible."""
    [line] = [each for each in ax.get_lines() if each.get_gid() == "plausible"]
    return tuple(line.get_xdata())


def texts(legend):
    return [" ".join(text.get_text().split()) for text in legend.get_texts()]


def drawn(ax):
    """The lines that have data, by label."""
    return {
        each.get_label(): each
        for each in ax.get_lines()
        if len(each.get_xdata()) and each.get_gid() != "plausible"
    }


def best_along(panel):
    """The models with a large dot at each point of a panel of scores along dependence."""
    points = next(iter(panel.lines.values())).x
    dots = [mark for mark in panel.marks if mark.look is BEST]
    return [tuple(mark.name for mark in dots if at in mark.x) for at in points]
