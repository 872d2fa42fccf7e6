"""Results of a long computation on disk, part by part: a killed run goes on where it stopped."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.reading import read_arrays
from argus.data.writing import check_plain, replacing

PARTS = "ranks"


class Parts:
    """Parts of one computation, by number, under the hash of their inputs.

    The engine is not part of that hash: another engine goes on where one stopped. key: the hash,
    behind "KIND-" where parts of two kinds of computations may lie side by side.
    """

    def __init__(self, folder: ArtifactFolder, key: str) -> None:
        self.home = check_plain(folder.own(PARTS) / key)
        self.home.mkdir(parents=True, exist_ok=True)

    def __contains__(self, number: int) -> bool:
        return self._path(number).is_file()

    def read(self, number: int) -> dict[str, np.ndarray]:
        """Return the arrays of a part, by name."""
        return read_arrays(self._path(number), fix="Remove it: it is computed again.")

    def write(self, number: int, arrays: dict[str, np.ndarray]) -> None:
        """Write a part, at once and whole."""
        with replacing(self._path(number)) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def remove(self) -> None:
        """Remove these parts and those of the kind under earlier settings, which a kill left.

        And the folder of all where it holds no others.
        """
        kind, dash, _ = self.home.name.rpartition("-")
        for home in self.home.parent.glob(f"{kind}-*" if dash else self.home.name):
            shutil.rmtree(home, ignore_errors=True)
        with suppress(OSError):
            self.home.parent.rmdir()

    def _path(self, number: int) -> Path:
        return self.home / f"{number:09d}.npz"


def remove_parts(folder: ArtifactFolder) -> None:
    """Remove the parts of this and of earlier settings."""
    shutil.rmtree(folder / PARTS, ignore_errors=True)
