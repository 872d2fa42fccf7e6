"""Read and write folders of files, on this machine or in an object store (s3://, gs://)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from argus.data.reading import reading
from argus.data.writing import write_whole
from argus.errors import InputError

if TYPE_CHECKING:
    from pyarrow import Buffer, NativeFile
    from pyarrow.fs import FileSystem

KB_FILE = "kb.json"  # names the shards of a knowledge base; see `argus.data.kb_file`
GIVE_UP_S = 30  # how long Google's client tries again; its own default is a quarter of an hour
_SCHEME = re.compile(r"(s3|gs|gcs|file)(?=:/):/+|([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_STORES = ("s3", "gs", "gcs")
_FIX = {
    "s3": "Check the bucket, its region (s3://bucket/path?region=...) and the credentials "
    "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE); for a store that is not "
    "Amazon's, its address (AWS_ENDPOINT_URL).",
    "gs": "Check the bucket and the credentials (GOOGLE_APPLICATION_CREDENTIALS).",
    "file": "Check the path, and whether it may be read and written.",
}
_FIX["gcs"] = _FIX["gs"]


def is_remote(location: str | Path) -> bool:
    """Return whether `location` is in an object store."""
    return _scheme(location) in _STORES


def child(location: str | Path, name: str) -> str:
    """Return `location/name`. The options of an address (`?region=...`) stay at its end."""
    if not is_remote(location):
        return str(location).rstrip("/") + "/" + name
    address, mark, options = _address(location).partition("?")
    return f"{address.rstrip('/')}/{name}{mark}{options}"


def local_path(location: str | Path) -> Path:
    """Return a location on this machine as a path, without file://."""
    if _scheme(location) != "file":
        return Path(location)
    return Path(unquote(_SCHEME.sub("/", str(location), count=1)))


def file_in(location: str | Path, name: str) -> Path | str:
    """Return the file `name` of a location, which is its folder or the file itself.

    On this machine it is a path, in an object store an address.
    """
    if not is_remote(location):
        path = local_path(location)
        return path if path.name == name else path / name
    address, _, _ = _address(location).partition("?")
    return _address(location) if address.endswith(f"/{name}") else child(location, name)


def absolute(location: str | Path) -> str:
    """Return a path from the root on, for processes that work elsewhere. Addresses as they are."""
    return _address(location) if _scheme(location) else str(Path(location).absolute())


def bytes_in(folder: Path) -> int:
    """Return the size of all files of a folder on this machine."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def open_storage(location: str | Path) -> tuple[FileSystem, str]:
    """Return the pyarrow filesystem of a location, and the path in it.

    location: a path, file://, s3:// or gs://. Also a `Path` that swallowed a slash ("s3:/bucket").
    AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_S3) names an S3-compatible store. Raises InputError for
    another scheme, an address that cannot be parsed and a bucket whose region cannot be found.
    """
    from pyarrow import fs

    scheme = _scheme(location)
    if scheme in (None, "file"):
        return fs.LocalFileSystem(), str(local_path(location).absolute())
    if scheme not in _STORES:
        got, fix = f"storage of the kind {scheme}:// is not known", "Copy or mount the folder."
        expected = "a path, file://, s3:// or gs://"
        raise InputError(got, expected=expected, fix=fix, where=str(location))
    with reaching(location):
        filesystem, path = fs.FileSystem.from_uri(_with_options(_address(location)))
        if not path.strip("/"):
            raise ValueError("it names no bucket")
    return filesystem, str(path)


def reaching(location: str | Path) -> AbstractContextManager[None]:
    """Turn the errors of a filesystem into an InputError with `location` and a way to mend it."""
    scheme = _scheme(location) or "file"
    expected = "a folder that can be read" if scheme == "file" else "a bucket and a path"
    return reading(str(location), "cannot be reached", expected=expected, fix=_FIX[scheme])


def read_bytes(location: str | Path) -> bytes:
    """Return the content of a file. Raises InputError where it cannot be read."""
    filesystem, path = open_storage(location)
    with reaching(location), filesystem.open_input_file(path) as file:
        return bytes(file.read())


def state_of_file(location: str | Path) -> tuple[int, int | None] | None:
    """Return size and last change (ns since 1970) of a file, here or in an object store.

    None where there is no file. A store may not know the change.

    Raises InputError where the store cannot be reached.
    """
    from pyarrow import fs

    filesystem, path = open_storage(location)
    with reaching(location):
        info = filesystem.get_file_info(path)
    return (info.size, info.mtime_ns) if info.type == fs.FileType.File else None


@dataclass(frozen=True)
class Storage:
    """A folder, wherever it is. Names are relative to it, with `/` between their parts."""

    location: str
    filesystem: FileSystem
    root: str

    @classmethod
    def at(cls, location: str | Path) -> Storage:
        """Open a location. Raises InputError as `open_storage` does."""
        filesystem, root = open_storage(location)
        return cls(_address(location), filesystem, root.rstrip("/") or "/")

    @property
    def local(self) -> Path | None:
        """The folder on this machine. None in an object store."""
        return None if is_remote(self.location) else Path(self.root)

    def where(self, name: str) -> str:
        """Return the address of `name`, for messages."""
        return child(self.location, name)

    def sizes(self, names: Sequence[str]) -> list[int | None]:
        """Return the bytes of each file. None where there is none."""
        from pyarrow import fs

        with reaching(self.location):
            infos = self.filesystem.get_file_info([f"{self.root}/{name}" for name in names])
        return [info.size if info.type == fs.FileType.File else None for info in infos]

    def files(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, sorted. None where there is no folder."""
        from pyarrow import fs

        selector = fs.FileSelector(f"{self.root}/{folder}", allow_not_found=True)
        with reaching(self.location):
            infos = self.filesystem.get_file_info(selector)
        return sorted(f"{folder}/{i.base_name}" for i in infos if i.type == fs.FileType.File)

    def open(self, name: str) -> NativeFile:
        """Open a file for reading at any place in it."""
        with reaching(self.where(name)):
            return self.filesystem.open_input_file(f"{self.root}/{name}")

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self.open(name) as file, reaching(self.where(name)):
            return bytes(file.read())

    def write(self, name: str, data: bytes | Buffer) -> None:
        """Write bytes or a buffer to `name`, whole or not at all. Raises OSError."""
        if self.local is None:  # an object appears when its upload is complete
            with self.filesystem.open_output_stream(f"{self.root}/{name}") as stream:
                stream.write(data)
            return
        path = self.local / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)

    def remove(self, name: str) -> None:
        """Delete a file, if it is there. Raises OSError."""
        if self.sizes([name]) != [None]:
            self.filesystem.delete_file(f"{self.root}/{name}")


def _scheme(location: str | Path) -> str | None:
    match = _SCHEME.match(str(location))
    return (match[1] or match[2]).lower() if match else None


def _address(location: str | Path) -> str:
    """Return the address with both its slashes. Local paths as they are."""
    if not is_remote(location):
        return str(location)
    return _SCHEME.sub(lambda match: f"{match[1].lower()}://", str(location), count=1)


def _with_options(address: str) -> str:
    """Add the options of the environment to an address, unless it has its own."""
    scheme, query = _scheme(address), address.partition("?")[2]
    options: list[str] = []
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if scheme == "s3" and endpoint and "endpoint_override=" not in query:
        parts = urlsplit(endpoint if "//" in endpoint else f"https://{endpoint}")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        options = [f"endpoint_override={parts.netloc}", f"scheme={parts.scheme}"]
        if "region=" not in query:
            options.append(f"region={region or 'us-east-1'}")
    if scheme in ("gs", "gcs") and "retry_limit_seconds=" not in query:
        options = [f"retry_limit_seconds={GIVE_UP_S}"]
    return address + ("&" if query else "?") + "&".join(options) if options else address
