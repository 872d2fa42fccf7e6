"""Where a knowledge base is: the file `kb.json` that a path stands for, no table of it read.

Apart from `KnowledgeFolder`, which reads the tables and loads Arrow for that, so that whoever only
asks what a path is has the answer at once.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from argus.data.artifacts import MARKER, SUMMARY
from argus.data.reading import read_own
from argus.data.records import parse_json
from argus.data.rows import FORMATS
from argus.data.storage import Storage, file_in
from argus.errors import InputError

KB_FILE = "kb.json"
"""Names every shard with its rows and size; written after them: without it they are not whole."""
WORDS = "words"
"""Folder of the BM25 index over the paragraphs, beside the shards."""
TABLE_NAMES = ("entities", "relations", "aliases", "redirects")
AGAIN = "Run the same kb build again: it goes on where it was."


def shard_name(table: str, number: int) -> str:
    """Return the name of a table's shard in the folder."""
    return f"{table}/part-{number:05d}.parquet"


def kb_file(path: str | Path) -> Path | None:
    """Return the `kb.json` that `path` (it, or its folder) stands for; None for what is no KB.

    Every address in an object store is taken for a knowledge base; what is the name of a file of
    rows is refused. The folder of a build whose shards are elsewhere stands for these. Raises
    InputError for a folder in which a build was not finished, or whose shards another has replaced.
    """
    file = file_in(path, KB_FILE)
    if isinstance(file, str):
        _refuse_rows(kb_home(file))
        return Path(file)
    if file.is_file():
        return file
    home = file.parent
    reading = (home / MARKER).is_file() and (home / "work").is_dir()
    if reading or any((home / shard_name(table, 0)).is_file() for table in TABLE_NAMES):
        raise not_finished(home)
    return _elsewhere(home)


def _elsewhere(path: Path) -> Path | None:
    """Return the kb.json of the shards that a build whose folder `path` is put elsewhere."""
    summary = path / SUMMARY
    if not (path / MARKER).is_file() or not summary.is_file():
        return None
    try:
        built = parse_json(read_own(summary))["kb"]
        shards, key = str(built["shards"]), built["key"]
    except (ValueError, TypeError, KeyError):
        return None  # of other jobs
    file = file_in(shards, KB_FILE)
    if isinstance(file, Path) and file.parent.resolve() == path.resolve():
        return None
    if _key_of(file) not in (None, key):
        raise InputError(
            f"its shards were replaced by another build ({shards})",
            expected="the shards that its summary.json tells of",
            fix="Run its kb build again, with a --shards of its own; or name the shards.",
            where=path,
        )
    return Path(file)


def _key_of(file: Path | str) -> object:
    """Return the key of the build that wrote a kb.json; None where it is no whole one any more."""
    storage = Storage.at(kb_home(file))
    try:
        if storage.sizes([KB_FILE]) == [None]:
            return None
        return parse_json(storage.read(KB_FILE))["facts"]["key"]
    except (ValueError, TypeError, KeyError):
        return None  # whoever opens it says what is wrong


def _refuse_rows(location: Path | str) -> None:
    name = str(location).partition("?")[0]
    if PurePosixPath(name.removesuffix(".gz")).suffix.lower() not in FORMATS:
        return
    raise InputError(
        "is a file of rows in an object store",
        expected="a knowledge base there; other files are read from this machine only",
        fix="Copy it here, or make a knowledge base of it: argus kb build --entities FILE.",
        where=location,
    )


def kb_home(file: Path | str) -> Path | str:
    """Return the folder of a kb.json; the options of an address stay at its end."""
    if isinstance(file, Path):
        return file.parent
    address, mark, options = file.partition("?")
    return address.removesuffix(f"/{KB_FILE}") + mark + options


def not_finished(where: str | Path) -> InputError:
    """Return the error for a folder in which a build broke off."""
    return InputError(
        "was not finished", expected=f"a whole knowledge base ({KB_FILE})", fix=AGAIN, where=where
    )
