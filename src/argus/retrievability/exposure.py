"""Measure how often a search brings each document back for its own title and sentences (exposure).

The first part of `argus check`, and `research export`, which writes the same queries as a BEIR
collection to run elsewhere. No relevance judgements are needed: each title, and each sentence taken
out of its document, is a query (a probe) with one right answer. Out: a row per document and
misses.parquet. The queries are made and counted in `argus.retrievability.exposure_findings`, and
searched in `argus.retrievability.exposure_asking`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.documents import BEIR_FILES, read_queries, write_beir
from argus.data.fields import FieldNames, read_parents
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Query, Run
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, Rows
from argus.engine import Engine, EngineConfig, open_given
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result, TableResult
from argus.jobs.workspace import Record, any_encoder, read_documents, require_some, texts_cut
from argus.measures.slices import Slicing, rank_slices, slice_lines, slicings
from argus.reports import figures, write_report
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievability.config import ExposureConfig
from argus.retrievability.exposure_asking import (
    ask_probes,
    embed_documents,
    embed_probes,
    probes_of_texts,
    search_probes,
)
from argus.retrievability.exposure_findings import Findings, Parents, Probes
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer
from argus.retrievers.protocol import kept_note
from argus.settings import Doc


@dataclass(frozen=True, repr=False)
class ExposureResult(TableResult):
    """Result of the probes. Everything in it is also in `folder`.

    table: one row per document.
    misses: one row per probe that did not bring its document back within k.
    summary: as follows. Where `parents` is there, all else is of chunks.

    k: results of a list that count.
    documents: counts by state, and reasons of those without a figure.
    queries: probes that were asked.
    probes_failed: probes that could not be asked.
    title, sentence: probes that are the title of their document, or a sentence held out of it.
    probes: how many. success_at_1, success_at_k: share that brings its document first, into the top
    k. mrr: mean reciprocal rank. low, high: 95% Wilson interval of success@k. None without probes.
    never_retrieved: documents that no probe brings into the top k.
    never_retrieved_by_others: documents that no other document's probe does.
    concentration: how unevenly documents come back. gini: 0 (all alike) to 1. skewness: of how
    often a document comes back. lorenz: Lorenz curve, at equal steps of the share of documents.
    expected_by_chance: lists in which chance alone puts a document.
    hubs: documents that come back for most probes of others. lists: top-k lists that hold it.
    share: these as a share of all lists.
    reworded: whether sentences asked without their rarer words.
    near: where queries were given. documents: with three that share a word with them. missed: of
    these, documents that none of the three nearest by words brings.
    titled: documents that could be retrieved and have a title. The others have no title probe.
    sample: the documents that were drawn, where not all are asked for. Then intervals are over
    documents, and `never_retrieved` counts drawn ones, by the lists that there are. drawn: how
    many. of: documents with text. asked: those that a probe of their own asked for. missed: of
    these, documents that none of their own probes brings into the top k. missed_low, missed_high:
    95% Wilson interval of `missed` among `asked`.
    parents: the same of the documents that chunks are of. field: that names them. chunks: that
    could be retrieved. sentences_in_siblings: sentences that another chunk of the document holds,
    too: taken out there as well.
    slices: shares by slice, where fields were named.
    text_window: how much of the documents the encoder reads. None where not known.
    retriever: the retriever that was asked, where it was not Argus's own search over vectors.
    name: as it was given. held_out: whether a sentence was held out of its document. longest_list:
    results in the longest list, at most k. strange: results that are no document of the corpus.
    kept: answers of an earlier run. reasons: why probes failed, the most frequent first.
    whole_documents: results that are no chunk, but a document that chunks are of. undecided: probes
    whose list ends before it holds k documents, or their own. warning: doubt about all answers.
    stored_vectors: of vectors that came with the corpus.
    """

    TABLES = ("table", "misses")
    misses: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def exposure(
    corpus: Corpus,
    *,
    out: Path | str,
    encoder: Encoder[Rows] | EncoderConfig | str = DEFAULT_MODEL,
    config: ExposureConfig | None = None,
    queries: Path | str | Sequence[Query] = (),
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    run: Path | Run | None = None,
) -> ExposureResult:
    """Ask for every document by its title and by sentences taken out of it.

    Reachability does not tell which real questions fail (docs/results/what-reachability-tells.md).

    corpus, out, encoder, store, engine: as for `argus.audit`. queries: real queries to add to the
    sample that hubs and never-retrieved documents are counted over. In a sentence probe the
    document is embedded without the sentence. Everything else is as in the index.

    Where `config.parent_field` names the document that a chunk is of, figures are told of chunks
    and of documents: a chunk's siblings are no rivals of it, and one that holds the sentence of a
    probe too is left out of its document for that probe. `config.by`: fields to slice shares by.

    retriever: asked in place of an encoder: a name (see `argus.retrievers.names`), or any
    object or function that retrieves (see `argus.retrievers.python_retriever`). asking: how.
    `encoder` then
    embeds the queries of a store. run: its answers to `export_probes`,
    made elsewhere. Sentences are then left in the documents: nothing can be taken out of an index
    that Argus did not build. A probe that the retriever fails on is failed, never a miss.
    """
    config = config or ExposureConfig()
    source = Answerer(retriever, run, asking, cast(Encoder | EncoderConfig | str, encoder))
    embedded_by = None if source.is_named else encoder
    documents, path = read_documents(corpus, fields or FieldNames(), limit, embedded_by)
    documents = sorted(documents, key=lambda d: d.id)
    extra = _read_queries(queries)
    of_chunk = read_parents(documents, config.parent_field)
    slices = slicings(documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "exposure",
        {**asdict(config), "queries": len(extra), "limit": limit},
        {"corpus": path, "run": run if isinstance(run, Path) else None},
    )
    if source.is_named:
        findings, facts = ask_probes(documents, extra, config, of_chunk, source, folder, record)
        return _write(folder, record, findings, facts, slices)
    with_text = sum(bool(d.content.strip()) for d in documents)
    require_some(with_text, "document has text", "Check --text-field.")
    with (
        open_given(engine) as running,
        any_encoder(folder, encoder, record, store=store, engine=running) as opened,
    ):
        model, vectors = opened
        with record.timed("embedding documents"):
            indexed = embed_documents(documents, model, vectors)
            window = texts_cut(model, [d.content for d in indexed[0]])
        with record.timed("embedding probes"):
            probes, block = embed_probes(indexed, extra, config, model, vectors)
        with record.timed("searching"):
            field = config.parent_field
            parents = None if field is None else Parents.of(field, of_chunk, probes.documents)
            findings, parts = search_probes(
                indexed[1], probes, block, parents, config.k, documents, folder, running
            )
    result = _write(folder, record, findings, {"text_window": window}, slices)
    parts.remove()
    return result


@dataclass(frozen=True, repr=False)
class ExportedProbes(Result):
    """Probes as a BEIR collection in a folder."""

    folder: Path
    probes: Probes

    @property
    def summary(self) -> dict[str, int]:
        """The numbers of probes and of the documents that they ask for."""
        return {"probes": len(self.probes.queries), "documents": len(self.probes.documents)}

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        counts = self.summary
        yield (
            f"{counts['probes']:,} probes of {counts['documents']:,} documents: run "
            f"{self.folder}/queries.jsonl; then argus check of these documents with --run RUN.trec"
        )


@one_writer
def export_probes(
    corpus: o.Corpus,
    *,
    out: o.Out,
    config: ExposureConfig | None = None,
    queries: Annotated[
        Path | str | Sequence[Query],
        Doc("Real queries to add to the sample (JSONL, CSV, TSV, Parquet)."),
    ] = (),
    fields: FieldNames | None = None,
    limit: o.Limit = None,
) -> ExportedProbes:
    """Write corpus, probes and their targets as a BEIR collection, to be run elsewhere.

    `argus check --run RUN`, or `exposure(..., run=RUN)`, with the same corpus, queries and settings
    reads the answers.

    Raises InputError for a folder that has a collection which Argus did not write.
    """
    home = ArtifactFolder(Path(out))
    for file in BEIR_FILES:
        if (home / file).exists() and Path(file).parts[0] not in home.recorded():
            got, fix = "is there, and Argus did not write it", "Name another: it would be lost."
            expected = "a folder without a collection, or one of earlier probes"
            raise InputError(got, expected=expected, fix=fix, where=home / file)
    documents, _ = read_documents(corpus, fields or FieldNames(), limit, None)
    documents = sorted(documents, key=lambda d: d.id)
    probes = probes_of_texts(documents, _read_queries(queries), config or ExposureConfig())
    home.open()
    for file in BEIR_FILES:
        home.own(Path(file).parts[0])
    pairs = zip(probes.queries, probes.target.tolist(), strict=True)
    qrels = {query.id: {probes.documents[row].id: 1} for query, row in pairs if row >= 0}
    write_beir(home.path, documents, probes.queries, qrels)
    return ExportedProbes(home.path, probes)


def _read_queries(queries: Path | str | Sequence[Query]) -> list[Query]:
    return read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)


def _write(
    folder: ArtifactFolder,
    record: Record,
    findings: Findings,
    facts: dict[str, Any],
    slices: Sequence[Slicing],
) -> ExposureResult:
    """Write tables, summary, manifest and report."""
    with record.timed("writing"):
        table, misses, folded = findings.table, findings.misses(), findings.folded
        folder.write_table("exposure", table, csv=True)
        folder.write_table("misses", misses, csv=True)
        summary = {**findings.figures(), **facts, "reworded": record.config["reword"]}
        if folded is not None:
            summary["parents"] = folded.figures()
            folder.write_table("documents", folded.table(), csv=True)
        if slices:
            fields, shares = [one.figures for one in slices], findings.shares(slices)
            summary["slices"], sliced = rank_slices(fields, shares)
            folder.write_table("slices", sliced, csv=True)
        summary |= record.of_store()
        folder.write_results("exposure", summary, record.manifest(summary["documents"]))
    return ExposureResult(folder.path, write_report(folder.path), summary, table, misses)


SATURATED = 0.95  # share of sentences from which a search finds all by their own words
WORTH = "of two documents of which one fails real questions it names that one in"
MEASURED = "docs/results/what-reachability-tells.md"
FEW_TITLES = 0.5  # share of documents with a title, below which it is said which probes that costs
Summary = Mapping[str, Any]


def headline(summary: Summary) -> Iterator[str]:
    """Yield how often documents come back, and how many never do, also of chunks.

    Of a sample, estimates for all documents, without Gini: few lists are uneven by chance.
    """
    parents, unit = summary.get("parents"), "chunks" if "parents" in summary else "documents"
    levels = [(summary, "chunks " if parents else "", unit)]
    if parents is not None:
        levels.append((parents, "documents ", "documents, by any chunk"))
    own_sentence = "a sentence of their own" + ", left in" * ("retriever" in summary)
    own_sentence += ", reworded" * summary["reworded"]
    if "sample" in summary:
        sample = (parents or summary)["sample"]
        yield (
            f"a sample: {sample['drawn']:,} of {sample['of']:,} documents, drawn at random, were "
            "asked for in the whole corpus; 95% intervals say what holds for all"
        )
    for level, prefix, name in levels:
        for kind, by in (("title", "their title"), ("sentence", own_sentence)):
            if not (found := level[kind])["probes"]:
                continue
            is_drawn = "sample" in level
            interval = f"{found['low']:.1%} to {found['high']:.1%}; " if is_drawn else ""
            yield (
                f"{prefix}found by {by}, top {level['k']}: {found['success_at_k']:.1%} "
                f"({interval}first: {found['success_at_1']:.1%}) of {found['probes']:,} probes"
            )
        if "missed_low" in (sample := level.get("sample", {})):
            yield (
                f"missed by every probe of their own: {sample['missed']:,} of {sample['asked']:,} "
                f"{name}: {sample['missed'] / sample['asked']:.1%} "
                f"({sample['missed_low']:.1%} to {sample['missed_high']:.1%})"
            )
    if "sample" not in summary:
        never = "; ".join(
            f"{level['never_retrieved']:,} of {level['documents']['total']:,} {name}"
            for level, _, name in levels
        )
        yield f"never retrieved: {never}; Gini {summary['concentration']['gini']:.2f}"
    titled, counts = summary["titled"], summary["documents"]
    searched = counts["total"] - counts["reasons"].get("no text", 0)
    if titled < FEW_TITLES * searched:
        has = f"{titled:,} of {searched:,} {unit} have a title (--title-field)"
        yield f"few title probes: {has}; sentences alone ask for the others"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield from _worth(summary)
    if facts := summary.get("retriever"):
        yield from _of_retriever(facts, summary)


def _worth(summary: Summary) -> Iterator[str]:
    """Yield what the figures tell of real questions, where they seem to tell much."""
    found = summary["sentence"]["success_at_k"]
    if found is not None and found >= SATURATED:
        yield (
            "own words find nearly all there is: that does not tell which real questions fail; ask "
            "those: --queries, --log; or by needs that a model wrote: --profiles"
        )
    if summary["reworded"]:
        yield f"reworded sentences: {WORTH} 52%, no more than chance does ({MEASURED})"
    if near := summary.get("near"):
        yield (
            f"missed by all three questions that share most with their words: {near['missed']:,} "
            f"of {near['documents']:,} documents ({WORTH} 64% (49% to 92%): {MEASURED})"
        )


def _of_retriever(facts: Summary, summary: Summary) -> Iterator[str]:
    """Yield doubts about a retriever's answers."""
    k = summary["k"]
    if "warning" in facts:
        yield f"WARNING: {facts['warning']}"
    if summary["probes_failed"]:
        reason, n = next(iter(facts["reasons"].items()))
        failed = f"{summary['probes_failed']:,} probes failed and are in no figure"
        yield f"{failed}; {n:,} of them: {reason}"
    if facts["longest_list"] < k:
        yield (
            f"WARNING: no list of {facts['name']} is longer than {facts['longest_list']}, though "
            f"k is {k}: ask it for more, or measure at --k {facts['longest_list']}"
        )
    if facts["strange"]:
        yield (
            f"WARNING: {facts['strange']:,} results are no document of the corpus: name where "
            "their id stands with --result-id, or give the corpus that was indexed"
        )
    if whole := facts.get("whole_documents"):
        yield (
            f"WARNING: {whole:,} results are documents, not chunks: they count for documents alone"
        )
    if undecided := facts.get("undecided"):
        yield (
            f"{undecided:,} probes are missed by documents in lists that end before the "
            f"{k}th document: the retriever gives no longer ones"
        )
    if facts["kept"]:
        yield kept_note(facts["kept"], summary["queries"])


def section(folder: Path, summary: Summary) -> Section:
    """Build the exposure's section from misses.parquet: concentration, hubs, misses."""
    spread, parents = summary["concentration"], summary.get("parents")
    misses = read_table(folder / "misses.parquet").to_pylist()
    is_chunks = bool(misses) and "parent" in misses[0]
    columns = {
        "chunk" if is_chunks else "document": "text", "asked by": "text", "query": "text",
        "rank": "count", "returned instead": "text",
        **({"its document": "text", "the document's rank": "count"} if is_chunks else {}),
    }  # fmt: skip
    names = ["probe", "query", "rank", "displaced_by"]
    names += ["parent", "parent_rank"] if is_chunks else []
    rows = [
        [naming(row["label"], row["id"]), *(row[name] for name in names)]
        for row in misses[:MAX_ROWS]
    ]
    tables = {"misses": table(columns, rows, total=len(misses)), "hubs": _hubs(summary["hubs"])}
    if "near" in summary:
        own = read_table(folder / "exposure.parquet").to_pylist()
        near = sorted((r for r in own if r["near_missed"]), key=lambda r: -r["near_missed"])
        of = [[naming(r["label"], r["id"]), r["near_missed"]] for r in near]
        tables["near"] = table({"document": "text", "near questions that miss it": "count"}, of)
    brief = _come_back(summary, "")
    if parents is not None:
        tables["document_hubs"] = _hubs(parents["hubs"])
        brief = f"{_come_back(summary, ' chunks')}; {_come_back(parents, ' documents')}"
    if "slices" in summary:
        tables["exposure_slices"] = slices_table(folder)
    plots = {"lorenz": figures.lorenz(spread["lorenz"], spread["gini"])}
    return Section(plots, tables, brief)


def _come_back(level: Summary, unit: str) -> str:
    total = f"{level['documents']['total']:,}{unit}"
    never = f"{level['never_retrieved']:,} of {total} never come back"
    if (sample := level.get("sample")) is not None:
        never = (
            f"{sample['missed']:,} of {sample['asked']:,}{unit} that were drawn of "
            f"{sample['of']:,} are missed by every probe of their own"
        )
    kinds = (("sentence", "a sentence of their own"), ("title", "their title"))
    backs = ", ".join(
        f"{level[kind]['success_at_k']:.1%} by {name}"
        for kind, name in kinds
        if level[kind]["success_at_k"] is not None
    )
    return f"{backs} come back in the top {level['k']}; {never}" if backs else never


def _hubs(hubs: Sequence[Mapping[str, Any]]) -> Table:
    return table(
        {"document": "text", "lists": "count", "share of all lists": "share"},
        [[naming(hub["label"], hub["id"]), hub["lists"], hub["share"]] for hub in hubs],
    )
