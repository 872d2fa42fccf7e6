"""Define the result that every job returns: lines to print, a notebook view, tables as data frames.

`Result` is the base class of `AuditResult`, `EvaluateResult` and the others. A job's command prints
its `headline`. `to_pandas` and `to_polars` read the Parquet tables of its folder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from argus.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Lines of the headline that a result shows of itself.
LINES = 6
# Columns that several jobs have. A data frame names them after its job: merges need no suffix.
SHARED = frozenset({"label", "state", "reason", "rps", "band", "rank", "displaced_by"})


class Result(ABC):
    """The base of all results. Its dataclasses are declared with `repr=False`.

    A `folder` and a `report` are shown where a result has them. TABLES: the fields or properties
    that hold a table, the main one first.
    """

    TABLES: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def headline(self) -> Iterator[str]:
        """Yield the lines that the command prints: the figures that matter, in words."""

    def __repr__(self) -> str:
        return "\n  ".join([self._title(), *_first(self.headline())])

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the same lines, and a link to the report."""
        lines = escape("\n".join(_first(self.headline())))
        report: Path | None = getattr(self, "report", None)
        link = ""
        if report is not None:
            link = f'<a href="{escape(quote(report.as_posix()))}">{escape(str(report))}</a>'
        title = escape(self._title())
        return f'<b>{title}</b><pre style="white-space: pre-wrap">{lines}</pre>{link}'

    def to_pandas(self, table: str | None = None) -> Any:
        """Return a table as a pandas DataFrame. table: its name, None for the main one.

        Tables of documents merge on `id`: columns that both have start with the job's name, as
        `exposure_label`. Those of judged questions merge on `query_id`.

        Raises InputError where there is no such table, ImportError where pandas is not installed.
        """
        arrow = self._table(table)
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        return arrow.to_pandas()

    def to_polars(self, table: str | None = None) -> Any:
        """Return a table as a polars DataFrame, with the columns of `to_pandas`.

        Raises InputError where there is no such table, ImportError where polars is not installed.
        """
        arrow = self._table(table)
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars() needs polars: pip install polars") from error
        return polars.from_arrow(arrow)

    def _title(self) -> str:
        folder: Path | None = getattr(self, "folder", None)
        return type(self).__name__ + (f" in {folder}" if folder is not None else "")

    def _table(self, name: str | None) -> pa.Table:
        if not self.TABLES:
            raise InputError(
                f"{type(self).__name__} holds no table",
                expected="a result with one",
                fix="Its figures are in .summary, its files in .folder, where it has them.",
                where="table",
            )
        if name is not None and name not in self.TABLES:
            raise InputError(
                f"{name!r}",
                expected=f"one of {', '.join(self.TABLES)}",
                fix="Leave it out for the main table.",
                where="table",
            )
        table: pa.Table = getattr(self, name or self.TABLES[0])
        if "id" not in table.column_names:
            return table
        job = type(self).__name__.removesuffix("Result").lower()
        job = job if name in (None, self.TABLES[0]) else name
        return table.rename_columns(
            [f"{job}_{c}" if c in SHARED else c for c in table.column_names]
        )


@dataclass(frozen=True, repr=False)
class TableResult(Result):
    """A result with a folder, a report, a summary and one table. Everything is also in `folder`."""

    TABLES: ClassVar[tuple[str, ...]] = ("table",)
    folder: Path
    report: Path
    summary: Any  # of keys that each job names
    table: pa.Table


def _first(lines: Iterable[str]) -> list[str]:
    """Return the first lines that are not blank, and how many more there are."""
    shown = [line for line in lines if line.strip()]
    more = [f"... {len(shown) - LINES} more lines"] if len(shown) > LINES else []
    return shown[:LINES] + more
