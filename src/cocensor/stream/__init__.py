"""Data beyond memory: read in batches, scored batch by batch."""

from cocensor.stream.chunks import scan_chunks
from cocensor.stream.draw import Drawn, hashed
from cocensor.stream.parquet import scan_parquet
from cocensor.stream.source import Batch, Columns, Keys, Part, Scan

__all__ = ["Batch", "Columns", "Drawn", "Keys", "Part", "Scan", "hashed", "scan_chunks", "scan_parquet"]
