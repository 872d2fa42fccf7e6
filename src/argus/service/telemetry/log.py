"""The log: a JSON object a line. Of questions and documents it holds texts only if asked for."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TextIO

from argus.data.provenance import utc_now


@dataclass
class Log:
    """Writes events as lines. out: where to; the standard error of the moment by default."""

    with_texts: bool = False
    out: TextIO | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, event: str, texts: dict[str, object] | None = None, **facts: object) -> None:
        """Write an event with its facts; texts: what is left out unless texts are kept."""
        whole = {"time": utc_now(), "event": event, **facts}
        if self.with_texts and texts:
            whole |= texts
        line = json.dumps(whole, ensure_ascii=True, default=str)
        with self._lock:
            print(line, file=self.out or sys.stderr, flush=True)


def elapsed_ms(since: float) -> float:
    """Return milliseconds since a moment of `time.perf_counter`, to a tenth."""
    return round((time.perf_counter() - since) * 1e3, 1)
