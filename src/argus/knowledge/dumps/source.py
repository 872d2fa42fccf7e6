"""A dump's bytes, wherever it is, and what is said where they are broken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from argus.data.storage import is_remote, open_storage
from argus.errors import ArgusError, InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile


@dataclass(frozen=True)
class Damage:
    """Where a dump is broken. byte: offset in the file as it is, compressed. what: the finding."""

    location: str
    byte: int
    what: str

    def __str__(self) -> str:
        return (
            f"{self.location} is damaged at byte {self.byte:,}: {self.what}. "
            "What precedes was read; download the file again to have the rest."
        )


class DamagedDump(ArgusError):
    """A dump cannot be read beyond `damage`; what precedes it was given."""

    def __init__(self, damage: Damage) -> None:
        self.damage = damage
        super().__init__(str(damage))


@dataclass(frozen=True, slots=True)
class Piece:
    """Decompressed text, and the byte of the file as it is at which it begins."""

    at: int
    data: bytes


class Source:
    """A file that can be read at any place.

    size: bytes. Raises InputError for what is no file, is empty or cannot be read.
    """

    def __init__(self, location: str | Path) -> None:
        from pyarrow import fs

        self.location = str(location)
        filesystem, path = open_storage(location)
        try:
            info = filesystem.get_file_info(path)
            if info.type != fs.FileType.File:
                raise self._refused(_KINDS.get(info.type.name, "is not a regular file"))
            self._file: NativeFile = filesystem.open_input_file(path)
            self.size = int(self._file.size())
        except OSError as error:
            raise self._unreadable(error) from error
        if not self.size:
            self._file.close()
            raise self._refused("is empty")
        self.handle: NativeFile | str = self._file if is_remote(location) else path

    def read(self, at: int, n: int) -> bytes:
        """Return `n` bytes from byte `at`; fewer at the end of the file."""
        try:
            return bytes(self._file.read_at(n, at))
        except OSError as error:
            raise self._unreadable(error) from error

    def broken(self, byte: int, what: str) -> DamagedDump:
        """Return the error that says that this file is broken at `byte`."""
        return DamagedDump(Damage(self.location, byte, what))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def _unreadable(self, error: OSError) -> InputError:
        if isinstance(error, PermissionError):
            return self._refused("may not be read by this user")
        return self._refused(f"cannot be read ({' '.join(str(error).split())[:300]})")

    def _refused(self, got: str) -> InputError:
        return InputError(
            got,
            expected="a dump: a file of text, plain or compressed with bz2 or gz",
            fix="Check the path (or the address and its credentials), and that the download ended.",
            where=self.location,
        )


_KINDS = {"NotFound": "no such file", "Directory": "is a folder"}
