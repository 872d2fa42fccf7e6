"""Build an n-gram index in a folder, segment by segment, or check a corpus against one.

`build_index`: documents and a tokenizer -> `NgramIndex`. A killed build goes on after the last
whole segment. `job` is the command, `segment` makes one suffix array.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
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
from argus.generative.passages import BLOCK, PassageCounts, document_hash, tokenized
from argus.generative.vocabulary import Vocabulary

SEGMENT_TOKENS = 2**27
"""Tokens after which a segment is closed: bounds the memory of a build at about 3 GiB."""
_NAMED = 3


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
    queries, corpus = pseudo_queries or {}, list(documents)
    manifest = read_manifest(folder)
    if manifest is None or not (manifest.finished or manifest.segments):
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
    indexed: set[str] = set()
    if manifest.segments:  # the part written before a kill must still match
        begun = open_segments(folder, manifest)
        check_corpus(begun, corpus, queries, partial=not manifest.finished)
        if manifest.finished:
            return begun
        indexed.update(begun.ids())
    check_unique(corpus)
    home, counts = folder / SEGMENTS, deepcopy(manifest.counts)
    left = [d for d in corpus if d.id not in indexed]
    tokens_of = tokenized(left, vocabulary, queries, titles=titles, counts=counts)
    blocks = (block for block in tokens_of if block.ids)
    while block := next(blocks, None):
        passages, n = [block], len(block.tokens)
        while n < segment_tokens and (block := next(blocks, None)):
            passages.append(block)
            n += len(block.tokens)
        indexed.update(id_ for part in passages for id_ in part.ids)
        name = f"{len(manifest.segments) + 1:04d}"
        shutil.rmtree(home / name, ignore_errors=True)  # of a run that was killed while it wrote
        write_segment(make_segment(passages, vocabulary.border, vocabulary.size), home / name)
        manifest = replace(manifest, segments=(*manifest.segments, name), counts=deepcopy(counts))
        manifest.write(folder)
    if not manifest.segments:
        raise InputError(
            f"{len(corpus):,} documents, none with a title, a text or a pseudo-query",
            expected="at least one passage with a token",
            fix="Check the names of the columns (--text-field, --title-field).",
            where="--corpus",
        )
    empty = [d.id for d in corpus if d.id not in indexed]
    replace(manifest, finished=True, counts=replace(counts, empty_ids=empty)).write(folder)
    return NgramIndex.open(folder)


def check_corpus(
    index: NgramIndex,
    documents: Sequence[Document],
    pseudo_queries: Mapping[str, Sequence[str]] | None,
    *,
    partial: bool = False,
) -> None:
    """Raise InputError unless the index was built from these documents.

    pseudo_queries: None if they are not at hand. Then only titles and texts are compared. partial:
    the index may lack documents. Documents without tokens are in no index.
    """
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
    new: list[str] = []
    for at in range(0, 0 if partial else len(unknown), BLOCK):
        block = unknown[at : at + BLOCK]
        encoded = index.vocabulary.encode([text for _, text in block])
        new += [id_ for (id_, _), tokens in zip(block, encoded, strict=True) if tokens]
    differences = {"changed": changed, "new": new, "missing": sorted(missing)}
    told = [
        f"{len(ids):,} {what} ({', '.join(ids[:_NAMED])}{', ...' if len(ids) > _NAMED else ''})"
        for what, ids in differences.items()
        if ids
    ]
    if told:
        raise InputError(
            f"the corpus is not the one that was indexed: {', '.join(told)}",
            expected="the same ids, titles, texts and pseudo-queries",
            fix="Build it again with --fresh.",
            where=index.folder,
        )
