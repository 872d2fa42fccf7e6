"""Records that came while the service ran: a file of rows, written before the answer is sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path


class Journal:
    """Rows of changes, in their order. A line that a kill cut short was never acknowledged."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yield every whole line with its number, from 1."""
        if not self.file.is_file():
            return
        with self.file.open("r", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith("\n"):
                    yield number, line

    def append(self, rows: Sequence[str]) -> None:
        """Write rows to the disk; OSError where it cannot, and the file is as it was."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as file:
            end = self._whole()
            file.truncate(end)
            try:
                file.write("".join(f"{row}\n" for row in rows).encode())
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
