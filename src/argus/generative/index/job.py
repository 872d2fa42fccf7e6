"""`argus research generative build`: index every n-gram of a corpus.

`build_ngrams`: a corpus, a tokenizer or its size, pseudo-queries if there are -> a folder with the
index. `build` does the work, and `argus research generative train` or `search` comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.generative.folders import INDEX
from argus.generative.index import NgramIndex, build_index
from argus.generative.index.ngram_index import TOKENIZER, read_manifest
from argus.generative.passages import pseudo_queries_of
from argus.generative.settings import NgramBuildConfig
from argus.generative.vocabulary import open_vocabulary, train_vocabulary
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input, read_documents
from argus.settings import Without

JOB = "generative_build"
_NAMED = 10
"""Empty passages that are named."""


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
            "total": index.n_documents, "empty_ids": empty[:_NAMED], "empty": len(empty),
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
