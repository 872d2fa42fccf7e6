"""`argus check --sources`: compare what is indexed with what it was made of.

The part of `argus check` for --sources. Out: drift.jsonl and drift.csv, a queue of what to delete,
re-ingest and ingest, with the reason of each. What is served first stands on top: drifted chunks
are asked for by their title and first sentence, a store without an encoder by their vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus, StoreCorpus, named
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Document, Query, Run
from argus.data.writing import one_writer, write_jsonl
from argus.drift.align import align
from argus.drift.config import DriftConfig
from argus.drift.findings import Drift, Finding, find
from argus.drift.sources import (
    Chunks,
    Sources,
    changed_since,
    hashes_of,
    names_of,
    read_chunks,
    read_sources,
)
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.encoders.embed import embed
from argus.encoders.embed import queries as as_queries
from argus.indexes.exact import search
from argus.jobs.result import TableResult
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder
from argus.reports import write_report
from argus.reports.section import Section, table
from argus.retrievability.exposure_asking import embed_documents
from argus.retrievability.sentences import split_sentences
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import is_index
from argus.retrievers.opening import opened
from argus.stores.spec import open_store

AnyEncoder = Encoder | EncoderConfig | str
EXAMPLES = 50  # rows that the summary names, of all in drift.parquet
ASKED = (Drift.STALE, Drift.ORPHAN, Drift.MOVED, Drift.DUPLICATE)  # what can come back
WORDS = {
    Drift.STALE: "chunks are stale: their source changed since",
    Drift.ORPHAN: "chunks are orphans: their source is gone",
    Drift.MOVED: "chunks name another place than their text is in now",
    Drift.DUPLICATE: "chunks say what another one says",
    Drift.MISSING: "sources are missing: no chunk is of them",
    Drift.TRUNCATED: "sources are indexed in part: no chunk has their end",
    Drift.UNKNOWN: "chunks and sources cannot be told: drift.csv says why",
}


@dataclass(frozen=True, repr=False)
class DriftResult(TableResult):
    """Result of `find_drift`. Everything in it is also in `folder`.

    table: one row per chunk or source that has drifted, what is served first on top. Keys of the
    summary:

    k: how far down a list counts as served.
    chunks: chunks that were read.
    sources: sources that were read.
    said: records that the store said to hold, None of another index.
    repeated: ids that came again while it was read.
    unread: sources that cannot be read.
    recoded: sources that are not in UTF-8, and were read all the same.
    left_out: files that are no source, by kind.
    path_field: field of chunks that names their source. None: texts alone tell.
    hash_field: field of chunks with the hash of their source, if there is one.
    kinds: chunks and sources that have drifted, by kind.
    asked_by: what brought chunks back: a retriever's name, or vectors. Empty: none were asked for.
    served: drifted chunks that were asked for, by kind: how many (asked), and of these those that
        came back in the top k (back), and first (first).
    questions: questions that were given, and of these, those that bring a drifted chunk back.
    examples: the first rows of the queue.
    """

    def headline(self) -> Iterator[str]:
        """Yield the lines that the command prints."""
        summary = self.summary
        n, kinds, served = summary["chunks"], summary["kinds"], summary["served"]
        how = [f"the field {summary['path_field']!r}"] if summary["path_field"] else []
        how += [f"hashes in {summary['hash_field']!r}"] if summary["hash_field"] else []
        yield f"{n:,} chunks beside {summary['sources']:,} sources, by {', '.join([*how, 'words'])}"
        for kind, count in kinds.items():
            total = summary["sources"] if kind in (Drift.MISSING, Drift.TRUNCATED) else n
            of = "" if kind == Drift.UNKNOWN else f" of {total:,}"
            line = f"{count:,}{of} {WORDS[Drift(kind)]}"
            if kind in served:
                asked = served[kind]["asked"]
                them = "them" if asked == count else f"the {asked:,} that were asked for"
                line += f"; {served[kind]['first']:,} of {them} come back first"
                line += f", {served[kind]['back']:,} in the top {summary['k']}"
            yield line
        if (questions := summary["questions"])["asked"]:
            share = f"{questions['back']:,} of {questions['asked']:,}"
            yield f"{share} questions bring a drifted chunk back"
        if kinds.get(Drift.STALE, 0) > n / 2:
            yield "WARNING: most chunks differ a little: were their sources read in another way?"
        if summary["said"] is not None and (summary["repeated"] or summary["said"] != n):
            yield f"WARNING: the store said {summary['said']:,}, and {n:,} were read: it changes"
        doubts = {"cannot be read": summary["unread"], "not in UTF-8": summary["recoded"]}
        doubts |= summary["left_out"]
        if told := ", ".join(f"{count:,} {why}" for why, count in doubts.items() if count):
            yield f"sources left out, or in doubt: {told}"
        whole = "Every chunk is as its source is, and every source is indexed."
        yield "drift.csv names what to delete, re-ingest and ingest." if kinds else whole


@one_writer
def find_drift(
    corpus: Corpus, sources: Corpus | Sources, *, out: Path | str,
    config: DriftConfig | None = None,
    queries: Path | str | Sequence[Query] = (), fields: FieldNames | None = None,
    retriever: Any = None, encoder: AnyEncoder | None = None, cache: Path | None = None,
    asking: AskingConfig | None = None, fresh: bool = False,
) -> DriftResult:  # fmt: skip
    """Tell which chunks of an index are not as their sources are, and which of them come back.

    corpus: what is indexed. sources: what it was made of. retriever: is asked for drifted chunks,
    else the store of the corpus, or an exact search with `encoder`: default all-MiniLM-L6-v2.
    Raises InputError for either that cannot be read.
    """
    config, fields = config or DriftConfig(), fields or FieldNames()
    given = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    made = sources if isinstance(sources, Sources) else read_sources(sources, FieldNames())
    changed = None if config.since is None else changed_since(made.place, config.since)
    index = read_chunks(corpus, fields)
    inputs = {"corpus": index.origin, "sources": made.origin}
    place = named(corpus) if isinstance(corpus, str | Path | StoreCorpus) else None
    store = place if isinstance(place, StoreCorpus) else None
    settings = {**asdict(config), "queries": len(given), "store": store and str(store)}
    settings["sources"] = made.query
    if isinstance(place, Path) and is_index(str(place)):
        settings["index"] = str(place)
    record = Record("drift", settings, inputs)
    record.encoder["fingerprint"] = NO_ENCODER
    path_field, values, rows = names_of(index.documents, made, config.path_field)
    hash_field, same = hashes_of(index.documents, made, rows, config.hash_field)
    record.open(folder)
    with record.timed("aligning"):
        found = align(
            [one.text for one in made.documents], [one.text for one in index.documents],
            titles=[one.title for one in index.documents], named=rows,
        )  # fmt: skip
        findings = find(index, made, values, rows, same, found)
        if changed is not None:
            ids, ends = {d.id for d in made.documents}, tuple(f"/{name}" for name in changed)
            findings = [
                one for one in findings
                if (source := one["source"]) in changed
                or (source not in ids and f"/{source}".endswith(ends))
            ]  # fmt: skip
    of_chunks = (one for one in findings if one["kind"] in ASKED)
    drifted = sorted(of_chunks, key=lambda one: [*Drift].index(Drift(one["kind"])))
    drifted = drifted[: config.ask_at_most]
    probes = _probes(drifted, index.documents)
    asked_by, run = "", Run()
    with record.timed("asking"):
        if drifted and (retriever is not None or (store is not None and encoder is not None)):
            asked = retriever if retriever is not None else store and store.store
            with opened(asked, documents=index.documents, config=asking, encoder=encoder) as one:
                asked_by, run = one.name, one.ask([*probes, *given], config.k).run
        elif drifted and store is not None:
            asked_by, run = "their own vectors", _by_vectors(store, drifted, index, config.k)
        elif drifted:
            model = encoder or DEFAULT_MODEL
            with open_encoder(folder, model, record, store=cache) as (loaded, kept):
                asked_by = "an exact search"
                run = _search(index.documents, [*probes, *given], loaded, kept, config.k)
    questions = _rank(drifted, run, {query.id for query in given})
    findings.sort(key=lambda one: (one["rank"] is None, one["rank"] or 0))
    served: dict[str, dict[str, int]] = {}
    for kind in ASKED if asked_by else ():
        ranks = [one["rank"] for one in drifted if one["kind"] == kind]
        back = sum(rank is not None for rank in ranks)
        served[kind] = {"asked": len(ranks), "back": back, "first": ranks.count(1)}
    kinds = Counter(one["kind"] for one in findings)
    summary: dict[str, Any] = {
        "k": config.k, "chunks": len(index.documents), "sources": len(made.documents),
        "said": index.said, "repeated": index.repeated, "unread": len(made.unread),
        "recoded": made.recoded, "left_out": dict(made.left_out), "path_field": path_field,
        "hash_field": hash_field, "kinds": {kind: kinds[kind] for kind in Drift if kinds[kind]},
        "asked_by": asked_by, "served": served, "questions": questions,
        "examples": findings[:EXAMPLES],
    }  # fmt: skip
    names = [name for name in Finding.__annotations__ if name != "rank"]
    schema = pa.schema([("rank", pa.int64()), *((name, pa.string()) for name in names)])
    queue = pa.Table.from_pylist(findings, schema=schema)
    folder.write_table("drift", queue, csv=True)
    write_jsonl(folder.own("drift.jsonl"), findings)
    folder.write_results("drift", summary, record.manifest(summary["kinds"]))
    return DriftResult(folder.path, write_report(folder.path), summary, queue)


def _probes(drifted: Sequence[Finding], chunks: Sequence[Document]) -> list[Query]:
    """Return the title and first sentence of each chunk, with ids "row title", "row sentence"."""
    of, probes = {chunk.id: chunk for chunk in chunks}, []
    for row, one in enumerate(drifted):
        chunk = of[one["id"]]
        span = next(iter(split_sentences(chunk.text)), None)
        sentence = chunk.text[span.start : span.end] if span else ""
        asked = {"its title": chunk.title, "its first sentence": sentence}
        probes += [Query(f"{row} {by}", text) for by, text in asked.items() if text.strip()]
    return probes


def _by_vectors(store: StoreCorpus, drifted: Sequence[Finding], index: Chunks, k: int) -> Run:
    """Ask a store for chunks by their own vectors."""
    assert index.vectors is not None
    rows = {chunk.id: row for row, chunk in enumerate(index.documents)}
    vectors = np.nan_to_num(index.vectors[[rows[one["id"]] for one in drifted]])
    with open_store(store.store, store.opening) as source:
        lists = source.search(vectors, k)
    return {f"{row} its vector": dict(hits) for row, hits in enumerate(lists)}


def _search(
    chunks: Sequence[Document], queries: Sequence[Query], model: Encoder, kept: Any, k: int
) -> Run:
    """Search all chunks exactly."""
    indexed, vectors, _ = embed_documents(sorted(chunks, key=lambda d: d.id), model, kept)
    asked = embed(as_queries([query.text for query in queries]), model, kept, what="questions")
    top = search(asked.vectors, vectors, k)
    answered = [query for query, ok in zip(queries, asked.ok, strict=True) if ok]
    return {
        query.id: {indexed[row].id: float(score) for row, score in zip(*hits, strict=True)}
        for query, *hits in zip(answered, top.rows.tolist(), top.scores, strict=True)
    }


def _rank(drifted: Sequence[Finding], run: Run, given: set[str]) -> dict[str, int]:
    """Set the best rank of each chunk. Return how many questions bring a drifted chunk back."""
    of = {one["id"]: one for one in drifted}
    back = 0
    for asked, hits in run.items():
        ranked = sorted(hits, key=lambda id_: (-hits[id_], id_))
        row, _, by = asked.partition(" ")
        own = None if asked in given else drifted[int(row)]["id"]
        met = [
            (rank, id_) for rank, id_ in enumerate(ranked, 1) if id_ in of and own in (None, id_)
        ]
        back += own is None and bool(met)
        for rank, id_ in met:
            if rank < (of[id_]["rank"] or rank + 1):
                of[id_]["rank"], of[id_]["asked_by"] = rank, asked if own is None else by
    return {"asked": len(given & run.keys()), "back": back}


def section(folder: Path, summary: dict[str, Any]) -> Section:
    """Build the report's section, of drift.parquet."""
    rows: list[Finding] = read_table(folder / "drift.parquet").to_pylist()
    names = ("chunk", "source", "drift", "do", "why", "asked by")
    columns = {"rank": "count"} | dict.fromkeys(names, "text")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in summary["kinds"].items())
    tables = {"drift": table(columns, [list(row.values()) for row in rows])}
    return Section({}, tables, f"beside their sources: {kinds or 'all as they are'}")
