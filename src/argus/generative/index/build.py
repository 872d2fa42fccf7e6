"""`argus research generative build`: index every n-gram of a corpus, segment by segment.

`build_ngrams`: a corpus, a tokenizer or its size, pseudo-queries if there are -> a folder with the
index. `build_index` does the work: documents and a tokenizer -> `NgramIndex`. A killed build goes
on after the last whole segment. `segment` makes one suffix array. `check_corpus` compares a corpus
with an index.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from argus.data.documents import check_unique
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.data.writing import check_plain_folder, one_writer
from argus.errors import InputError
from argus.generative.folders import INDEX
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
from argus.generative.passages import (
    BLOCK,
    PassageCounts,
    document_hash,
    pseudo_queries_of,
    tokenized,
)
from argus.generative.settings import NgramBuildConfig
from argus.generative.vocabulary import Vocabulary, open_vocabulary, train_vocabulary
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input, read_documents
from argus.settings import Without

# Tokens after which a segment is closed: bounds the memory of a build at about 3 GiB.
SEGMENT_TOKENS = 2**27
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


JOB = "generative_build"
# Empty passages that are named.
_EMPTY_NAMED = 10


@dataclass(frozen=True, repr=False)
class BuildResult(Result):
    """The index, and the outcome of its documents.

    Keys of the summary:

    index: its folder.
    passages: total, empty (documents left out, since they have no token) and empty_ids, the first
    of these.
    tokens: total, types (different ones), vocabulary (ids of the tokenizer) and unknown.
    titles: whether titles are indexed.
    segments: parts that the index consists of.
    bytes, bytes_per_token: of the arrays on disk.
    pseudo_queries: documents that have some, and queries in all. None without pseudo-queries.
    markers_added: markers (`@@`, `||`) that the tokenizer did not have.
    """

    index: NgramIndex
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        passages, tokens = summary["passages"], summary["tokens"]
        yield (
            f"{passages['total']:,} passages, {tokens['total']:,} tokens of {tokens['types']:,} "
            f"types; {summary['bytes']:,} bytes, {summary['bytes_per_token']:.2f} per token"
        )
        if passages["empty"]:
            more = ", ..." if passages["empty"] > len(passages["empty_ids"]) else ""
            named = ", ".join(passages["empty_ids"]) + more
            yield f"left out: {passages['empty']:,} without text or title ({named})"
        if tokens["unknown"]:
            yield (
                f"warning: {tokens['unknown']:,} tokens are unknown to the tokenizer: all n-grams "
                "with them look alike"
            )
        if summary["markers_added"]:
            yield (
                f"note: {summary['markers_added']} markers (@@, ||) are new to this tokenizer: a "
                "model made before has to learn them (argus research generative train)"
            )
        if queries := summary["pseudo_queries"]:
            yield f"pseudo-queries: {queries['queries']:,} of {queries['documents']:,} documents"
        yield f"index: {summary['index']} ({summary['seconds']:.1f} s)"


@one_writer
def build_ngrams(
    corpus: o.Corpus,
    *,
    out: o.IndexOut,
    config: NgramBuildConfig,
    pseudo_queries: Path | str | Mapping[str, list[str]] | None = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> BuildResult:
    """Index every n-gram of a corpus: title, text and pseudo-queries of each passage.

    Writes the index to OUT/ngrams, summary.json and manifest.json. Memory-mapped when it is used.

    pseudo_queries: by document id, or a file (see `read_pseudo_queries`). A build that was killed
    goes on after its last whole segment. Raises InputError for bad input, among it a corpus that
    differs from the one that OUT holds the index of.

    Args:
        pseudo_queries: JSONL of {"_id", "queries"}, or expansions.jsonl: the third view of MINDER.
    """
    fields = fields or FieldNames()
    documents, path = read_documents(corpus, fields, limit, None)
    queries, file = pseudo_queries_of(pseudo_queries, documents, coerce_ids=fields.coerce_ids)
    if not queries and not any(
        d.text.strip() or (config.titles and d.title.strip()) for d in documents
    ):
        raise InputError(
            f"{len(documents):,} documents, none with a text",
            expected="at least one passage with words",
            fix="Check the names of the columns (--text-field, --title-field).",
            where="--corpus",
        )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    name, size, home = config.tokenizer or "", config.vocabulary_size, folder / INDEX
    keep_input(folder, [path, file, None if size else Path(name)])
    settings: dict[str, Any] = {
        "tokenizer": config.tokenizer,
        "titles": config.titles,
        "limit": limit,
    }
    record = Record(JOB, settings, {"corpus": path, "pseudo_queries": file})
    with record.timed("tokenizer"):
        vocabulary = None
        if size is None:
            vocabulary = open_vocabulary(Path(name))
        elif not folder.fresh and (home / TOKENIZER).is_dir():  # of an earlier run
            vocabulary = open_vocabulary(home / TOKENIZER)
        if vocabulary is None or size not in (None, vocabulary.size):
            parts = ((d.title, d.text, *queries.get(d.id, ())) for d in documents)
            vocabulary = train_vocabulary(chain.from_iterable(parts), size or 0)
    record.open(folder)
    with record.timed("indexing"):
        index = build_index(
            documents, vocabulary, folder.own(INDEX), pseudo_queries=queries, titles=config.titles
        )
    manifest, n_bytes = read_manifest(home), sum(index.bytes().values())
    assert manifest is not None
    empty = manifest.counts.empty_ids
    summary: dict[str, Any] = {
        "index": str(home),
        "passages": {
            "total": index.n_documents, "empty_ids": empty[:_EMPTY_NAMED], "empty": len(empty),
        },
        "tokens": {
            "total": index.n_tokens,
            "types": len(index.continuations(())[0]),
            "vocabulary": index.vocabulary_size,
            "unknown": manifest.counts.unknown_tokens,
        },
        "titles": index.titles,
        "segments": len(manifest.segments),
        "bytes": n_bytes,
        "bytes_per_token": round(n_bytes / index.n_tokens, 3),
        "seconds": round(sum(record.timings_s.values()), 2),
        "pseudo_queries": None,
        "markers_added": vocabulary.added,
    }  # fmt: skip
    if queries:
        summary["pseudo_queries"] = {
            "documents": len(queries), "queries": sum(map(len, queries.values())),
        }  # fmt: skip
    record.encoder["what"] = "index"
    record.encoder["fingerprint"] = f"n-grams of tokenizer {manifest.vocabulary[:12]}"
    folder.write_results(JOB, summary, record.manifest(dict(summary["passages"])))
    return BuildResult(index, summary)
