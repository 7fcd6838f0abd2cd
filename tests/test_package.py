import importlib.metadata
import json
import subprocess
import sys

import cocensor

HEAVY = ["matplotlib", "pandas", "polars", "pyarrow", "plotly", "torch", "sksurv", "sklearn", "typer", "rich"]
HEAVY += ["scipy.optimize", "scipy.stats", "scipy.integrate"]


def test_import_loads_nothing_heavy():
    code = "import sys, json, cocensor; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & set(HEAVY)
    assert {"numpy", "narwhals"} <= loaded


def test_public_names_are_there_and_the_version_is_one():
    for name in cocensor.__all__:
        assert getattr(cocensor, name) is not None
    assert importlib.metadata.version("cocensor") == cocensor.__version__
