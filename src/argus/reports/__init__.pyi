from .html import figure_dicts as figure_dicts, plotly_figures as plotly_figures
from .html import render as render, write_report as write_report
from .templates import environment as environment
