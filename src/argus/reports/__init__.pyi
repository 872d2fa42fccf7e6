from .html import (
    environment as environment,
    figure_dicts as figure_dicts,
)
from .html import render as render, write_report as write_report
