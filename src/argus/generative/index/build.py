"""Build an n-gram index in a folder, and append to it by segments."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from argus.data.documents import check_unique
from argus.data.types import Document
from argus.data.writing import check_plain_folder
from argus.errors import InputError
from argus.generative.index.ngram_index import (
    FILE,
    SEGMENTS,
    TOKENIZER,
    Manifest,
    NgramIndex,
    open_segments,
    read_manifest,
)
from argus.generative.index.segment import make_segment, write_segment
from argus.generative.passages import BLOCK, PassageCounts, Passages, document_hash, tokenized
from argus.generative.vocabulary import Vocabulary, open_vocabulary

SEGMENT_TOKENS = 2**27
"""Tokens after which a segment is closed: bounds the memory of a build at about 3 GiB."""
_NAMED = 3


@dataclass(frozen=True)
class Changes:
    """Differences between documents and those of an index, by id."""

    new: list[str]
    changed: list[str]
    missing: list[str]
    unchanged: int

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return bool(self.new or self.changed or self.missing)

    def __str__(self) -> str:
        parts = [
            f"{len(ids):,} {what} ({', '.join(ids[:_NAMED])}{', ...' if len(ids) > _NAMED else ''})"
            for what, ids in (
                ("changed", self.changed), ("new", self.new), ("missing", self.missing),
            )
            if ids
        ]  # fmt: skip
        return ", ".join(parts)


def build_index(
    documents: Iterable[Document],
    vocabulary: Vocabulary,
    folder: Path,
    *,
    pseudo_queries: Mapping[str, Sequence[str]] | None = None,
    titles: bool = True,
    segment_tokens: int = SEGMENT_TOKENS,
) -> NgramIndex:
    """Index documents in a folder that holds no index yet, or an interrupted build of the same.

    An interrupted build goes on after its last whole segment. A finished index of the same
    documents is returned as it is. Raises InputError if the folder holds an index of other
    documents, another tokenizer or other views, and where no document has a token.
    """
    check_plain_folder(folder)
    queries = pseudo_queries or {}
    manifest = read_manifest(folder)
    if manifest is None or not manifest.is_begun:
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary.save(folder / TOKENIZER)
        manifest = Manifest(
            vocabulary=vocabulary.fingerprint,
            size=vocabulary.size,
            border=vocabulary.border,
            titles=titles,
            counts=PassageCounts(),
        )
        manifest.write(folder)
    for what, was, now in (
        ("tokenizer", manifest.vocabulary, vocabulary.fingerprint),
        ("--titles", manifest.titles, titles),
    ):
        if was != now:
            raise InputError(
                f"holds an index with another {what}",
                expected=f"the same {what} as when it was begun",
                fix="Give another --out, or build it again with --fresh.",
                where=folder / FILE,
            )
    corpus = list(documents)
    if manifest.finished:
        index = NgramIndex.open(folder)
        check_corpus(index, corpus, queries)
        return index
    if manifest.segments:  # the part written before a kill must still match
        changes = compare(open_segments(folder, manifest), corpus, queries)
        if changes.changed or changes.missing:
            raise _changed(changes, folder)
    _add(folder, manifest, corpus, vocabulary, queries, segment_tokens)
    return NgramIndex.open(folder)


def append(
    folder: Path,
    documents: Iterable[Document],
    *,
    pseudo_queries: Mapping[str, Sequence[str]] | None = None,
    segment_tokens: int = SEGMENT_TOKENS,
) -> Changes:
    """Add new documents to an index, as a segment. Those it holds, unchanged, are passed over.

    Returns the new and the known documents. Documents that the index holds and that are not given
    stay. Raises InputError if one has changed since it was indexed: a segment is not rewritten.
    """
    check_plain_folder(folder)
    corpus = list(documents)
    queries = pseudo_queries or {}
    index = NgramIndex.open(folder)
    changes = compare(index, corpus, queries)
    if changes.changed:
        raise _changed(changes, folder)
    manifest = read_manifest(folder)
    assert manifest is not None
    if changes.new:
        vocabulary = open_vocabulary(folder / TOKENIZER)
        _add(folder, manifest, corpus, vocabulary, queries, segment_tokens)
    return changes


def check_corpus(
    index: NgramIndex,
    documents: Sequence[Document],
    pseudo_queries: Mapping[str, Sequence[str]] | None,
) -> None:
    """Raise InputError unless the index was built from these documents.

    pseudo_queries: None if they are not at hand. Then only titles and texts are compared.
    """
    changes = compare(index, documents, pseudo_queries)
    if changes:
        raise _changed(changes, index.folder)


def compare(
    index: NgramIndex,
    documents: Sequence[Document],
    pseudo_queries: Mapping[str, Sequence[str]] | None,
) -> Changes:
    """Return how documents differ from those of an index. Without tokens, they are in neither."""
    columns = 2 if pseudo_queries is None else 3
    hashes = dict(zip(index.ids(), index.hashes()[:, :columns].tolist(), strict=True))
    unknown, changed = [], []
    missing = set(hashes)
    for document in documents:
        missing.discard(document.id)
        queries = (pseudo_queries or {}).get(document.id, ())
        if document.id not in hashes:
            title = document.title if index.titles else ""
            unknown.append((document.id, " ".join((title, document.text, *queries))))
        elif hashes[document.id] != list(document_hash(document, queries)[:columns]):
            changed.append(document.id)
    new = []
    for at in range(0, len(unknown), BLOCK):
        block = unknown[at : at + BLOCK]
        encoded = index.vocabulary.encode([text for _, text in block])
        new += [id_ for (id_, _), tokens in zip(block, encoded, strict=True) if tokens]
    unchanged = len(hashes) - len(missing) - len(changed)
    return Changes(new, changed, sorted(missing), unchanged)


def _add(
    folder: Path,
    manifest: Manifest,
    documents: Sequence[Document],
    vocabulary: Vocabulary,
    pseudo_queries: Mapping[str, Sequence[str]],
    segment_tokens: int,
) -> None:
    """Write the documents that the manifest's segments lack, and mark the index as finished."""
    home = folder / SEGMENTS
    home.mkdir(exist_ok=True)
    for stray in home.glob("[0-9][0-9][0-9][0-9]"):  # of a run that was killed while it wrote
        if stray.name not in manifest.segments:
            shutil.rmtree(stray)
    indexed = set(open_segments(folder, manifest).ids()) if manifest.segments else set()
    check_unique(documents)
    counts = deepcopy(manifest.counts)
    left = [d for d in documents if d.id not in indexed]
    blocks = tokenized(left, vocabulary, pseudo_queries, titles=manifest.titles, counts=counts)
    blocks = (block for block in blocks if block.ids)
    while passages := list(_taken(blocks, segment_tokens)):
        name = f"{len(manifest.segments) + 1:04d}"
        segment = make_segment(passages, vocabulary.border, vocabulary.size)
        indexed.update(id_ for part in passages for id_ in part.ids)
        write_segment(segment, home / name)
        manifest = manifest.with_segment(name, segment.identity, deepcopy(counts))
        manifest.write(folder)
    ids = dict.fromkeys([*counts.empty_ids, *(d.id for d in documents)])
    counts.empty_ids = [id_ for id_ in ids if id_ not in indexed]
    if not manifest.segments:
        raise InputError(
            f"{len(documents):,} documents, none with a title, a text or a pseudo-query",
            expected="at least one passage with a token",
            fix="Check the names of the columns (--text-field, --title-field).",
            where="--corpus",
        )
    replace(manifest, finished=True, counts=counts).write(folder)


def _taken(blocks: Iterator[Passages], most: int) -> Iterator[Passages]:
    """Yield the next blocks, until they have about `most` tokens."""
    tokens = 0
    while tokens < most and (block := next(blocks, None)) is not None:
        tokens += len(block.tokens)
        yield block


def _changed(changes: Changes, folder: Path | None) -> InputError:
    fix = "Build it again with --fresh"
    if changes.new and not (changes.changed or changes.missing):
        fix += ", or add what is new with --append"
    return InputError(
        f"the corpus is not the one that was indexed: {changes}",
        expected="the same ids, titles, texts and pseudo-queries",
        fix=f"{fix}.",
        where=folder,
    )
