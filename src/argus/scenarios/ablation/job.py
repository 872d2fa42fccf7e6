"""`scenarios ablate`: components x λ, and document expansion beside them (SPIKE §5, App. A)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import spare, without_excluded
from argus.data.types import Run
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL
from argus.engine import open_given
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder
from argus.llm.options import NamedModel
from argus.measures import Evaluation, evaluate
from argus.measures.measures import cover
from argus.reports import write_report
from argus.scenarios.ablation import findings, inputs
from argus.scenarios.ablation.config import AblateConfig
from argus.scenarios.ablation.findings import Ablation
from argus.scenarios.ablation.grid import Cell, Documents, best_cell, grid, mean_of, usual_cell
from argus.scenarios.ablation.inputs import Source, Vectors
from argus.scenarios.ablation.section import headline
from argus.scenarios.document_types import type_slicings
from argus.scenarios.profile import Profiled, ProfileState, needs
from argus.settings import Without

JOB = "ablation"


@dataclass(frozen=True, repr=False)
class AblateResult(Result):
    """Result of the grid. Everything in it is also in `folder`.

    table: one row per run: cells, baselines, placebo, documents alone. For one or two corpora.

    Keys of `summary`:

    headline: the measure that cells are judged by.
    measures: measures that were taken.
    components: components of the grid.
    weights: weights λ of the grid.
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
    profiles.texts_failed: texts of scenarios that have no vector.
    text_windows.documents: how much of the documents the encoder reads.
    text_windows.scenarios: how much of the scenarios' texts.
    coverage: how many of the documents, and of the relevant ones, have scenarios.
    groups: questions by how many of their relevant documents have scenarios.
    groups.relevant_with_scenarios: how many of their relevant documents have scenarios: all, some
        or none.
    groups.comparison: the usual cell against documents alone.
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
    whole.rows.corpus: whole or profiled.
    whole.rows.system: documents alone, scenarios, placebo, pseudo-queries or summary.
    whole.rows.measures: measure to its mean.
    whole.rows.comparison: difference from documents alone, by the headline measure. None for
        documents alone.
    profiled: the same over documents with scenarios alone. None where all have them.
    expansions: sources of baselines. None without.
    expansions.model: model that wrote expansions.
    expansions.language_model: cost of writing.
    expansions.total: expansions that were read.
    expansions.of_other_documents: expansions of documents that the corpus lacks.
    expansions.reasons: why there is none, the ten most frequent.
    expansions.baselines: documents by baseline.
    expansions.baselines.documents: documents that were expanded.
    expansions.baselines.text_window: how much of them the encoder reads.
    types: recommendation by type of document, where fields were named.
    types.corpus: whole or profiled.
    types.field: field that types are told by.
    types.type: value of that field.
    types.documents: documents of the type.
    types.profiles: of these, documents with a profile.
    types.questions: questions with a relevant document of the type.
    types.is_few: whether these are few.
    types.alone: headline measure of documents alone. None without a question.
    types.usual: usual cell against documents alone. None without a question.
    types.weight: λ to use for the usual component. None without two questions.
    types.weight.best: cell that is best on these very questions.
    types.weight.recommended: that, where it is surely better, else the usual cell.
    types.weight.to_usual: each half by the best cell of the other half, against the usual cell.
    types.cell: cell to use. None without two questions.
    types.cell.best: cell that is best on these very questions.
    types.cell.recommended: that, where it is surely better, else the usual cell.
    types.cell.to_usual: each half by the best cell of the other half, against the usual cell.
    types.grid: headline measure of each cell.
    types.grid.mean: headline measure of the cell. None without a question.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


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
    model: NamedModel = None,
    config: AblateConfig | None = None,
    fields: FieldNames | None = None,
    store: o.Store = None,
    fresh: o.Fresh = False,
    engine: o.Engine = None,
) -> AblateResult:
    """Search with every component at every λ, and compare each with the documents alone.

    With --expansions or --model also documents expanded with pseudo-queries and with a summary; the
    model's answers are kept in OUT/answers.sqlite. Writes ablation.parquet and .csv, summary.json,
    manifest.json and report.html with a heat map.

    The whole grid is made twice: on the corpus, where documents with scenarios stand beside others
    without, and on the documents that have scenarios alone. excluded: documents taken out of a
    query's results before they are measured, per query or as `read_excluded` reads a file. engine:
    embeds. Raises InputError for bad input, ArgusError where the model leaves documents without an
    answer.

    Args:
        profiles: Scenarios (profiles.jsonl, or its folder).
        expansions: Pseudo-queries and summaries (JSONL), instead of --model.
    """
    config = config or AblateConfig()
    if expansions is not None and model is not None:
        raise InputError(
            "both expansions and a model that would write them",
            expected="one of them, or neither",
            fix="Leave out --model to use the file.",
            where="--expansions, --model",
        )
    source = inputs.read_source(
        corpus, profiles, queries, qrels, encoder=encoder, excluded=excluded,
        expansions=expansions, fields=fields, form=config.form,
    )  # fmt: skip
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    files = {"corpus": source.path, **source.questions.files}
    if isinstance(profiles, (str, Path)):
        files["profiles"] = Path(profiles)
    settings = asdict(config) | {"model": model.identity if model else None}
    record = Record(JOB, settings, files)
    sample = [d.content for d in source.documents]
    with (
        open_given(engine) as running,
        open_encoder(
            folder, encoder, record, sample=sample, store=store, engine=running
        ) as (loaded, opened),
    ):  # fmt: skip
        texts, writer = source.expansions, dict[str, Any]()
        if model is not None:
            with record.timed("asking the model"):
                texts, writer = inputs.write_by_model(model, source, folder)
        with record.timed("embedding"):
            vectors = inputs.embed_source(source, texts, config.components, loaded, opened)
    judged, indexed = vectors.judged, vectors.documents
    with record.timed("searching"):
        ablations = [_ablation("whole", indexed, judged.queries.keys(), vectors, config)]
        # left out where all have scenarios, and where no question can be asked of it
        inside = [q for q in judged.queries if indexed.profiles.keys() >= set(judged.relevant(q))]
        if inside and len(indexed.profiles) < len(indexed.ids):
            profiled = indexed.only(indexed.profiles.keys())
            ablations.append(_ablation("profiled", profiled, inside, vectors, config))
    gold = {query: judged.relevant(query) for query in judged.queries}
    ids = [document.id for document in source.documents]
    with record.timed("comparing"):
        types = [
            row
            for ablation in ablations
            for row in findings.compare_types(ablation, slices, ids, gold, indexed.profiles)
        ]
        rows = [ablation.rows() for ablation in ablations]
        corpora = {a.corpus: a.summary(own) for a, own in zip(ablations, rows, strict=True)}
        expanded = None  # sources of the baselines, where there are any
        if texts is not None:
            reasons = Counter(e.reason for e in texts.values() if e.reason)
            counts = vectors.expanded_documents.items()
            expanded = {
                "total": len(texts),
                "of_other_documents": len(texts.keys() - set(indexed.ids)),
                "reasons": dict(reasons.most_common(10)),
                "baselines": {str(baseline): own for baseline, own in counts},
                **writer,
            }
        summary = {
            **_counts(source, vectors, config),
            "coverage": cover(indexed.ids, indexed.profiles.keys(), gold.values()),
            "groups": findings.compare_groups(ablations[0], gold, indexed.profiles.keys()),
            "whole": corpora["whole"],
            "profiled": corpora.get("profiled"),
            "expansions": expanded,
            **record.of_store(),
        }
        if types:
            summary["types"] = types
            folder.write_table(findings.TYPES, findings.types_table(types), csv=True)
        table = findings.runs_table([row for own in rows for row in own], config.measures)
    folder.write_table(JOB, table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["queries"]))
    return AblateResult(folder.path, write_report(folder.path), summary, table)


def _ablation(
    name: str,
    documents: Documents,
    query_ids: Collection[str],
    vectors: Vectors,
    config: AblateConfig,
) -> Ablation:
    """Make all runs on one corpus and measure them on these queries."""
    queries = vectors.queries.only(query_ids)
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
    inside = set(documents.ids)
    rows = [i for i, id_ in enumerate(vectors.documents.ids) if id_ in inside]
    return Ablation(
        name, len(documents.ids), len(documents.profiles), measured(documents), cells, config,
        baselines={
            b: measured(Documents(documents.ids, expanded[rows], {}))
            for b, expanded in vectors.expanded.items()
            if vectors.expanded_documents[b]["documents"]
        },
        placebos={cell: mean_of([e[cell] for e in exchanges]) for cell in placebo if exchanges},
    )  # fmt: skip


def _counts(source: Source, vectors: Vectors, config: AblateConfig) -> dict[str, Any]:
    """Return settings, and counts of questions, documents and profiles by outcome."""
    judged, n = vectors.judged, len(vectors.documents.ids)
    states = Counter(str(p.state) for p in source.all_profiles.values())
    ids = {document.id for document in source.documents}
    return {
        "headline": config.measures[0],
        "measures": list(config.measures),
        "components": [str(c) for c in config.components],
        "weights": list(config.weights),
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
            "failed": len(vectors.failed),
            "with_scenarios": len(vectors.documents.profiles),
            "share": round(len(vectors.documents.profiles) / n, 6),
        },
        "profiles": {
            "total": len(source.all_profiles),
            **{state: states[state] for state in map(str, ProfileState)},
            "of_other_documents": sum(id_ not in ids for id_ in source.all_profiles),
            "scenarios": len(needs(source.profiles)),
            "texts_failed": len(vectors.texts.failures),
        },
        "missing_judged_documents": source.missing,
        "text_windows": vectors.windows,
    }
