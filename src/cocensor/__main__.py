"""``python -m cocensor`` is the command ``cocensor``."""

from cocensor.cli import app

app()
