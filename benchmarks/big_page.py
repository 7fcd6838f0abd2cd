"""How large is the page of a big study, part by part, and on how many pages of paper does it print?

Twelve Cox models that hardly differ, with names of 80 characters, curves at 3,000 times, all metrics at three times,
and the whole grid of dependences with dropout for three reasons.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.big_page [--metrics default] [--out big.html]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np

import cocensor as cc
from cocensor.cli.console import progress_bar
from cocensor.metrics.registry import metric_names
from cocensor.simulate import SyntheticDesign
from cocensor.study.report import Report

N, COVARIATES, MODELS, TIMES = 600, 6, 12, 3_000
NEEDED = {"ils": {"floor": 0.01}, "net_benefit": {"threshold": 0.3}}
AT = (8.0, 11.0, 14.0)
WORDS = "Cox proportional hazards <elastic net> & splines, “tuned” by 5×2 cross-validation/β"


def study(metrics: Any) -> Report:
    """All that the command line computes for its page."""
    data = SyntheticDesign(n=2 * N, n_features=COVARIATES, copula=cc.Clayton.from_tau(0.3)).draw(0)
    train, test = data[:N], data[N:]
    rng = np.random.default_rng(0)
    reasons = np.array(["moved away", "side effects", "too ill"])[rng.integers(3, size=N)]
    y_test = cc.Survival(test.y.time, test.y.event, reason=reasons)
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.97)), TIMES)
    models = {}
    for k in range(MODELS):
        used = (
            np.delete(np.arange(COVARIATES), k % COVARIATES)
            if k < COVARIATES
            else np.arange(k % COVARIATES, COVARIATES)
        )
        fitted = cc.CoxPH().fit(train.X[:, used], train.y)
        models[f"{k + 1:02d} {WORDS}"[:80]] = cc.Predictions(times, fitted.survival(times, test.X[:, used]))
    found = cc.evaluate(
        models, y_test, test.X, y_train=train.y, x_train=train.X, metrics=metrics, at=AT, time_unit="months"
    )
    with progress_bar() as phase:
        return found.full(hint=True, phases=phase)


def sizes(page: str) -> dict[str, int]:
    """Characters by part of the page: style, scripts, numbers by name, and sections."""
    found = {"page": len(page)}
    for name, pattern in {"style": r"<style>(.*?)</style>", "script": r"<script>(.*?)</script>"}.items():
        found[name] = sum(map(len, re.findall(pattern, page, re.DOTALL)))
    [block] = re.findall(r'<script type="application/gzip"[^>]*>(.*?)</script>', page, re.DOTALL)
    found |= {"embedded": len(block), **_largest("unpacked", json.loads(gzip.decompress(b64decode(block))))}
    for name, text in re.findall(r'<section id="([a-z-]+)"(.*?)</section>', page, re.DOTALL):
        found[f"#{name}"] = len(text)
    return found


def _largest(name: str, numbers: Any, depth: int = 3) -> dict[str, int]:
    size = len(json.dumps(numbers, ensure_ascii=False, separators=(",", ":")))
    found = {name: size}
    if isinstance(numbers, dict) and depth and size > 20_000:
        for key, each in numbers.items():
            found |= {k: v for k, v in _largest(f"{name}.{key}", each, depth - 1).items() if v > 10_000}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", default="all")
    parser.add_argument("--out", type=Path, default=Path("big.html"))
    asked = parser.parse_args()
    started = time.perf_counter()
    every = [cc.metric(name, **NEEDED.get(name, {})) for name in metric_names()]
    found = study(every if asked.metrics == "all" else asked.metrics)
    print(f"computed in {time.perf_counter() - started:.0f} s")
    started = time.perf_counter()
    found.to_html(asked.out, title="Twelve models")
    print(f"written in {time.perf_counter() - started:.1f} s")
    for name, size in sizes(asked.out.read_text(encoding="utf-8")).items():
        print(f"{size:>12,}  {name}")


if __name__ == "__main__":
    main()
