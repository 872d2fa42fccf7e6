"""An encoder that needs no model, and that can be made to fail in a worker."""

import os
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from argus.errors import EncodingError


class WordEncoder:
    """Each word has a random direction of its own; a text is their sum.

    trap: a folder in which the first two batches that a worker embeds leave a file each; then it
    refuses for good, as soon as the file `until` is there: results and failures of a cluster come
    in any order.
    """

    fingerprint, dim, pools_spans = "words", 24, False

    def __init__(self, trap: Path | None = None, until: Path | None = None):
        self.trap, self.until, self.home = trap, until, os.getpid()

    def encode_documents(self, texts: Sequence[str]) -> np.ndarray:
        if self.trap is not None and os.getpid() != self.home:
            self._spring(self.trap)
        return np.array([sum(map(_direction, text.split())) for text in texts], np.float32)

    def encode_queries(self, texts: Sequence[str]) -> np.ndarray:
        return self.encode_documents(texts)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[object]) -> np.ndarray:
        return self.encode_documents(texts)

    def _spring(self, trap: Path) -> None:
        if (done := len(list(trap.iterdir()))) < 2:
            (trap / str(done)).touch()
            return
        deadline = time.monotonic() + 20
        while self.until and not _has_content(self.until) and time.monotonic() < deadline:
            time.sleep(0.01)
        raise EncodingError("the encoder is out of order")


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _direction(word: str) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=WordEncoder.dim)
