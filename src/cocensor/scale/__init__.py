"""Data beyond memory: read in batches, scored batch by batch."""

from cocensor.scale.chunks import scan_chunks
from cocensor.scale.parquet import scan_parquet
from cocensor.scale.scan import Scan

__all__ = ["Scan", "scan_chunks", "scan_parquet"]
