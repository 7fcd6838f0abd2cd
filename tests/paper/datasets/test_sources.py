"""Where data come from: the order of sources, missing extras, downloads from a server of our own."""

import gc
import hashlib
import json
import re
import subprocess
import sys
import threading
import warnings
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import h5py
import numpy as np
import pandas as pd
import pooch
import pytest

from cocensor.paper import datasets
from cocensor.paper.datasets import (
    available,
    downloaded,
    load_churn,
    load_employee,
    load_metabric,
    load_mimic_iv,
    load_nacd,
    load_seer,
    load_support,
    load_whas,
)
from cocensor.paper.datasets._sources import fetch

NACD = "time,event,A\n5,1,2\n"


@pytest.fixture
def server(monkeypatch):
    """Files at addresses of this machine; a file may promise more bytes than it sends."""
    files, lies = {}, {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"") + lies.get(self.path, 0)))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    running.files, running.lies = files, lies
    running.url = f"http://127.0.0.1:{running.server_address[1]}"
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def serve(server, monkeypatch, name, content, **changes):
    """Let the loader of a recipe download ``content`` from our server."""
    server.files["/data"] = content
    recipe = getattr(downloaded, name)
    download = replace(recipe.download, url=f"{server.url}/data", **changes)
    monkeypatch.setattr(downloaded, name, replace(recipe, download=download))


def assert_same(ours, theirs):
    pd.testing.assert_frame_equal(ours.X, theirs.X, check_exact=True)
    np.testing.assert_array_equal(ours.y.time, theirs.y.time)
    np.testing.assert_array_equal(ours.y.event, theirs.y.event)


# --- the order of sources -------------------------------------------------------------------------------


def test_data_home_comes_before_the_environment(tmp_path, monkeypatch):
    for place in ("home", "environment"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "nacd.csv").write_text(NACD)
    monkeypatch.setenv("COCENSOR_DATA", str(tmp_path / "environment"))
    assert load_nacd(tmp_path / "home").source == str(tmp_path / "home" / "nacd.csv")
    assert load_nacd(str(tmp_path / "home")).source == str(tmp_path / "home" / "nacd.csv")
    assert load_nacd().source == str(tmp_path / "environment" / "nacd.csv")
    (tmp_path / "home" / "nacd.csv").unlink()
    assert load_nacd(tmp_path / "home").source == str(tmp_path / "environment" / "nacd.csv")


def test_a_folder_comes_before_a_package(csv_folder, tmp_path, monkeypatch):
    assert load_whas(tmp_path).source.startswith("scikit-survival ")
    monkeypatch.setenv("COCENSOR_DATA", str(csv_folder))
    assert load_whas(tmp_path).source == str(csv_folder / "whas500.csv")


def test_a_folder_that_is_none_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="^data_home .*nowhere"):
        load_whas(tmp_path / "nowhere")
    monkeypatch.setenv("COCENSOR_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="^COCENSOR_DATA .*nowhere"):
        load_whas()


# --- what is missing is said ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loader", "module", "sentence"),
    [
        (
            load_whas,
            "sksurv",
            "load_whas needs scikit-survival: pip install 'cocensor[learners]', or have whas500.csv in ",
        ),
        (
            load_support,
            "SurvSet",
            "load_support needs SurvSet: pip install 'cocensor[datasets]', or have support.csv ",
        ),
        (
            load_churn,
            "pooch",
            "load_churn needs pooch: pip install 'cocensor[datasets]', or have churn.csv in ",
        ),
        (
            load_metabric,
            "h5py",
            "load_metabric needs pooch and h5py: pip install 'cocensor[datasets]', or have ",
        ),
    ],
)
def test_a_missing_extra_is_named(loader, module, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="^" + re.escape(sentence)):
        loader()


def test_a_users_file_is_asked_for_with_its_columns_and_where_access_is_granted():
    for load, file, column, address in [
        (load_nacd, "nacd.csv", "'event'", "http://pssp.srv.ualberta.ca"),
        (load_mimic_iv, "mimic_iv.csv", "'cardiovascular'", "https://physionet.org/content/mimiciv/"),
        (lambda: load_seer("brain"), "seer_brain.csv", "'Survival months'", "https://seer.cancer.gov"),
    ]:
        with pytest.raises(FileNotFoundError) as refusal:
            load()
        message = str(refusal.value)
        assert all(part in message for part in (file, column, address, "data_home", "COCENSOR_DATA"))


def test_importing_loads_nothing_heavy():
    code = "import sys, json, cocensor.paper.datasets; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pandas", "polars", "pyarrow", "pooch", "requests", "h5py", "sksurv", "sklearn", "SurvSet"}
    assert not set(json.loads(done.stdout)) & heavy


# --- which data sets there are --------------------------------------------------------------------------


def test_available_names_every_data_set_and_downloads_nothing(tmp_path, monkeypatch):
    def download(*args, **options):
        raise AssertionError("available() must not download")

    monkeypatch.setattr(pooch, "retrieve", download)
    (tmp_path / "nacd.csv").write_text(NACD)
    table = available(tmp_path).set_index("name")
    assert len(table) == 12
    assert table["loadable"].dtype == bool
    assert table.loc["nacd", "source"] == str(tmp_path / "nacd.csv")
    assert table.loc["whas", "source"].startswith("scikit-survival ")
    assert table.loc["churn", "source"].startswith("https://")
    assert table.index[~table["loadable"]].tolist() == [
        "mimic_iv",
        "seer_brain",
        "seer_liver",
        "seer_stomach",
    ]
    assert "physionet" in table.loc["mimic_iv", "source"]


def test_available_says_which_extra_is_missing(monkeypatch):
    for module in ("pooch", "SurvSet"):
        monkeypatch.setitem(sys.modules, module, None)
    table = available().set_index("name")
    assert not table.loc[["metabric", "churn", "employee", "support"], "loadable"].any()
    assert "cocensor[datasets]" in table.loc["support", "source"]


def test_every_loader_is_listed(monkeypatch):
    listed = available()["name"].tolist()
    loaders = {name.removeprefix("load_") for name in datasets.__all__ if name.startswith("load_")}
    assert {name.split("_")[0] if name.startswith("seer") else name for name in listed} == loaders


# --- downloads ------------------------------------------------------------------------------------------


def original_churn(folder):
    text = (folder / "churn.csv").read_text()
    return text.replace("time,event\n", "months_active,churned\n", 1).encode()


def original_employee(folder):
    """As in the repository: other names, 1 instead of 1.0, lines that end as on Windows, the last one not."""
    head, rest = (folder / "employee.csv").read_text().split("\n", 1)
    head = head.replace(",time,", ",time_spend_company,").replace(",event,", ",left,")
    rest = re.sub(r"(?<![\d.])1\.0(?=,)", "1", rest)
    return f"{head}\n{rest.rstrip()}".replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("name", "load", "original"),
    [("CHURN", load_churn, original_churn), ("EMPLOYEE", load_employee, original_employee)],
    ids=["churn", "employee"],
)
def test_downloads_with_the_stated_checksum_give_the_rows_of_the_file(
    name, load, original, csv_folder, tmp_path, server, monkeypatch
):
    # These are the very bytes of the repository: their checksum is the one that the loader demands.
    serve(server, monkeypatch, name, original(csv_folder))
    data = load(tmp_path)
    assert data.source == f"{server.url}/data"
    assert_same(data, load(csv_folder))
    assert [path.name for path in tmp_path.iterdir()] == [getattr(downloaded, name).download.file]

    server.files.clear()
    assert_same(load(tmp_path), data)  # from the first download


def test_both_parts_of_metabric_are_read_and_agree_with_the_file(tmp_path, server, monkeypatch):
    # A file in DeepSurv's layout: single precision, of which a CSV file holds the shortest decimals.
    rng = np.random.default_rng(0)
    x = rng.normal(8, 2, (30, 9)).astype(np.float32)
    time = rng.uniform(0.6, 300, 30).astype(np.float32)
    time[7] = 0.4
    event = rng.integers(0, 2, 30).astype(np.int32)
    with h5py.File(tmp_path / "made.h5", "w") as file:
        for part, rows in {"train": slice(0, 20), "test": slice(20, None)}.items():
            for key, values in {"x": x, "t": time, "e": event}.items():
                file.create_dataset(f"{part}/{key}", data=values[rows])
    content = (tmp_path / "made.h5").read_bytes()
    serve(server, monkeypatch, "METABRIC", content, sha256=hashlib.sha256(content).hexdigest())

    (tmp_path / "csv").mkdir()
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(9)]).assign(time=time, event=event)
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "csv" / "metabric.csv", index=False)

    data = load_metabric(tmp_path)
    assert len(data) == 29
    assert data.source == f"{server.url}/data"
    assert_same(data, load_metabric(tmp_path / "csv"))


def test_another_content_is_refused_and_not_kept(tmp_path, server, monkeypatch):
    serve(server, monkeypatch, "CHURN", b"time,event\n1,1\n")
    sentence = (
        f"{server.url}/data does not have the SHA-256 checksum e24e4fbd[0-9a-f]{{56}}; nothing was kept."
    )
    with pytest.raises(ValueError, match=rf"^{sentence}\Z"):
        load_churn(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failure", ["broken off", "not found", "no server"])
def test_a_failed_download_leaves_nothing_behind(tmp_path, server, failure):
    content = b"x" * 10_000
    url = f"{server.url}/data"
    if failure == "broken off":
        server.files["/data"], server.lies["/data"] = content, 5_000
    if failure == "no server":
        url = "http://127.0.0.1:9/data"
    place = re.escape(str(tmp_path))
    sentence = rf"^{url} could not be downloaded \(\w+\); a copy .* may be put into {place} as file.csv.\Z"
    with warnings.catch_warnings():
        # The client leaves the socket of a broken transfer to the garbage collector, which tells.
        warnings.simplefilter("ignore", ResourceWarning)
        with pytest.raises(OSError, match=sentence):
            fetch("file.csv", url, hashlib.sha256(content).hexdigest(), tmp_path)
        gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_spoilt_copy_is_replaced_and_a_sound_one_is_not_fetched_again(tmp_path, server):
    content = b"sound"
    server.files["/data"] = content
    (tmp_path / "file.csv").write_bytes(b"spoilt")
    path = fetch("file.csv", f"{server.url}/data", hashlib.sha256(content).hexdigest(), tmp_path)
    assert path.read_bytes() == content
    server.files.clear()
    assert fetch("file.csv", f"{server.url}/data", hashlib.sha256(content).hexdigest(), tmp_path) == path


def test_without_a_folder_downloads_go_to_the_users_cache(tmp_path, server, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)
    server.files["/data"] = b"sound"
    path = fetch("file.csv", f"{server.url}/data", hashlib.sha256(b"sound").hexdigest())
    assert path == tmp_path / "cocensor" / "file.csv"
