"""What the service was started over: folders of results, an index, a retriever, a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.manifest import MANIFEST
from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.verdict.reading import SUMMARY, Results


@dataclass(frozen=True, slots=True)
class ResultsFolder:
    """A folder of results, under the name that its pages have in a URL."""

    name: str
    path: Path

    def read(self) -> Results:
        """Read what lies there now; InputError where a file is damaged."""
        return Results.of(self.path)


@dataclass(frozen=True)
class Workplace:
    """The folders that the service may read and write, and what it searches.

    Nothing outside `folders` is read or written for a request. index: PATH or PATH@STATE.
    retriever: as `--retriever` of every command names it. store: as `argus reach` names it.
    """

    folders: tuple[Path, ...]
    index: str | None = None
    retriever: str | None = None
    store: str | None = None
    results: tuple[ResultsFolder, ...] = field(default=(), compare=False)

    def folder(self, name: str) -> ResultsFolder:
        """Return the folder of results of that name; InputError lists those there are."""
        for results in self.results:
            if results.name == name:
                return results
        raise InputError(
            f"{name!r}",
            expected=f"one of {', '.join(one.name for one in self.results) or 'no folder at all'}",
            fix="Name one of the folders that the service was started over.",
            where="folder",
        )

    def contains(self, path: Path) -> bool:
        """Return whether a path, links followed, lies in one of the folders."""
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in self.folders)


def open_workplace(
    folders: Sequence[Path],
    *,
    index: str | None = None,
    retriever: str | None = None,
    store: str | None = None,
) -> Workplace:
    """Return the workplace over some folders: of results, of an index, or of several of these.

    Where no index is named, the first folder that is one is searched. Raises InputError for a
    folder that is not there, or where there is nothing to serve.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                "is no folder" if folder.exists() else "no such folder",
                expected="a folder of results, or an index",
                fix="Make one, for example with `argus demo`.",
                where=folder,
            )
    places = [place for folder in folders for place in _places(folder)]
    results = tuple(_named([place for place in places if _holds_results(place)]))
    index = index or next((str(p) for p in places if (p / INDEX_FILE).is_file()), None)
    if not results and index is None and retriever is None and store is None:
        raise InputError(
            "nothing to serve",
            expected="a folder with results (summary.json) or an index (index.json)",
            fix="Run `argus demo`, or name an index with --index.",
            where=folders[0] if folders else None,
        )
    return Workplace(tuple(folders), index, retriever, store, results)


def _places(folder: Path) -> Iterator[Path]:
    """Yield a folder, and the folders in it where it is none of results itself."""
    yield folder
    if not _holds_results(folder):
        yield from sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())


def _holds_results(folder: Path) -> bool:
    return (folder / SUMMARY).is_file() and (folder / MANIFEST).is_file()


def _named(paths: Sequence[Path]) -> Iterator[ResultsFolder]:
    """Yield the folders under their own names, a number behind one that comes again."""
    taken: set[str] = set()
    for path in paths:
        stem = path.resolve().name
        name = next(n for n in _numbered(stem) if n not in taken)
        taken.add(name)
        yield ResultsFolder(name, path)


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}-{number}"
        number += 1
