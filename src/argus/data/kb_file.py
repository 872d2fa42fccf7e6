"""Find the knowledge base that a path or an address stands for: its file `kb.json`.

This reads no table and loads no Arrow, so that a wrong path is refused at once.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath

from argus.data.folders import MARKER, SUMMARY
from argus.data.reading import parse_json, read_own
from argus.data.rows import FORMATS
from argus.data.storage import KB_FILE, Storage, file_in
from argus.errors import InputError

WORDS = "words"  # file of the BM25 index over the paragraphs, beside the shards
TABLE_NAMES = ("entities", "relations", "aliases", "redirects")


def shard_name(table: str, number: int) -> str:
    """Return the name of a table's shard in the folder."""
    return f"{table}/part-{number:05d}.parquet"


def kb_home(file: Path | str) -> Path | str:
    """Return the folder of a kb.json. The options of an address stay at its end."""
    if isinstance(file, Path):
        return file.parent
    address, mark, options = file.partition("?")
    return address.removesuffix(f"/{KB_FILE}") + mark + options


def not_finished(where: str | Path) -> InputError:
    """Return the error for a folder in which a build broke off."""
    fix = "Run the same kb build again: it goes on where it was."
    expected = f"a whole knowledge base ({KB_FILE})"
    return InputError("was not finished", expected=expected, fix=fix, where=where)


def kb_file(path: str | Path) -> Path | None:
    """Return the `kb.json` of a folder, or of an address. None for a folder without one.

    `path` may be that file itself. Every address in an object store counts as a knowledge base,
    except one with the name of a file of rows, which is refused. The folder of a build whose shards
    are elsewhere stands for these. Raises InputError for a folder in which a build was not
    finished, or whose shards another build has replaced.
    """
    file = file_in(path, KB_FILE)
    if isinstance(file, str):
        home = kb_home(file)
        name = str(home).partition("?")[0].removesuffix(".gz")
        if PurePosixPath(name).suffix.lower() in FORMATS:
            got = "is a file of rows in an object store"
            expected = "a knowledge base there; other files are read from this machine only"
            fix = "Copy it here, or make a knowledge base: argus research kb build --entities FILE."
            raise InputError(got, expected=expected, fix=fix, where=home)
        return Path(file)
    if file.is_file():
        return file
    folder = file.parent
    is_build = (folder / MARKER).is_file()
    if (is_build and (folder / "work").is_dir()) or any(
        (folder / shard_name(table, 0)).is_file() for table in TABLE_NAMES
    ):
        raise not_finished(folder)
    return _shards_elsewhere(folder) if is_build and (folder / SUMMARY).is_file() else None


def _shards_elsewhere(folder: Path) -> Path | None:
    """Return the kb.json of the shards that the build of this folder put elsewhere."""
    try:
        built = parse_json(read_own(folder / SUMMARY))["kb"]
        shards, key = str(built["shards"]), built["key"]
    except (ValueError, TypeError, KeyError):
        return None  # of other jobs
    file = file_in(shards, KB_FILE)
    if isinstance(file, Path) and file.parent.resolve() == folder.resolve():
        return None
    storage, found = Storage.at(kb_home(file)), key
    with suppress(ValueError, TypeError, KeyError):  # opening it raises an error that says more
        if storage.sizes([KB_FILE]) != [None]:
            found = parse_json(storage.read(KB_FILE))["facts"]["key"]
    if found not in (None, key):
        got = f"its shards were replaced by another build ({shards})"
        fix = "Run its kb build again, with a --shards of its own; or name the shards."
        expected = "the shards that its summary.json tells of"
        raise InputError(got, expected=expected, fix=fix, where=folder)
    return Path(file)
