"""Rows of tables as they are shown, and values for templates."""

from __future__ import annotations

from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
"""A row of a Parquet file, by column: the template that shows it says which columns it reads."""
Rows: TypeAlias = list[Row]
Values: TypeAlias = dict[str, Any]
"""What a template is rendered with, by name."""
