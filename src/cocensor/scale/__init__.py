"""Data beyond memory: read in batches, scored batch by batch."""

from cocensor.scale.chunks import scan_chunks
from cocensor.scale.draw import Drawn, hashed
from cocensor.scale.parquet import scan_parquet
from cocensor.scale.source import Batch, Columns, Keys, Part, Scan

__all__ = ["Batch", "Columns", "Drawn", "Keys", "Part", "Scan", "hashed", "scan_chunks", "scan_parquet"]
