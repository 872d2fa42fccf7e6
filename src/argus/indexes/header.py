"""`index.json`: what an index folder says of itself before any vector is read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from argus.data.artifacts import replacing
from argus.errors import FingerprintMismatch, InputError

FILE = "index.json"
FORMAT = 1
FIELDS = ("id", "doc_id", "kind", "text", "source", "remedy", "added", "vector")


@dataclass(frozen=True, kw_only=True)
class VectorsFile:
    """The file from which an index was built instead of embedding, and how it was judged."""

    sha256: str
    encoder: str
    """Fingerprint of the encoder that was named for queries."""
    agreement: float
    """Median cosine between the file's vectors and that encoder's, over the texts compared."""
    least: float
    """The least of those cosines."""


@dataclass(frozen=True, kw_only=True)
class IndexHeader:
    """Which encoder made the vectors, and how a later command loads it again.

    encoder: the fields of an encoder's configuration (model, precision, ...), plain JSON values.
    vectors: None where that encoder embedded the documents.
    """

    fingerprint: str
    dim: int
    encoder: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    fields: tuple[str, ...] = FIELDS
    vectors: VectorsFile | None = None

    @property
    def foreign(self) -> VectorsFile | None:
        """The file of the vectors where they are not what the named encoder makes; else None."""
        file = self.vectors
        return file if file is not None and file.encoder != self.fingerprint else None

    @property
    def asked_with(self) -> str:
        """Fingerprint of the encoder for queries."""
        return self.foreign.encoder if self.foreign else self.fingerprint

    def check_fingerprint(self, given: str | None, where: Path) -> None:
        """Refuse to put vectors of the encoder `given` beside those of the index; None passes.

        Raises InputError where the index has vectors that no encoder known here made, and
        FingerprintMismatch where it is of another encoder.
        """
        if given is None or given == self.fingerprint:
            return
        if self.foreign is None:
            raise FingerprintMismatch(where, stored=self.fingerprint, given=given)
        raise InputError(
            f"holds vectors of your own, which are not those of {self.foreign.encoder} "
            f"({cosines(self.foreign)})",
            expected="vectors of one encoder: two are never mixed",
            fix="Build an index without --vectors, or with --encoder naming what made them; more "
            "vectors of the same origin are added with `argus index add --vectors`.",
            where=where,
        )

    def check_queries(self, given: str, where: Path) -> None:
        """Raise FingerprintMismatch unless queries are to be embedded with the encoder `given`."""
        if given != self.asked_with:
            raise FingerprintMismatch(where, stored=self.asked_with, given=given)


def cosines(file: VectorsFile) -> str:
    """Return how well a file's vectors agree with the encoder, in words."""
    return f"cosine between them: median {file.agreement:.2f}, least {file.least:.2f}"


def write_header(path: Path, header: IndexHeader) -> None:
    """Write `path/index.json`, whole or not at all."""
    with replacing(path / FILE) as temporary:
        temporary.write_text(json.dumps(asdict(header), indent=2) + "\n", encoding="utf-8")


def read_header(path: Path) -> IndexHeader:
    """Read `path/index.json`.

    Raises InputError when the folder is missing or no index, when the file is damaged, and when a
    later version of Argus wrote it.
    """
    file = _find(path)
    try:
        header = _parse(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"is damaged ({type(error).__name__}: {error})",
            expected="the header as Argus wrote it: format, fingerprint, dim, encoder, fields",
            fix="Restore it from a copy, or build the index again with --fresh.",
            where=file,
        ) from error
    if header.format != FORMAT or header.fields != FIELDS:
        raise InputError(
            f"index format {header.format} with the fields {', '.join(header.fields)}",
            expected=f"format {FORMAT} with {', '.join(FIELDS)}",
            fix="Use the version of Argus that wrote it, or build the index again.",
            where=file,
        )
    return header


def _find(path: Path) -> Path:
    if not path.is_dir():
        got = "is a file" if path.exists() else "no such folder"
        raise InputError(
            got, expected="an index folder", fix="Make one with `argus index build`.", where=path
        )
    file = path / FILE
    if not file.is_file():
        raise InputError(
            f"is not an index: it holds no {FILE}",
            expected="a folder that `argus index build` wrote to its end",
            fix="Check the path; a build that was stopped goes on when its command is run again.",
            where=path,
        )
    return file


def _parse(content: dict[str, Any]) -> IndexHeader:
    """Return the header; ValueError, KeyError or TypeError for what Argus never wrote."""
    header = IndexHeader(
        fingerprint=_text(content, "fingerprint"),
        dim=int(content["dim"]),
        encoder=dict(content["encoder"]),
        format=int(content["format"]),
        fields=tuple(content["fields"]),
        vectors=None if content.get("vectors") is None else _vectors_file(content["vectors"]),
    )
    if header.dim < 1:
        raise ValueError(f"dim is {header.dim}")
    return header


def _vectors_file(content: dict[str, Any]) -> VectorsFile:
    return VectorsFile(
        sha256=_text(content, "sha256"),
        encoder=_text(content, "encoder"),
        agreement=float(content["agreement"]),
        least=float(content["least"]),
    )


def _text(content: dict[str, Any], name: str) -> str:
    value = content[name]
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name} is {value!r}")
    return value
