"""Cells of the table that people fill in: any id survives it, and the spreadsheet that saves it.

In an id, control characters, ends of lines and white space at either end are written as `␛`, their
number in hexadecimal, and `;`: a tab is `␛9;`. A line of the table is a line, and no program trims
what cannot be seen. Cells with a quotation mark are quoted, as spreadsheets do it.
"""

from __future__ import annotations

import re
import unicodedata

from argus.data.csv_cells import as_written, harmless

MARK = "␛"
_UNSEEN = frozenset({"Cc", "Zl", "Zp"})
"""Categories of control characters and ends of lines."""
_ESCAPED = re.compile(rf"{MARK}([0-9a-f]{{1,6}});")
_LARGEST = 0x10FFFF


def id_cell(id_: str) -> str:
    """Return an id as a cell; `id_in` reads it back."""
    body = id_.strip()
    start = id_.index(body)
    end = start + len(body)
    shown = (
        f"{MARK}{ord(c):x};" if not start <= i < end or _is_unseen(c) else c
        for i, c in enumerate(id_)
    )
    return harmless("".join(shown))


def _is_unseen(character: str) -> bool:
    return character == MARK or unicodedata.category(character) in _UNSEEN


def id_in(cell: str) -> str:
    """Return the id that a cell holds; the cell is not quoted any more."""
    return _ESCAPED.sub(_character, as_written(cell))


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1], 16)
    return chr(number) if number <= _LARGEST else escape[0]


def text_cell(text: str) -> str:
    """Return a text as a cell: on one line, and no formula."""
    return harmless(" ".join(text.split()))


def quoted(cell: str) -> str:
    """Return a cell as it stands in the file."""
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell


def unquoted(cell: str) -> str:
    """Return a cell as it was before it was quoted: other files with tabs know no quotes."""
    is_quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if is_quoted else cell
