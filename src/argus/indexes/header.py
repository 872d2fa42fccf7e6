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
class IndexHeader:
    """Which encoder made the vectors, and how a later command loads it again.

    encoder: the fields of an encoder's configuration (model, precision, ...), plain JSON values.
    """

    fingerprint: str
    dim: int
    encoder: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    fields: tuple[str, ...] = FIELDS

    def check_fingerprint(self, given: str | None, where: Path) -> None:
        """Raise FingerprintMismatch when `given` names another encoder; None is not checked."""
        if given is not None and given != self.fingerprint:
            raise FingerprintMismatch(where, stored=self.fingerprint, given=given)


def write_header(path: Path, header: IndexHeader) -> None:
    """Write `path/index.json`, whole or not at all."""
    with replacing(path / FILE) as temporary:
        temporary.write_text(json.dumps(asdict(header), indent=2) + "\n", encoding="utf-8")


def read_header(path: Path) -> IndexHeader:
    """Read `path/index.json`.

    Raises InputError when the folder is missing or no index, when the file is damaged, and when a
    later version of Argus wrote it.
    """
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
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version = int(content["format"])
        header = IndexHeader(
            fingerprint=_text(content["fingerprint"]),
            dim=int(content["dim"]),
            encoder=dict(content["encoder"]),
            format=version,
            fields=tuple(content["fields"]),
        )
        if header.dim < 1:
            raise ValueError(f"dim is {header.dim}")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"is damaged ({type(error).__name__}: {error})",
            expected="the header as Argus wrote it: format, fingerprint, dim, encoder, fields",
            fix="Restore it from a copy, or build the index again with --fresh.",
            where=file,
        ) from error
    if version != FORMAT or header.fields != FIELDS:
        raise InputError(
            f"index format {version} with the fields {', '.join(header.fields)}",
            expected=f"format {FORMAT} with {', '.join(FIELDS)}",
            fix="Use the version of Argus that wrote it, or build the index again.",
            where=file,
        )
    return header


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"fingerprint is {value!r}")
    return value
