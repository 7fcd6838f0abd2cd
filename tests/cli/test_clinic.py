"""A clinic's raw export, as a spreadsheet writes it, goes from files to a page with an answer."""

import re

import pandas as pd

from benchmarks.clinic import DATA_LOCK, write
from tests.cli.study import run


def test_a_raw_export_goes_from_files_to_an_answer(tmp_path, capsys):
    """Semicolons, decimal commas, Windows-1252, dates, reasons, sums beside their items, times of 0."""
    write(tmp_path, 700, 0)
    assert int(re.search(r"(\d+) of the times are 0", capsys.readouterr().out).group(1)) > 0
    for file in tmp_path.glob("*.csv"):
        frame = pd.read_csv(file, keep_default_na=False)
        if "reason" in frame:
            frame["reason"] = frame["reason"].replace("moved away", "déménagé")
        frame.to_csv(file, index=False, sep=";", decimal=",", encoding="cp1252")
    columns = ["--entry", "admitted", "--exit", "last_seen", "--data-lock", DATA_LOCK, "--event", "died"]
    found = run(
        "evaluate",
        *("--train", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--id", "patient", *columns),
        *("--time-unit", "months", "--reason", "reason", "--covariates", "all"),
        *(part for name in ("cox", "simple") for part in ("--predictions", f"{name}={tmp_path / name}.csv")),
        *("--families", "frank,hazard_ratio", "--taus", "-0.2,0,0.2", "--metrics", "ibs"),
        *("--out", tmp_path / "report.html", "--verbose"),
    )
    assert found.exit_code == 0, found.output
    for fact in ("Windows-1252", "time of 0", "months", "cox"):
        assert fact in found.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    [facts] = re.findall(r'<p class="facts">(.*?)</p>', page, re.DOTALL)
    [lead] = re.findall(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    assert "months" in facts
    assert "censored by the end of the study" in facts
    assert "<bdi>cox</bdi>" in lead
