"""The report: one HTML file that says in words what an evaluation found, with all numbers and no network."""

from cocensor.views.html.page import write_report

__all__ = ["write_report"]
