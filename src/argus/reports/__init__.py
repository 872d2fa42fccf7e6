"""Reports: one self-contained HTML file from what the jobs left in a folder."""

from argus.reports.html import write_report

__all__ = ["write_report"]
