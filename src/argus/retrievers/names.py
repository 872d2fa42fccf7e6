"""Recognise the name of a retriever (index, store, HTTP file, Python file) before it is opened.

`check_named` refuses a bad --retriever without an import or a connection.
`argus.retrievers.opening` opens the named retriever.
"""

from __future__ import annotations

from pathlib import Path

from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.python_file import split_name
from argus.stores.spec import asks_store, blended_store, is_store, parse_store, shown

# Prefix of the file that describes an endpoint.
HTTP = "http:"
# Prefix of the path of an Argus index.
INDEX = "index:"
# Prefix of the folder of an n-gram index: `generative:INDEX,model=FOLDER`.
GENERATIVE = "generative:"
# Names of retrievers, in errors and in the line of help of --retriever.
NAMES = (
    "FILE.py:NAME, http:FILE.yaml, a store (KIND:PLACE/COLLECTION; blended: before it for what "
    "remedy blend wrote), generative:INDEX,model=FOLDER or an index's folder"
)


def is_index(name: str) -> bool:
    """Return whether a name is that of an index: by its prefix, or as a folder that holds one."""
    return name.startswith(INDEX) or (_folder(name) / INDEX_FILE).is_file()


def http_file(name: str) -> Path | None:
    """Return the file of `http:FILE.yaml`. None for another name."""
    if not name.startswith(HTTP) or name.startswith(f"{HTTP}//"):
        return None
    return Path(name.removeprefix(HTTP))


def input_path(retriever: object) -> Path | None:
    """Return the file or folder of a named retriever. None for an object or a server."""
    if not isinstance(retriever, str | Path):
        return None
    name = str(retriever)
    if is_index(name) or name.startswith(GENERATIVE):
        return _folder(name.removeprefix(INDEX).removeprefix(GENERATIVE))
    if is_store(store := blended_store(name) or name):
        place = Path(parse_store(store).place)
        return place if place.exists() else None
    files = (http_file(name) or Path(name), Path(split_name(name)[0]))
    return next((file for file in files if file.is_file()), None)


def has_kind(name: str) -> bool:
    """Return whether a name is that of a store, an index, an endpoint or a generative search."""
    is_other = http_file(name) or name.startswith(GENERATIVE)
    return bool(is_other or asks_store(name) or is_index(name))


def check_named(name: str) -> None:
    """Raise InputError unless the name is that of a retriever. Nothing is opened."""
    if not has_kind(name):
        check_python_file(name)


def check_python_file(name: str) -> None:
    """Raise InputError unless the name may be that of a Python file."""
    path = Path(name) if Path(name).exists() else Path(split_name(name)[0])
    if path.suffix == ".py" or path.is_file():
        return  # a broken file is refused where it is read
    raise InputError(
        f"{shown(name)!r} names no retriever" if not path.is_dir() else "a folder that is no index",
        expected=NAMES,
        fix="Check the name.",
        where="--retriever" if not path.is_dir() else path,
    )


def _folder(name: str) -> Path:
    """Return the path of an index, without its state and settings."""
    path = name.partition(",")[0] if not Path(name).exists() else name
    return Path(path if Path(path).exists() else path.rpartition("@")[0] or path)
