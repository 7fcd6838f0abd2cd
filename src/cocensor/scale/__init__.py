"""Data beyond memory: read in batches, scored batch by batch."""

from cocensor.scale.parquet import scan_parquet
from cocensor.scale.scan import Scan, scan_chunks

__all__ = ["Scan", "scan_chunks", "scan_parquet"]
