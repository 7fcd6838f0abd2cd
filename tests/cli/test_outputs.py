"""What commands write: whole, together, never over an input, and nothing where they fail."""

import importlib
import json
import os
import signal
from pathlib import Path

import pytest

from cocensor.cli.outputs import check_outputs, written_together
from tests.cli.study import refusal, run
from tests.refusals import refuses


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

    refuses(fail, "a.txt and ", "b.txt", "No space left on device", kind=ValueError)
    assert first.read_text() == "old"
    assert list(tmp_path.iterdir()) == [first]
    with written_together(first, second) as places:
        for place, text in zip(places, ("one", "two"), strict=True):
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
    for out, other in ((page, numbers), (numbers, page)):
        outputs = {"out": (out, (out.suffix,)), "json": (other, (other.suffix,))}
        refuses(lambda outputs=outputs: check_outputs([], **outputs), "--json", "--out", str(out), str(other))
    assert check_outputs([], out=(page, (".html",)), json=(tmp_path / "b.json", (".json",))) is None


def test_every_command_refuses_them(study):
    page, numbers, figure = (study.folder / f"a.{suffix}" for suffix in ("html", "json", "png"))
    for link in (page, figure):
        link.symlink_to(numbers)
    refusal(study.evaluate("--out", page, "--json", numbers), "--json", "--out", str(numbers))
    columns = ["--time", "months", "--event", "died"]
    written = ["--json", numbers, "--figure", figure]
    refusal(
        run("fit-copula", "--train", study.folder / "train.csv", *columns, *written), "--figure", "--json"
    )
    assert not numbers.exists()


# --- by evaluate -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "path", "part"),
    [
        ("--out", "missing/r.html", "missing"),
        ("--out", "r.pdf", ".html"),
        ("--json", "out.txt", ".json"),
        ("--json", "folder.json", "folder.json"),
    ],
)
def test_outputs_that_cannot_be_written(study, monkeypatch, option, path, part):
    monkeypatch.chdir(study.folder)
    Path("folder.json").mkdir()
    before = study.files()
    refusal(study.evaluate(option, path), f"{option} must", part)
    assert study.files() == before


def test_links_that_lead_in_a_circle_or_to_a_device_are_refused_and_stay(study):
    one, other, device = (study.folder / f"{name}.html" for name in ("one", "other", "device"))
    one.symlink_to(other)
    other.symlink_to(one)
    device.symlink_to(os.devnull)
    refusal(study.evaluate("--out", one), "--out must be a file, but", "one.html", "leads to itself")
    refusal(study.evaluate("--out", device), "--out must be a file that can be written", "device.html")
    refusal(run("demo", "--out", one), "--out must be a folder, but", "one.html", "leads to itself")
    assert all(path.is_symlink() for path in (one, other, device))


def test_an_input_is_never_overwritten(study):
    os.link(study.folder / "cox.csv", study.folder / "cox.json")
    content = (study.folder / "cox.csv").read_bytes()
    refusal(study.evaluate("--json", study.folder / "cox.json"), "--json", "input", "cox.json")
    assert (study.folder / "cox.csv").read_bytes() == content


def test_the_test_sample_is_an_input_too(study):
    link = study.folder / "link.json"
    link.symlink_to(study.folder / "test.csv")
    refusal(study.evaluate("--json", link, train=None), "--json", "input", "link.json")


def test_a_link_stays_and_its_file_is_written(study):
    link, numbers = study.folder / "link.json", study.folder / "elsewhere" / "numbers.json"
    numbers.parent.mkdir()
    link.symlink_to(numbers)
    for _ in range(2):  # the file is not there, then it is
        assert study.evaluate("--json", link).exit_code == 0
        assert link.is_symlink()
        assert json.loads(numbers.read_text(encoding="utf-8"))["models"]
        assert list(numbers.parent.iterdir()) == [numbers]


def test_a_file_that_may_not_be_written_is_refused(study, monkeypatch):
    numbers = study.folder / "numbers.json"
    numbers.write_text("precious")
    # Root may write everything.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or Path(path) != numbers)
    refusal(study.evaluate("--json", numbers), "--json", "written", str(numbers))
    assert numbers.read_text() == "precious"


def test_files_are_written_even_if_nothing_can_be_printed(study, monkeypatch):
    def full(_):
        raise OSError("stdout cannot be written: No space left on device.")

    # By its path it is the command, not the module.
    monkeypatch.setattr(importlib.import_module("cocensor.cli.evaluate"), "say", full)
    refusal(study.evaluate("--json", study.folder / "out.json"), "stdout", "No space left on device")
    assert "out.json" in study.files()


@pytest.mark.parametrize(
    "where",
    [
        "cocensor.Evaluation.sensitivity",
        "cocensor.study.report.margin_curves",
        "cocensor.study.report.Report.to_json",
    ],
)
def test_an_interruption_is_one_line_and_leaves_nothing(study, monkeypatch, where):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupt)
    before = study.files()
    result = study.evaluate("--json", study.folder / "out.json")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert "integrated Brier score" in result.stdout  # which was there by then
    assert study.files() == before


def test_a_full_disk_is_one_line(study, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cocensor.study.report.Report.to_json", refuse)
    before = study.files()
    result = study.evaluate("--json", study.folder / "out.json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "out.json cannot be written: No space left on device." in result.stderr
    assert "integrated Brier score" in result.stdout
    assert study.files() == before
