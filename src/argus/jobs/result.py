"""What every job returns: a few lines at the prompt, tables as data frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

LINES = 6
"""Of the headline that a result shows of itself."""


class Result(ABC):
    """The base of all results. Its dataclasses are declared with `repr=False`.

    headline: what the command prints of it, line by line. TABLES: the fields that hold a table, the
    main one first.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    @abstractmethod
    def headline(self) -> Iterable[str]:
        """Yield the figures that matter, in words."""

    def __repr__(self) -> str:
        home = getattr(self, "folder", None)
        name = type(self).__name__ + (f" in {home}" if home is not None else "")
        return "\n  ".join([name, *_first(self.headline())])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the headline, and a link to the report."""
        lines = "".join(f"<li>{escape(line)}</li>" for line in _first(self.headline()))
        report: Path | None = getattr(self, "report", None)
        link = f' · <a href="{escape(str(report))}">report</a>' if report is not None else ""
        return f"<b>{type(self).__name__}</b>{link}<ul>{lines}</ul>"

    def to_pandas(self, table: str | None = None) -> Any:
        """Return a table as a pandas DataFrame; table: its name, None for the main one.

        Raises ImportError where pandas is not installed.
        """
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        return self._table(table).to_pandas()

    def to_polars(self, table: str | None = None) -> Any:
        """Return a table as a polars DataFrame; table: its name, None for the main one.

        Raises ImportError where polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars() needs polars: pip install polars") from error
        return polars.from_arrow(self._table(table))

    def _table(self, name: str | None) -> pa.Table:
        name = self.TABLES[0] if name is None else name
        if name not in self.TABLES:
            raise KeyError(f"{name!r}: the tables are {', '.join(self.TABLES)}")
        table: pa.Table = getattr(self, name)
        return table


def _first(lines: Iterable[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    every = list(lines)
    more = [f"... {len(every) - LINES} more lines"] if len(every) > LINES else []
    return every[:LINES] + more
