"""Results as JSON can hold them."""

from cocensor.views.numbers.report import as_json, report_numbers

__all__ = ["as_json", "report_numbers"]
