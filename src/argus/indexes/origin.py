"""Where the vectors of an index came from, and what may therefore be built into it or added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from argus.encoders import Encoder
from argus.errors import InputError
from argus.indexes.header import FILE, IndexHeader, cosines, write_header
from argus.indexes.own_vectors import OwnVectors
from argus.indexes.spec import parse_index_spec
from argus.indexes.table import writing
from argus.indexes.views import ViewIndex


def open_or_create(path: Path, header: IndexHeader) -> ViewIndex:
    """Open the index in a folder, or make it; refuse one that holds other vectors.

    The origin of the vectors is written while the index is empty: a build stopped before that has
    nothing in it whose origin is unknown.
    """
    if (path / FILE).exists():
        index = ViewIndex.open(path)
        if len(index):
            _refuse_other_vectors(index, header)
            return index
        index.header.check_fingerprint(header.fingerprint, path)
    else:
        index = ViewIndex.create(
            path,
            fingerprint=header.fingerprint,
            dim=header.dim,
            encoder=header.encoder,
            similarity=header.similarity,
        )
    whole = replace(index.header, vectors=header.vectors, corpus_fields=header.corpus_fields)
    if index.header != whole:
        with writing(path):
            write_header(path, whole)
        index = ViewIndex.open(path)
    return index


def _refuse_other_vectors(index: ViewIndex, header: IndexHeader) -> None:
    there, here = index.header.vectors, header.vectors
    if (there.sha256 if there else None) != (here.sha256 if here else None):
        raise InputError(
            f"holds an index of other vectors: {_origin(index.header)}",
            expected=f"the vectors of this build: {_origin(header)}",
            fix="Give another --out, or use --fresh to build it with these.",
            where=index.path,
        )
    index.header.check_queries(header.asked_with, index.path)


def _origin(header: IndexHeader) -> str:
    if header.vectors is None:
        return f"embedded by {header.fingerprint}"
    return f"from a file (--vectors) with SHA-256 {header.vectors.sha256[:16]}..."


def check_encoder(index: ViewIndex, encoder: Encoder, *, embeds: bool) -> None:
    """Refuse an encoder that is not the one the index names; with `embeds`, one of other vectors.

    embeds: whether it is to make vectors for the index, and not only to be compared with a file.
    """
    if embeds:
        index.header.check_fingerprint(encoder.fingerprint, index.path)
    else:
        index.header.check_queries(encoder.fingerprint, index.path)


def check_space(index: ViewIndex, own: OwnVectors | None) -> None:
    """Refuse vectors of a file that differ in origin from those of the index, where that shows."""
    if own is None or (own.fingerprint == own.file.encoder) == (index.header.foreign is None):
        return
    theirs = "vectors of your own" if index.header.foreign else f"those of {index.fingerprint}"
    raise InputError(
        f"vectors of another space than those of {index.path} ({cosines(own.file)}, the latter "
        f"those of {own.file.encoder})",
        expected=theirs,
        fix="Build an index of their own, or make them with what made the others.",
        where=own.notes["file"],
    )


def refuse_state(out: Path | str) -> None:
    """Refuse to build into INDEX@STATE: that folder would hide the state of an index."""
    spec = parse_index_spec(out) if "@" in Path(out).name else None
    if spec is not None and spec.as_of is not None and (spec.path / FILE).is_file():
        raise InputError(
            f"names the state {spec.as_of!r} of the index {spec.path}",
            expected="a folder for an index",
            fix="Give another --out.",
            where=out,
        )
