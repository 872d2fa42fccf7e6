"""Where a stranger's code works: a folder that it changes into is its own, and not Argus's."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class WorkingFolder:
    """The folder of the strangers' files that are in use, which share one as a process does.

    home: Argus's, while strangers' code runs; theirs: where it was when it ended last.
    """

    home: Path | None = None
    theirs: Path | None = None
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Have strangers' code run where it was; then be back where it was called.

        So a relative path, such as that of --out, means what it meant when the command began.
        """
        with self._lock:
            self._running += 1
            if self._running == 1:
                self.home = _here()
                self._go(self.theirs)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    here = _here()
                    self.theirs = here if here != self.home else None
                    self._go(self.home if self.theirs else None)

    def forget(self) -> None:
        """Forget where strangers' code was: no file of theirs is in use."""
        self.theirs = None

    def _go(self, folder: Path | None) -> None:
        if folder is not None:
            with suppress(OSError):  # it is gone, which whoever needs it is told
                os.chdir(folder)


STRANGERS = WorkingFolder()


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None
