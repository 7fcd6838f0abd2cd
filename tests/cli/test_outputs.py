import os
import signal

import pytest

from cocensor.cli.outputs import check_outputs, written_together
from tests.cli.study import refusal, run


def test_termination_leaves_nothing_half_written(tmp_path):
    def terminated():
        with written_together(tmp_path / "a.txt") as (place,):
            place.write_text("half")
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught:
        terminated()
    assert caught.value.code == 143
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGTERM) == before


def test_files_are_written_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("old")

    def fail():
        with written_together(first, second) as (place, _):
            place.write_text("new")
            raise OSError(28, "No space left on device")

    with pytest.raises(ValueError, match="a.txt and .*b.txt cannot be written: No space left on device."):
        fail()
    assert first.read_text() == "old"
    assert list(tmp_path.iterdir()) == [first]
    with written_together(first, None, second) as places:
        for place, text in zip(places, ("one", None, "two"), strict=True):
            if place:
                place.write_text(text)
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert sorted(tmp_path.iterdir()) == [first, second]


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_two_outputs_in_one_file_are_refused(tmp_path, link, there):
    page, numbers = tmp_path / "a.html", tmp_path / "a.json"
    if there or link is os.link:
        page.write_text("old")
    link(page, numbers)
    with pytest.raises(ValueError, match="--json must be another file than --out, but .*a.json is .*a.html"):
        check_outputs([], out=(page, (".html",)), json=(numbers, (".json",)))
    with pytest.raises(ValueError, match="--json must be another file than --out"):
        check_outputs([], out=(numbers, (".json",)), json=(page, (".html",)))
    check_outputs([], out=(page, (".html",)), json=(tmp_path / "b.json", (".json",)))


def test_every_command_refuses_them(study):
    page, numbers, figure = (study.folder / f"a.{suffix}" for suffix in ("html", "json", "png"))
    for link in (page, figure):
        link.symlink_to(numbers)
    assert "--json must be another file" in refusal(study.evaluate("--out", page, "--json", numbers))
    columns = ["--time", "months", "--event", "died"]
    fit = run(
        "fit-copula", "--train", study.folder / "train.csv", *columns, "--json", numbers, "--figure", figure
    )
    assert "--figure must be another file" in refusal(fit)
    assert not numbers.exists()
