"""An encoder that a user wrote, as `FILE.py:NAME`: a class, or an object, with `encode(texts)`.

`encode` takes a list of texts and returns (n, dim) numbers. `encode_queries` and
`encode_documents` take its place where the two sides differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Span
from argus.encoders.protocol import unit_rows
from argus.errors import EncodingError
from argus.python_file import call_own, load_own

METHODS = ("encode", "encode_queries", "encode_documents")
EXPECTED = "a class or an object with encode(texts), which returns a row of numbers per text"


class PythonEncoder:
    """An `Encoder` over code of a user. Its rows are scaled to length 1.

    spec: `FILE.py:NAME`. Without NAME the one class with `encode` counts. The fingerprint changes
    with the file and with the neighbours that it imports. Raises InputError for a file that cannot
    be run or defines no encoder, EncodingError where it fails on texts.
    """

    pools_spans = False

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self._name, found = load_own(
            spec, lambda one: any(hasattr(one, method) for method in METHODS), EXPECTED
        )
        is_class = isinstance(found, type)
        self._own = call_own(spec, found, error=EncodingError) if is_class else found

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker by name."""
        return PythonEncoder, (self.spec,)

    @property
    def fingerprint(self) -> str:
        """File, name and content."""
        return f"{self._name} dim={self.dim}"

    @cached_property
    def dim(self) -> int:
        """Length of a vector, learnt by encoding one word."""
        return int(self.encode_documents(["dimension"]).shape[1])

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_queries", texts)

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_documents", texts)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return (n, dim), unit rows: those of the texts, since there are no token vectors."""
        return self.encode_documents(texts)

    def _rows(self, method: str, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        call = getattr(self._own, method, None) or getattr(self._own, "encode", None)
        if call is None:
            raise EncodingError(f"{self.spec} has neither {method} nor encode", retryable=False)
        rows = np.asarray(call_own(self.spec, call, list(texts), error=EncodingError))
        if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind not in "fiu":
            raise EncodingError(
                f"{self.spec} gave an array of shape {rows.shape} and type {rows.dtype}; expected "
                f"({len(texts)}, dim) numbers",
                retryable=False,
            )
        return unit_rows(rows.astype(np.float32))
