"""What came while the service ran: a line for each request, written before it is answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from argus.data.records import parse_json
from argus.errors import ArgusError


class Journal:
    """Lines in their order. One that a kill cut short was never acknowledged: it does not count.

    Raises ArgusError where something else than a file is in its place, and for a damaged line.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def is_there(self) -> bool:
        """Whether something was written, or something else is in its place."""
        return os.path.lexists(self.file)

    def rows(self) -> Iterator[tuple[int, object]]:
        """Yield the rows of every line in their order, each with the line's number."""
        for number, line in self.lines():
            try:
                rows = parse_json(line)
            except ValueError as error:
                raise self._damaged(number, f"no JSON ({error})") from error
            if not isinstance(rows, list):
                raise self._damaged(number, f"a JSON {type(rows).__name__}")
            for row in rows:
                yield number, row

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield every whole line with its number, from 1."""
        if not self.is_there:
            return
        self._check()
        try:
            opened = self.file.open("rb")
        except OSError as error:
            raise ArgusError(
                f"{self.file} cannot be read ({error.strerror or error}), where the records that "
                "came should be. Give the service the right to read it."
            ) from error
        with opened as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    try:
                        text = line.decode()
                    except UnicodeDecodeError as error:
                        raise self._damaged(number, "no UTF-8") from error
                    yield number, text

    def append(self, line: str) -> None:
        """Write a line to the disk; OSError where it cannot, and the file is as it was."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._check()
        with self.file.open("ab") as file:
            end = self._whole()
            file.truncate(end)
            try:
                file.write(f"{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(end)
                raise

    def _check(self) -> None:
        """Raise ArgusError where no file is: a pipe would be waited for, a folder read as none."""
        if self.is_there and (self.file.is_symlink() or not self.file.is_file()):
            raise ArgusError(
                f"{self.file} is no file of its own, where the records that came should be; "
                "expected a plain file. Put it back, or move what is there away: then none counts."
            )

    def _damaged(self, number: int, what: str) -> ArgusError:
        return ArgusError(
            f"{self.file}, line {number}: {what}; expected a list of records that came. Mend the "
            "line. The service answers nothing of records until then, since some would not count."
        )

    def _whole(self) -> int:
        """Return the length of the file without a line that was cut short."""
        size = self.file.stat().st_size
        with self.file.open("rb") as file:
            while size:
                step = min(size, 1 << 16)
                file.seek(size - step)
                cut = file.read(step).rfind(b"\n")
                if cut >= 0:
                    return size - step + cut + 1
                size -= step
        return 0
