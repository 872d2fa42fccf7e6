"""An encoder that a user wrote, as `FILE.py:NAME`: a class, or an object, with `encode(texts)`.

`encode` takes a list of texts and returns (n, dim) numbers. `encode_queries` and
`encode_documents` take its place where the two sides differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Span
from argus.encoders.protocol import unit_rows
from argus.errors import EncodingError, InputError, first_line
from argus.python_file import USER_CODE_CWD, file_hash, module_of, split_spec

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
        path, name = split_spec(spec)
        module = ExitStack().enter_context(module_of(path, EXPECTED))  # for as long as the process
        named = [name] if name else [n for n, one in vars(module).items() if _is_own(one, module)]
        found = getattr(module, named[0], None) if len(named) == 1 else None
        if found is None or not any(hasattr(found, method) for method in METHODS):
            raise InputError(
                f"{name or f'{len(named)} encoders'} in {path.name}",
                expected=EXPECTED,
                fix="Name it: --encoder FILE.py:NAME.",
                where=path,
            )
        self._fingerprint = f"{path.name}:{named[0]}@{file_hash(path)}"
        self._own = self._call(found) if isinstance(found, type) else found

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker by name."""
        return PythonEncoder, (self.spec,)

    @property
    def fingerprint(self) -> str:
        """File, name and content."""
        return f"{self._fingerprint} dim={self.dim}"

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
        rows = np.asarray(self._call(call, list(texts)))
        if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind not in "fiu":
            raise EncodingError(
                f"{self.spec} gave an array of shape {rows.shape} and type {rows.dtype}; expected "
                f"({len(texts)}, dim) numbers",
                retryable=False,
            )
        return unit_rows(rows.astype(np.float32))

    def _call(self, call: Any, *arguments: Any) -> Any:
        try:
            with USER_CODE_CWD.entered():
                return call(*arguments)
        except Exception as error:
            raise EncodingError(
                f"{self.spec} raised {type(error).__name__}: {first_line(error)}", retryable=False
            ) from error


def _is_own(one: Any, module: Any) -> bool:
    is_class = isinstance(one, type) and one.__module__ == module.__name__
    return is_class and any(hasattr(one, method) for method in METHODS)
