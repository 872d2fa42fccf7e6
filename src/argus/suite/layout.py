"""A table, and how it is written: Markdown, LaTeX, and columns for Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from argus.data.texts import in_cell

UP, DOWN = "↑", "↓"
_LATEX = {
    UP: r"$^{\uparrow}$", DOWN: r"$^{\downarrow}$", "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


@dataclass(frozen=True)
class Figure:
    """A number of a table. mark: beside it; missing: what stands in its place."""

    value: float | None
    mark: str = ""
    missing: str = ""


Entry = str | int | Figure


@dataclass(frozen=True)
class Sheet:
    """A table by name. digits: of its figures; notes: what stands below."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    digits: int = 3
    notes: Sequence[str] = ()

    def texts(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[self._text(entry) for entry in row] for row in self.rows]

    def markdown(self) -> str:
        """Return it as Markdown: title, table, notes."""
        rows = [list(map(in_cell, self.columns)), list(map(self._rule, range(len(self.columns))))]
        rows += [list(map(in_cell, row)) for row in self.texts()]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines, "", *self.notes]).rstrip() + "\n"

    def latex(self) -> str:
        """Return it as LaTeX, for the package booktabs."""
        align = "".join("r" if self._is_number(i) else "l" for i in range(len(self.columns)))
        rows = [" & ".join(map(_latex, row)) + r" \\" for row in self.texts()]
        head = [r"\begin{table}", rf"\caption{{{_latex(self.title)}}}"]
        head += [rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        head += [" & ".join(map(_latex, self.columns)) + r" \\", r"\midrule"]
        tail = [r"\bottomrule", r"\end{tabular}"]
        tail += [rf"\par {_latex(note)}" for note in self.notes]
        return "\n".join([*head, *rows, *tail, r"\end{table}", ""])

    def arrow(self) -> pa.Table:
        """Return its columns: figures as numbers, beside them what is marked or missing."""
        columns: dict[str, pa.Array] = {}
        for i, name in enumerate(self.columns):
            entries = [row[i] for row in self.rows]
            if not self._is_number(i):
                columns[name] = pa.array([self._text(entry) for entry in entries], pa.string())
                continue
            figures = [e if isinstance(e, Figure) else _figure(e) for e in entries]
            columns[name] = pa.array([figure.value for figure in figures], pa.float64())
            remarks = [figure.mark or figure.missing for figure in figures]
            if any(remarks):
                columns[f"{name}, remark"] = pa.array(remarks, pa.string())
        return pa.table(columns)

    def _rule(self, column: int) -> str:
        return "---:" if self._is_number(column) else "---"

    def _is_number(self, column: int) -> bool:
        return any(isinstance(row[column], Figure | int) for row in self.rows)

    def _text(self, entry: Entry) -> str:
        if isinstance(entry, int):
            return f"{entry:,}"
        if isinstance(entry, str):
            return entry
        if entry.value is None:
            return entry.missing
        return f"{entry.value:,.{self.digits}f}{entry.mark}"


def _figure(entry: str | int) -> Figure:
    return Figure(float(entry)) if isinstance(entry, int) else Figure(None, missing=entry)


def _latex(text: str) -> str:
    return _SPECIAL.sub(lambda sign: _LATEX[sign[0]], " ".join(text.split()))
