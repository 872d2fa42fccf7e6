"""Which index, and which state of it: as commands name it, nothing opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError, unnamed


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """An index as it is named on the command line: `PATH`, or `PATH@STATE`.

    States: `original` (no remedy), `REMEDY_ID` (right after it), `before:REMEDY_ID` (right before).
    """

    path: Path
    as_of: str | None = None

    def __str__(self) -> str:
        return f"{self.path}@{self.as_of}" if self.as_of else str(self.path)


def parse_index_spec(text: str | Path | IndexSpec) -> IndexSpec:
    """Return path and state. A path that exists as it stands, '@' and all, is that path.

    Raises InputError for an empty text, which is no folder, and for half of a state.
    """
    if isinstance(text, IndexSpec):
        return text
    path, at, as_of = str(text).rpartition("@")
    if text == "":
        raise unnamed("the name of an index is empty")
    if not at or Path(text).exists():
        return IndexSpec(Path(text))
    if not path or not as_of:
        raise InputError(
            f"index {str(text)!r}",
            expected="PATH, PATH@original, PATH@REMEDY_ID or PATH@before:REMEDY_ID",
            fix="Leave '@' out to search the index as it is now.",
        )
    return IndexSpec(Path(path), as_of)


def index_folder(text: str | Path) -> Path:
    """Return the folder of an index that is to be changed; InputError where a state is named."""
    spec = parse_index_spec(text)
    if spec.as_of is None:
        return spec.path
    raise InputError(
        f"names the state {spec.as_of!r} of an index",
        expected="the folder alone: an index is changed as it is now, with all its states",
        fix=f"Give {spec.path}; states can be searched and compared.",
        where=str(text),
    )
