"""The report: one HTML file that says in words what an evaluation found, with all numbers and no network."""

from cocensor.report.page import check_path, write_report

__all__ = ["check_path", "write_report"]
