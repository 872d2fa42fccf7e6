"""What came while the service ran: a line for each request, written before it is answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


class Journal:
    """Lines in their order. One that a kill cut short was never acknowledged: it does not count."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield every whole line with its number, from 1."""
        if not self.file.is_file():
            return
        with self.file.open("r", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith("\n"):
                    yield number, line

    def append(self, line: str) -> None:
        """Write a line to the disk; OSError where it cannot, and the file is as it was."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
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
