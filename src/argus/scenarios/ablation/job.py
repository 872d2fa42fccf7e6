"""`research scenarios ablate`: compare searches with every part of scenarios at every weight λ.

In: corpus, profiles, judged queries. Out: a table of measures, and a report (SPIKE §5, App. A). A
profile lists the needs that a document serves. Its parts (components) are topic, needs and
explanations. λ weighs the document's own score against its scenarios'. Expanded documents stand
beside them. `argus.scenarios.ablation.grid` searches, `argus.scenarios.ablation.findings` compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import Excluded, spare, without_excluded
from argus.data.types import Document, FloatArray, Qrels, Query, Run
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Embedded, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.engine import open_given
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.systems import Judged, System, missing_gold, without_failed
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.measures import Evaluation, evaluate
from argus.measures.measures import cover
from argus.measures.slices import slicings
from argus.reports import write_report
from argus.scenarios.ablation import findings
from argus.scenarios.ablation.findings import AblateConfig, Ablation
from argus.scenarios.ablation.grid import (
    Documents,
    QueryVectors,
    ScenarioTexts,
    best_cell,
    embed_scenarios,
    grid,
    mean_of,
    usual_cell,
)
from argus.scenarios.config import Cell
from argus.scenarios.files import Baseline, Expansion, expanded, given_profiles, read_expansions
from argus.scenarios.profile import Component, Profiled, ProfileState, needs
from argus.settings import Without

JOB = "ablation"


@dataclass(frozen=True, repr=False)
class AblateResult(TableResult):
    """Result of the grid. Everything in it is also in `folder`.

    table: one row per run: cells, baselines, placebo, documents alone.

    Keys of `summary`:

    headline: the measure that cells are judged by.
    measures: measures that were taken.
    depth: documents per list.
    placebos: draws of scenarios of other documents.
    documents.total: documents of the corpus.
    documents.indexed: documents that have a vector.
    documents.without_text: documents without a text.
    documents.failed: documents that could not be embedded.
    documents.with_scenarios: indexed documents with scenarios.
    documents.share: these as a share of the indexed ones.
    profiles.total: documents that were read.
    profiles.ok: documents that have scenarios.
    profiles.noise: documents that serve no need.
    profiles.failed: documents without a profile that can be used.
    profiles.of_other_documents: profiles of documents that the corpus lacks.
    profiles.scenarios: scenarios of documents of the corpus.
    coverage: how many of the documents, and of the relevant ones, have scenarios.
    whole.documents: documents that were embedded.
    whole.documents_with_scenarios: of these, documents with scenarios.
    whole.queries: questions that were measured here.
    whole.usual: cell that is used by default.
    whole.best: cell that is best on these very questions.
    whole.tuned: cell chosen on some questions and compared on others. None with too few.
    whole.tuned.chosen_on: questions that it was chosen on.
    whole.tuned.comparison: the cell against documents alone, on the other questions.
    whole.tuned.usual: the usual cell against documents alone, on the same questions.
    whole.gaps: best cell against placebos and expanded documents.
    whole.gaps.against: placebo or expanded documents that it is compared with.
    whole.gaps.comparison: the cell less these, by the headline measure.
    whole.rows: every run.
    whole.rows.system: documents alone, scenarios, placebo, pseudo-queries or summary.
    whole.rows.measures: measure to its mean.
    whole.rows.comparison: difference from documents alone, by the headline measure. None for
        documents alone.
    expansions: sources of baselines. None without.
    expansions.total: expansions that were read.
    expansions.baselines: documents that were expanded, by baseline.
    types: figures by type of document, where fields were named.
    types.field: field that types are told by.
    types.type: value of that field.
    types.documents: documents of the type.
    types.questions: questions with a relevant document of the type.
    types.is_few: whether these are few.
    types.alone: headline measure of documents alone. None without a question.
    types.usual: usual cell against documents alone. None without a question.
    types.grid: headline measure of each cell.
    types.grid.mean: headline measure of the cell. None without a question.
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return findings.headline(self.summary)


@one_writer
def ablate_scenarios(
    corpus: o.Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    queries: o.Queries,
    qrels: o.Qrels,
    *,
    out: o.Out = o.OUT,
    encoder: Annotated[
        o.Encoder, Without("base_url", "api_key_env", "batch_size", "concurrency")
    ] = DEFAULT_MODEL,
    excluded: o.Excluded = None,
    expansions: Path | None = None,
    config: AblateConfig | None = None,
    fields: FieldNames | None = None,
    store: o.Store = None,
    fresh: o.Fresh = False,
    engine: o.Engine = None,
) -> AblateResult:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions also documents expanded with pseudo-queries and with a summary. Writes
    ablation.parquet and .csv, summary.json, manifest.json and report.html with a heat map.

    Documents without scenarios stand beside others with some: a corpus of the latter alone tells
    what scenarios say, whatever having some does. excluded: documents taken out of a
    query's results before they are measured, per query or as `read_excluded` reads a file. engine:
    embeds. Raises InputError for bad input.

    Args:
        profiles: Scenarios (profiles.jsonl, or its folder).
        expansions: Pseudo-queries and summaries of documents (JSONL).
    """
    config = config or AblateConfig()
    source = read_source(
        corpus, profiles, queries, qrels, encoder=encoder, excluded=excluded,
        expansions=expansions, fields=fields,
    )  # fmt: skip
    slices = slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    files = {"corpus": source.path, **source.questions.files}
    if isinstance(profiles, (str, Path)):
        files["profiles"] = Path(profiles)
    record = Record(JOB, asdict(config), files)
    with (
        open_given(engine) as running,
        open_encoder(
            folder, encoder, record, store=store, engine=running
        ) as (loaded, opened),
        record.timed("embedding"),
    ):  # fmt: skip
        vectors = embed_source(source, config.components, loaded, opened)
    judged, indexed = vectors.judged, vectors.documents
    with record.timed("searching"):
        ablation = _ablation(vectors, config)
    gold = {query: judged.relevant(query) for query in judged.queries}
    with record.timed("comparing"):
        ids = [document.id for document in source.documents]
        types = findings.compare_types(ablation, slices, ids, gold)
        rows = ablation.rows()
        baselines = {str(name): n for name, (n, _) in vectors.expanded.items()}
        summary = {
            **_counts(source, vectors, config),
            "coverage": cover(indexed.ids, indexed.profiles.keys(), gold.values()),
            "whole": ablation.summary(rows),
            "expansions": None
            if source.expansions is None
            else {"total": len(source.expansions), "baselines": baselines},
            **record.of_store(),
        }
        if types:
            summary["types"] = types
            folder.write_table(findings.TYPES, findings.types_table(types), csv=True)
        table = findings.runs_table(rows, config.measures)
    folder.write_table(JOB, table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["queries"]))
    return AblateResult(folder.path, write_report(folder.path), summary, table)


def _ablation(vectors: Vectors, config: AblateConfig) -> Ablation:
    """Make all runs and measure them on the judged questions."""
    documents, queries = vectors.documents, vectors.queries.only(vectors.judged.queries.keys())
    qrels = {query: vectors.judged.qrels[query] for query in queries.ids}
    excluded = vectors.judged.excluded
    depth = config.depth + spare(excluded)

    def score(run: Run) -> Evaluation:
        return evaluate(without_excluded(run, excluded, config.depth), qrels, config.measures)

    def measured(index: Documents) -> Evaluation:
        return score(index.alone().search(queries.vectors, depth).run(queries.ids))

    def cells_of(index: Documents, cells: Sequence[Cell]) -> dict[Cell, Evaluation]:
        return grid(index, vectors.texts, queries, cells, depth=depth, score=score)

    cells = cells_of(documents, config.cells)
    best = best_cell(cells, config.measures[0])
    rng = np.random.default_rng(config.seed)
    placebo = [c for c in dict.fromkeys([usual_cell(cells), best]) if c.weight < 1]
    n = config.placebos if len(documents.profiles) > 1 else 0
    exchanges = [cells_of(documents.placebo(rng), placebo) for _ in range(n)]
    baselines = {
        name: measured(Documents(documents.ids, own, {}))
        for name, (n_expanded, own) in vectors.expanded.items()
        if n_expanded
    }
    placebos = {cell: mean_of([e[cell] for e in exchanges]) for cell in placebo if exchanges}
    return Ablation(measured(documents), cells, config, baselines, placebos)


def _counts(source: Source, vectors: Vectors, config: AblateConfig) -> dict[str, Any]:
    """Return settings, and counts of questions, documents and profiles by outcome."""
    judged, n = vectors.judged, len(vectors.documents.ids)
    states = Counter(str(p.state) for p in source.all_profiles.values())
    ids = {document.id for document in source.documents}
    return {
        "headline": config.measures[0],
        "measures": list(config.measures),
        "depth": config.depth,
        "placebos": config.placebos,
        "queries": {
            "total": len(source.questions.queries),
            "measured": len(judged.queries),
            "failed": len(judged.failed),
            "not applicable": len(judged.reasons),
            "reasons": dict(Counter([*judged.reasons.values(), *judged.failed.values()])),
        },
        "documents": {
            "total": len(source.documents) + source.without_text,
            "indexed": n,
            "without_text": source.without_text,
            "failed": vectors.failed,
            "with_scenarios": len(vectors.documents.profiles),
            "share": round(len(vectors.documents.profiles) / n, 6),
        },
        "profiles": {
            "total": len(source.all_profiles),
            **{state: states[state] for state in map(str, ProfileState)},
            "of_other_documents": sum(id_ not in ids for id_ in source.all_profiles),
            "scenarios": len(needs(source.profiles)),
        },
        "missing_judged_documents": source.missing,
    }


@dataclass(frozen=True)
class Source:
    """All that is read, before anything is embedded or written.

    documents: those that have text. all_profiles: of all documents, in any state. profiles: those
    with scenarios, of `documents`. missing: relevant documents that the corpus does not hold.
    """

    documents: list[Document]
    without_text: int
    path: Origin | None
    all_profiles: Mapping[str, Profiled]
    profiles: dict[str, Profiled]
    questions: JudgedQueries
    missing: dict[str, Any] | None
    expansions: dict[str, Expansion] | None


def read_source(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    *,
    encoder: Encoder | EncoderConfig | str,
    excluded: Path | str | Excluded | None = None,
    expansions: Path | None = None,
    fields: FieldNames | None = None,
) -> Source:
    """Read it. InputError where documents, profiles and judgements do not belong together."""
    fields = fields or FieldNames()
    everything, path = read_documents(corpus, fields, None, encoder)
    documents = [d for d in everything if d.content.strip()]
    require_some(len(documents), "document has text", "Check --text-field.")
    questions = read_judged(queries, qrels, excluded=excluded)
    profiles, file = given_profiles(profiles, coerce_ids=fields.coerce_ids)
    where, given = str(file or "--profiles"), None
    if expansions is not None:
        given = read_expansions(expansions, coerce_ids=fields.coerce_ids)
    ids = frozenset(d.id for d in documents)
    own = {id_: p for id_, p in profiles.items() if p.profile is not None and id_ in ids}
    _require_match(own, profiles, ids, "profile with scenarios", where)
    if given is not None:
        _require_match(ids & given.keys(), given, ids, "expansion", str(expansions))
    missing = missing_gold(System("the corpus", {}, documents=ids), questions.judged)
    without_text = len(everything) - len(documents)
    return Source(documents, without_text, path, profiles, own, questions, missing, given)


def _require_match(
    used: object, lines: Mapping[str, object], ids: frozenset[str], what: str, where: str
) -> None:
    if not used:
        raise InputError(
            f"no {what} of a document of the corpus ({len(lines):,} lines, such as "
            f"{min(lines, default='')!r}; the corpus has such as {min(ids)!r})",
            expected=f"a {what} of at least one document that has text",
            fix="Check that both belong together, and how ids are written.",
            where=where,
        )


@dataclass(frozen=True)
class Vectors:
    """All vectors, and the failures.

    failed: documents without a vector: they are in no index. judged: the questions that could be
    embedded. expanded: by baseline, how many documents are expanded, and the vectors of all,
    (n_documents, dim): the document's own where there is no expansion.
    """

    documents: Documents
    failed: int
    queries: QueryVectors
    judged: Judged
    texts: ScenarioTexts
    expanded: Mapping[Baseline, tuple[int, FloatArray]]


def embed_source(
    source: Source,
    components: Sequence[Component],
    encoder: Encoder,
    store: EmbeddingStore,
) -> Vectors:
    """Embed documents, questions, each scenario text once, and the expanded documents."""

    def embedded(texts: Sequence[str], what: str = "scenarios") -> Embedded:
        return embed(as_documents(texts), encoder, store, what=what)

    own = embedded([d.content for d in source.documents], "documents")
    documents = [d for d, ok in zip(source.documents, own.ok, strict=True) if ok]
    profiles = {d.id: source.profiles[d.id] for d in documents if d.id in source.profiles}
    asked = source.questions.judged.queries
    ids = list(asked)
    queries = embed(as_queries([asked[id_].text for id_ in ids]), encoder, store, what="questions")
    failed = {ids[i]: why for i, why in queries.failures.items()}
    judged = without_failed(source.questions.judged, [System("the encoder", {}, failed=failed)])
    texts = embed_scenarios(profiles.values(), components, embedded)
    vectors: dict[Baseline, tuple[int, FloatArray]] = {}
    for baseline in Baseline if source.expansions is not None else ():
        added = [(source.expansions or {}).get(d.id) for d in documents]
        rows = [i for i, one in enumerate(added) if one is not None and one.texts(baseline)]
        longer = [expanded(documents[i], added[i], baseline) for i in rows]
        found, copy = embedded(longer, f"documents with {baseline}"), own.vectors.copy()
        copy[[i for i, ok in zip(rows, found.ok, strict=True) if ok]] = found.vectors
        vectors[baseline] = int(found.ok.sum()), copy
    return Vectors(
        documents=Documents([d.id for d in documents], own.vectors, profiles),
        failed=len(own.failures),
        queries=QueryVectors([id_ for id_ in ids if id_ not in failed], queries.vectors),
        judged=judged,
        texts=texts,
        expanded=vectors,
    )
