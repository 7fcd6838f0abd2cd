from itertools import islice

from cocensor.views.plots.style import line_styles


def test_the_first_36_lines_can_be_told_apart():
    pairs = [(style["color"], style["linestyle"]) for style in islice(line_styles(), 36)]
    assert len(set(pairs)) == 36
