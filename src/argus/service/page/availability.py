"""Which pages have something to show of a folder; the others say what to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from argus.indexes.header import FILE as INDEX_FILE
from argus.service.page.documents.catalog import SOURCES
from argus.service.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Tab:
    """One entry of the navigation: its name in the URL, what a person reads, and when it is ready.

    ready: whether the page has something to show of a folder (None: of no folder).
    """

    name: str
    title: str
    ready: Callable[[Workplace, Path | None], bool]


@dataclass(frozen=True, slots=True)
class ShownTab:
    """A tab as the navigation of one folder shows it."""

    name: str
    title: str
    ready: bool


def any_of(*files: str) -> Callable[[Workplace, Path | None], bool]:
    """Return what asks whether a folder holds any of some files."""
    return lambda _, folder: folder is not None and any((folder / f).is_file() for f in files)


def has_index(workplace: Workplace, folder: Path | None) -> bool:
    """Return whether there is an index to search: the workplace's, or the folder itself."""
    return workplace.index is not None or (folder is not None and (folder / INDEX_FILE).is_file())


def is_searched(workplace: Workplace, folder: Path | None) -> bool:
    """Return whether there is anything to search: an index, a retriever or a store."""
    return workplace.searches is not None or has_index(workplace, folder)


def _has_results(_: Workplace, folder: Path | None) -> bool:
    return folder is not None


def _has_authority(workplace: Workplace, folder: Path | None) -> bool:
    return workplace.authority is not None or any_of("authority.parquet")(workplace, folder)


TABLES = tuple(f"{source.file}.parquet" for source in SOURCES)
"""Tables with a row per document or entity."""
QUESTIONS = ("traffic.parquet", "questions.parquet", "per_query.parquet", "judging.parquet")
"""Tables of questions."""
TABS = (
    Tab("overview", "Overview", _has_results),
    Tab("why-not", "Why not?", is_searched),
    Tab("documents", "Documents", any_of(*TABLES)),
    Tab("questions", "Questions", any_of(*QUESTIONS)),
    Tab("repairs", "Repairs", has_index),
    Tab("authority", "Current or superseded", _has_authority),
    Tab("compare", "Compare", lambda w, f: is_searched(w, f) or any_of("comparison.parquet")(w, f)),
    Tab("generative", "Generative", any_of("generative_search.parquet", "failures.parquet")),
    Tab("map", "Map", any_of("retrievability.parquet")),
)  # fmt: skip
"""The pages, in their order; each has the path /page/FOLDER/NAME."""


def shown_tabs(workplace: Workplace, folder: Path | None) -> list[ShownTab]:
    """Return the tabs of a folder, each with whether it has something to show."""
    return [ShownTab(tab.name, tab.title, tab.ready(workplace, folder)) for tab in TABS]
