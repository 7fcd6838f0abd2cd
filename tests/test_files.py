"""A file is written whole or not at all, by one way that the page, JSON, models, tables and figures share."""

import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

import cocensor as cc
from cocensor import _files
from cocensor._files import held, hidden_folder, write_whole, written_whole

RNG = np.random.default_rng(0)
Y = cc.Survival(RNG.exponential(size=60), RNG.random(60) < 0.6)


def evaluation():
    curves = np.exp(-np.linspace(0.0, 1.0, 5))[None, :].repeat(60, axis=0)
    return cc.evaluate(
        {"a": cc.Predictions(np.linspace(0.0, 1.0, 5), curves)},
        Y,
        y_train=Y,
        copula=cc.Clayton(2.0),
        metrics="ibs",
    )


WAYS = {
    "text": lambda path: write_whole(path, "new"),
    "model": lambda path: cc.fit_joint(None, Y, cc.Clayton(2.0)).save(path),
    "json": lambda path: evaluation().to_json(path),
    "page": lambda path: evaluation().to_html(path),
}


@pytest.fixture(params=WAYS)
def write(request):
    return WAYS[request.param]


def test_the_modes_are_those_of_a_new_file_or_of_the_one_replaced(tmp_path, write):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.write_text("old")
    path.chmod(0o604)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.read_text(encoding="utf-8") != "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_and_the_file_behind_it_is_written(tmp_path, write):
    (tmp_path / "behind").mkdir()
    link, behind = tmp_path / "link.txt", tmp_path / "behind" / "b.txt"
    link.symlink_to(behind)
    for _ in range(2):  # the file is not there, then it is
        write(link)
        assert link.is_symlink()
        assert behind.stat().st_size > 2
        assert os.listdir(behind.parent) == ["b.txt"]


@pytest.mark.parametrize("planted", [".a.txt.part", "a.txt.part"])
def test_a_planted_link_is_not_followed(tmp_path, write, planted):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / planted).symlink_to(precious)
    write(tmp_path / "a.txt")
    assert precious.read_text() == "mine"
    assert (tmp_path / planted).is_symlink()


def test_an_error_leaves_what_was_there_and_names_the_file(tmp_path, write, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device: .*a.txt") as caught:
        write(path)
    assert caught.value.errno == 28
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_two_that_write_one_file_do_not_meet(tmp_path):
    path = tmp_path / "a.txt"
    with written_whole(path) as (first,):
        first.write_text("first")
        write_whole(path, "second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_several_files_or_none(tmp_path):
    def half():
        with written_whole(tmp_path / "a.txt", tmp_path / "b.txt") as (a, _):
            a.write_text("a")

    with pytest.raises(FileNotFoundError, match="a.txt and .*b.txt"):
        half()
    assert not os.listdir(tmp_path)


def test_places_that_are_refused(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    for path, message in (
        (tmp_path / "one", "path must be a file, but .*one is a symbolic link that leads to itself"),
        (tmp_path, "path must be a file, but .* is a folder"),
        (tmp_path / "nowhere" / "a.txt", "path must lie in an existing folder, but .*nowhere is not one"),
        (os.devnull, "path must be a file, but .*null is a device"),
    ):
        with pytest.raises(ValueError, match=message):
            write_whole(path, "new")
    assert all((tmp_path / name).is_symlink() for name in ("one", "other"))


DYING = """
import os, signal, sys
from pathlib import Path
from cocensor._files import hidden_folder
with hidden_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_amid_writing(folder):
    process = subprocess.run([sys.executable, "-c", DYING, str(folder)], check=False)
    assert process.returncode == -signal.SIGKILL
    (left,) = folder.iterdir()
    return left


@pytest.mark.program
def test_the_next_run_removes_what_a_killed_one_left(tmp_path, write):
    left = killed_amid_writing(tmp_path)
    write(tmp_path / "a.txt")
    assert not left.exists()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.program
@pytest.mark.parametrize("where", ["mkdtemp", "_locked"])
def test_what_was_killed_before_it_wrote_anything_is_removed_too(tmp_path, where):
    """Between the folder and its lock, or the lock and the files."""
    stop = f"import cocensor._files as f; made = f.{where}\n"
    stop += f"f.{where} = lambda *a, **k: (made(*a, **k), os.kill(os.getpid(), signal.SIGKILL))"
    script = DYING.replace("with hidden", f"{stop}\nwith hidden")
    process = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert process.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    write_whole(tmp_path / "a.txt", "new")
    assert not left.exists()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.program
def test_what_was_killed_while_it_was_removed_is_removed_by_the_next(tmp_path):
    killed_amid_writing(tmp_path)
    script = """
import os, shutil, signal, sys
import cocensor._files as f
remove = f.rmtree
f.rmtree = lambda *a, **k: (remove(*a, **k), os.kill(os.getpid(), signal.SIGKILL))
f.write_whole(sys.argv[1] + "/a.txt", "new")
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    write_whole(tmp_path / "a.txt", "new")
    assert os.listdir(tmp_path) == ["a.txt"]


def test_one_that_another_takes_for_left_begins_anew(tmp_path, monkeypatch):
    """Between a new folder and its lock another run may be just there."""
    made, folders = _files.mkdtemp, []

    def taken(**how):
        folders.append(made(**how))
        if len(folders) == 1:
            _files._remove_what_is_left(tmp_path)
        return folders[-1]

    monkeypatch.setattr(_files, "mkdtemp", taken)
    write_whole(tmp_path / "a.txt", "new")
    assert len(folders) == 2
    assert os.listdir(tmp_path) == ["a.txt"]


def test_nothing_else_is_removed(tmp_path, monkeypatch):
    """Not what is at work, not a user's folder of such a name, not what another machine left."""
    mine = tmp_path / ".cocensor-research"
    mine.mkdir()
    (mine / "lock").write_text("precious")
    (tmp_path / ".cocensor-notebook").write_text("precious")
    (tmp_path / ".cocensor-elsewher").symlink_to(mine)
    with hidden_folder(tmp_path) as at_work:
        write_whole(tmp_path / "a.txt", "new")
        assert at_work.exists()
    with monkeypatch.context() as patched:
        patched.setattr(_files, "_PREFIX", ".cocensor-another-machine-")
        far = tmp_path / "far"
        far.mkdir()
        left = killed_amid_writing(far)
        write_whole(far / "a.txt", "new")
        assert left.exists()
    assert sorted(os.listdir(tmp_path)) == [
        ".cocensor-elsewher",
        ".cocensor-notebook",
        ".cocensor-research",
        "a.txt",
        "far",
    ]
    assert (mine / "lock").read_text() == "precious"


def test_a_folder_is_held_once(tmp_path):
    def take():
        with held(tmp_path):
            return "ours"

    with held(tmp_path), pytest.raises(BlockingIOError, match=f"^{tmp_path} is in use by another run: "):
        take()
    assert take() == "ours"


def test_a_disk_without_locks_is_written_and_nothing_is_removed(tmp_path, monkeypatch):
    left = killed_amid_writing(tmp_path)

    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(_files.fcntl, "flock", unsupported)
    write_whole(tmp_path / "a.txt", "new")
    with held(tmp_path):
        assert left.exists()
