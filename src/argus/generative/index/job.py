"""`generative build`: build the n-gram index of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.generative.folders import INDEX, described, manifest_of
from argus.generative.index import NgramIndex, append, build_index
from argus.generative.index.ngram_index import TOKENIZER
from argus.generative.passages import pseudo_queries_of
from argus.generative.settings import TRAINED, NgramBuildConfig
from argus.generative.vocabulary import Vocabulary, open_vocabulary, train_vocabulary
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
    passages: total, title_only (no text), untitled, with_queries, empty (documents left out, since
    they have no token) and empty_ids, the first of these.
    tokens: total, types (different ones), vocabulary (ids of the tokenizer) and unknown.
    titles: whether titles are indexed.
    segments: parts that the index consists of.
    bytes, bytes_per_token: of the arrays on disk.
    pseudo_queries: documents that have some, queries in all, and elsewhere, the documents with some
    that are not in the corpus. None without pseudo-queries.
    markers_added: markers (`@@`, `||`) that the tokenizer did not have.
    added: passages that were added, and unchanged ones. Only where an index was added to.
    """

    index: NgramIndex
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return build_headline(self.summary)


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
    goes on after its last whole segment; new documents are added to the index that is there. Raises
    InputError for bad input, among it a corpus that differs from the one that OUT holds the index
    of.

    Args:
        pseudo_queries: JSONL of {"_id", "queries"}, or expansions.jsonl: the third view of MINDER.
    """
    fields = fields or FieldNames()
    documents, path = read_documents(corpus, fields, limit, None)
    queries, file, elsewhere = pseudo_queries_of(
        pseudo_queries, documents, coerce_ids=fields.coerce_ids
    )
    with_titles = config.titles is not False
    if not queries and not any(
        d.text.strip() or (with_titles and d.title.strip()) for d in documents
    ):
        raise InputError(
            f"{len(documents):,} documents, none with a {'title or a ' if with_titles else ''}text",
            expected="at least one passage with words",
            fix="Check the names of the columns (--text-field, --title-field).",
            where="--corpus",
        )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    name, home = config.tokenizer or "", folder / INDEX
    tokenizer = Path(name) if name and not name.startswith(TRAINED) else None
    keep_input(folder, [path, file, tokenizer])
    settings: dict[str, Any] = {
        "tokenizer": config.tokenizer,
        "titles": config.titles,
        "limit": limit,
    }
    record = Record(JOB, settings, {"corpus": path, "pseudo_queries": file})
    addition, markers_added = None, 0
    if config.append:
        index, addition = _append(record, folder, config, documents, queries)
    else:
        with record.timed("tokenizer"):
            vocabulary = _vocabulary(name, documents, queries, folder)
        record.open(folder)
        with record.timed("indexing"):
            index = build_index(
                documents, vocabulary, folder.own(INDEX),
                pseudo_queries=queries, titles=with_titles,
            )  # fmt: skip
        markers_added = vocabulary.added
    manifest = manifest_of(home)
    counts, size = manifest.counts, sum(index.bytes().values())
    summary: dict[str, Any] = {
        "index": str(home),
        "passages": {
            "total": index.n_documents,
            "empty_ids": counts.empty_ids[:_NAMED],
            "title_only": counts.title_only,
            "untitled": counts.untitled,
            "with_queries": counts.with_queries,
            "empty": len(counts.empty_ids),
        },
        "tokens": {
            "total": index.n_tokens,
            "types": len(index.continuations(())[0]),
            "vocabulary": index.vocabulary_size,
            "unknown": counts.unknown_tokens,
        },
        "titles": index.titles,
        "segments": len(manifest.segments),
        "bytes": size,
        "bytes_per_token": round(size / index.n_tokens, 3),
        "seconds": round(sum(record.timings_s.values()), 2),
        "pseudo_queries": None,
        "markers_added": markers_added,
    }
    if queries:
        summary["pseudo_queries"] = {
            "documents": len(queries),
            "queries": sum(map(len, queries.values())),
            "elsewhere": elsewhere,
        }
    if addition is not None:
        summary["added"] = addition
    record.encoder["what"] = "index"
    record.encoder["fingerprint"] = described(home)
    folder.write_results(JOB, summary, record.manifest(dict(summary["passages"])))
    return BuildResult(index, summary)


def _append(
    record: Record,
    folder: ArtifactFolder,
    config: NgramBuildConfig,
    documents: Sequence[Document],
    queries: Mapping[str, list[str]],
) -> tuple[NgramIndex, dict[str, Any]]:
    """Add new documents to the index. Return it, and how many were added and unchanged."""
    home = folder / INDEX
    record.config["titles"] = NgramIndex.open(home).titles  # without a whole one, an error now
    record.open(folder)
    with record.timed("indexing"):
        changes = append(home, documents, pseudo_queries=queries)
    return NgramIndex.open(home), {"passages": len(changes.new), "unchanged": changes.unchanged}


def _vocabulary(
    name: str,
    documents: Sequence[Document],
    queries: Mapping[str, list[str]],
    folder: ArtifactFolder,
) -> Vocabulary:
    """Return the tokenizer: opened, of an earlier run with as many tokens, or trained."""
    if not name.startswith(TRAINED):
        return open_vocabulary(Path(name))
    try:
        size = int(name.removeprefix(TRAINED))
    except ValueError as error:
        raise InputError(
            f"{name!r}",
            expected=f"{TRAINED}SIZE, a whole number of tokens, or a folder",
            fix=f"For example {TRAINED}8000.",
            where="--tokenizer",
        ) from error
    home = folder / INDEX / TOKENIZER
    if not folder.fresh and home.is_dir():
        earlier = open_vocabulary(home)
        if earlier.size == size:
            return earlier
    texts = (text for d in documents for text in (d.title, d.text, *queries.get(d.id, ())))
    return train_vocabulary(texts, size)


def build_headline(summary: dict[str, Any]) -> Iterator[str]:
    """Yield lines on the documents indexed and left out, and the place of the index."""
    passages, tokens = summary["passages"], summary["tokens"]
    if "added" in summary:
        added = summary["added"]
        yield f"added {added['passages']:,} passages, {added['unchanged']:,} were there"
    yield (
        f"{passages['total']:,} passages, {tokens['total']:,} tokens of {tokens['types']:,} types; "
        f"{summary['bytes']:,} bytes, {summary['bytes_per_token']:.2f} per token"
    )
    if passages["empty"]:
        more = ", ..." if passages["empty"] > len(passages["empty_ids"]) else ""
        named = ", ".join(passages["empty_ids"]) + more
        yield f"left out: {passages['empty']:,} without text or title ({named})"
    if passages["title_only"]:
        yield f"{passages['title_only']:,} passages have a title alone"
    if passages["untitled"]:
        yield f"{passages['untitled']:,} have no title"
    if tokens["unknown"]:
        yield (
            f"warning: {tokens['unknown']:,} tokens are unknown to the tokenizer: all n-grams with "
            "them look alike"
        )
    if summary["markers_added"]:
        yield (
            f"note: {summary['markers_added']} markers (@@, ||) are new to this tokenizer: a model "
            "made before has to learn them (argus research generative train)"
        )
    if queries := summary["pseudo_queries"]:
        elsewhere = ""
        if queries["elsewhere"]:
            elsewhere = f"; {queries['elsewhere']:,} documents are not here"
        yield (
            f"pseudo-queries: {queries['queries']:,} of {queries['documents']:,} "
            f"documents{elsewhere}"
        )
    yield f"index: {summary['index']} ({summary['seconds']:.1f} s)"
