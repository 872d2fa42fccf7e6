"""Parts of pages that are made of stored figures, between two markers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
END = "<!-- end -->"


def put(page: Path, begin: str, lines: Iterable[str]) -> None:
    """Put lines between a marker and the next end."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(END)
    body = "\n".join(lines).rstrip("\n")
    page.write_text(f"{before}{begin}\n{body}\n{END}{after}", encoding="utf-8")


def body(page: Path, begin: str) -> list[str]:
    """Return the lines between a marker and the next end."""
    text = page.read_text(encoding="utf-8").partition(f"{begin}\n")[2]
    return text.partition(END)[0].splitlines()
