"""Figures of the validation pages show what kept tables hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from benchmarks import validation_figures


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Figures that are drawn go elsewhere, and stay open to be read."""
    monkeypatch.setattr(validation_figures, "FIGURES", tmp_path)
    monkeypatch.setattr(validation_figures.plt, "close", lambda figure: None)
    yield tmp_path
    monkeypatch.undo()
    plt.close("all")


def test_numbers_of_a_cell():
    assert validation_figures.numbers("93.2 (92.0)") == [93.2, 92.0]
    assert validation_figures.numbers("1e+04") == [1e4]
    assert validation_figures.numbers("2,000 | -0.5 ×") == [2000.0, -0.5]


def test_coverage_is_drawn_from_the_kept_tables(kept):
    validation_figures.coverage()
    assert (kept / "coverage.png").stat().st_size > 10_000
    axes = plt.gcf().axes
    assert [ax.get_title(loc="left") or ax.get_title() for ax in axes][2] == "Scores, n = 2,000"
    [row] = [cells for cells in validation_figures.table("coverage", "scores") if cells[0] == "linear, 2,000"]
    means = [validation_figures.numbers(cell)[0] for cell in row[1:]]
    dots = [line.get_ydata() for line in axes[2].get_lines() if line.get_marker() == "o"]
    np.testing.assert_array_equal(np.concatenate(dots[:2]), means)


def test_speed_is_drawn_from_the_kept_table(kept):
    validation_figures.speed()
    assert (kept / "speed.png").exists()
    lines = {text.get_text(): line for text, line in zip(plt.gca().texts, plt.gca().get_lines(), strict=True)}
    _, *rows = validation_figures.table("brier", "speed")
    ours = [validation_figures.numbers(cells[3])[0] / 1000 for cells in rows if cells[1] == "100"]
    np.testing.assert_allclose(lines["cocensor"].get_ydata(), ours)
    assert len(lines["pycox"].get_xdata()) == 1  # it fails beyond


def test_pages_show_them():
    docs = validation_figures.Path(validation_figures.__file__).parents[1] / "docs"
    for page, name in (("coverage", "coverage.png"), ("speed", "speed.png")):
        assert f"../figures/{name}" in (docs / "validation" / f"{page}.md").read_text(encoding="utf-8")
        assert (docs / "figures" / name).exists()


def test_verdicts_are_drawn_from_the_kept_table(kept):
    validation_figures.verdicts()
    assert (kept / "verdicts.png").exists()
    for ax, n in zip(plt.gcf().axes, ("500", "2,000"), strict=True):
        rows = [cells for cells in validation_figures.table("verdicts", "settled") if cells[0] == n]
        lines = [line for line in ax.get_lines() if line.get_marker() == "o"]
        for line, column in zip(lines, (3, 4, 5), strict=True):
            wrong = [validation_figures.numbers(cells[column])[0] for cells in rows]
            np.testing.assert_array_equal(line.get_ydata(), wrong)
