"""Compare two folders of audit or exposure results, or two encoders (`argus compare`).

Entities are compared by their band of RPS, documents by whether any query brings them back. Two
encoders are measured first, each into a folder of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

from argus.corpora import Corpus
from argus.corpora.opening import open_corpus, read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, check_one_run
from argus.data.reading import WRITTEN, read_record
from argus.data.tables import read_records, require_shares, require_unique
from argus.data.writing import one_writer
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, InputError
from argus.evaluation.comparison import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    CompareResult,
    Comparison,
    ComparisonRow,
    comparison_row,
    row_order,
    write_comparison,
)
from argus.evaluation.history import compare_runs
from argus.evaluation.parents import ParentFold, Slicer
from argus.jobs.workspace import Record, check_folder
from argus.knowledge import KnowledgeSource
from argus.knowledge.load import read_knowledge
from argus.measures.significance import DifferenceFigures
from argus.progress import announce
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.runs import runs_of

JOBS = ("audit", "exposure")
SHOWN_MEASURES = ("nDCG@10", "R@10")  # of judged questions; `judged/` holds all
BANDS = {"low": 0, "mid": 1, "high": 2}
R = TypeVar("R")


@one_writer
def compare_folders(
    before: Path,
    after: Path,
    *,
    out: Path,
    notes: Sequence[str] = (),
    measures: Mapping[str, Any] | None = None,
    jobs: Sequence[str] = JOBS,
    corpus: Corpus | None = None,
    parent_field: str | None = None,
    by: Sequence[str] = (),
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare two folders of audit or exposure results over one corpus.

    notes: warnings for the reader. measures: of judged questions, of both sides. jobs: compare
    these only. by: fields of `corpus`, by which lost and gained documents are counted, too.
    parent_field: where its chunks name their document, if exposure folded them. fields: the columns
    of `corpus`. Raises InputError if they share no job or no id, or were measured with other
    settings.
    """
    if out.resolve() in (before.resolve(), after.resolve()):
        raise InputError(
            "is one of the folders that are compared",
            expected="a folder of its own",
            fix="Give another --out.",
            where=out,
        )
    sides = [read_results(folder) for folder in (before, after)]
    documents = open_corpus(corpus).documents(fields or FieldNames()) if corpus else None
    slicer = Slicer.by(by, documents, ParentFold.of(parent_field, documents))
    folder = ArtifactFolder(out, fresh=fresh)
    record = Record("comparison", {"before": str(before), "after": str(after), "by": list(by)}, {})
    check_folder(folder, record, about=(before, after))
    with record.timed("comparing"):
        rows, figures = compare_results(sides[0], sides[1], jobs)
    if measures is not None:
        figures["measures"] = dict(measures)
    comparison = Comparison(
        of="results",
        names=[str(before), str(after)],
        fingerprints=[" | ".join(results.fingerprints) for results in sides],
        rows=rows,
        figures=figures,
        notes=notes,
    )
    return write_comparison(folder, record, (before, after), comparison, slicer)


def compare_encoders(
    corpus: Corpus,
    encoders: tuple[EncoderConfig, EncoderConfig],
    *,
    out: Path,
    source: KnowledgeSource | None = None,
    audit_config: AuditConfig | None = None,
    exposure_config: ExposureConfig | None = None,
    queries: Path | None = None,
    qrels: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Measure a corpus with two encoders, into `out/a` and `out/b`, and compare.

    Exposure is always measured, the audit if the corpus has enough relations. queries, qrels:
    judged questions for an index of each encoder. Both encoders embed the texts of a store, since
    its vectors are those of one at most. Raises InputError for a bad corpus or bad relations before
    anything is embedded.
    """
    from argus.retrievability.audit.job import audit
    from argus.retrievability.exposure.job import exposure

    if (queries is None) != (qrels is None):
        raise InputError(
            "--queries without --qrels" if qrels is None else "--qrels without --queries",
            expected="questions with their judgements, or neither",
            fix="Give both files.",
            where="argus compare",
        )
    source, audit_config = source or KnowledgeSource(), audit_config or AuditConfig()
    measure = exposure_config or ExposureConfig()
    if open_corpus(corpus).stored is not None:
        corpus = read_corpus(corpus, source.fields, limit=limit)
        source = replace(source, fields=FieldNames())
    why_not = _why_no_audit(corpus, source, audit_config, limit)
    homes = [out / name for name in "ab"]
    for home, encoder in zip(homes, encoders, strict=True):
        announce(f"compare: {encoder.model} into {home}")
        shared: Any = {"out": home, "encoder": encoder, "limit": limit}
        exposure(corpus, config=exposure_config, fields=source.fields, fresh=fresh, **shared)
        if why_not is None:
            audit(corpus, source=source, config=audit_config, **shared)
    measures = None
    if queries is not None and qrels is not None:
        judged = (queries, qrels, out / "judged", measure.parent_field)
        measures = _judge(corpus, encoders, homes, judged, source.fields, limit)
    return compare_folders(
        *homes,
        out=out,
        notes=[] if why_not is None or source.relations is None else [f"no audit: {why_not}"],
        measures=measures,
        jobs=JOBS if why_not is None else ["exposure"],
        corpus=corpus if measure.by else None,
        parent_field=measure.parent_field if measure.by else None,
        by=measure.by,
    )


def _judge(
    corpus: Corpus,
    encoders: Sequence[EncoderConfig],
    homes: Sequence[Path],
    judged: tuple[Path, Path, Path, str | None],
    fields: FieldNames,
    limit: int | None,
) -> dict[str, DifferenceFigures]:
    """Ask judged questions of an index of each encoder, in the folder `index` of its home.

    judged: questions, judgements, folder of the results, and the field of a chunk's document.
    """
    from argus.evaluation.config import EvaluateConfig
    from argus.evaluation.job import evaluate
    from argus.indexes.job import build_index

    queries, qrels, out, parent_field = judged
    for home, encoder in zip(homes, encoders, strict=True):
        build_index(
            corpus, out=home / "index", encoder=encoder, fields=fields,
            store=home / "embeddings", limit=limit,
        )  # fmt: skip
    comparison = evaluate(
        queries, qrels, out=out, indexes=[str(home / "index") for home in homes], fields=fields,
        corpus=corpus if parent_field else None, config=EvaluateConfig(parent_field=parent_field),
    ).summary["comparison"]  # fmt: skip
    assert comparison is not None  # of two systems
    return {measure: comparison[measure] for measure in SHOWN_MEASURES if measure in comparison}


def _why_no_audit(
    corpus: Corpus, source: KnowledgeSource, config: AuditConfig, limit: int | None
) -> str | None:
    """Return why entities and relations are too few for an audit. None if they are enough.

    Raises InputError for files that cannot be read: that is no reason to leave the audit out.
    """
    from argus.retrievability.audit.job import check_pool

    base = read_knowledge(open_corpus(corpus, limit=limit), source).base
    try:
        check_pool(base.relations.restrict(base.has_text), config)
    except ArgusError as error:
        return str(error)
    return None


# The columns and keys that are compared, as they are read.
AuditFigures = TypedDict(
    "AuditFigures",
    {"k": int, "pool": int, "mean_rps": float | None, "share_below_0.33": float | None},
)


class SampleSize(TypedDict):
    """drawn: documents that were drawn to be asked for."""

    drawn: int


class ProbeFigures(TypedDict):
    """success_at_k: share of the probes that find their document."""

    success_at_k: float | None


class ExposureFigures(TypedDict):
    """Figures of exposure. sample: only if not all documents were asked for."""

    k: int
    title: ProbeFigures
    sentence: ProbeFigures
    never_retrieved: int
    sample: NotRequired[SampleSize]


class EntityRow(TypedDict):
    """One entity in the table of an audit."""

    id: str
    label: str
    band: str | None
    rps: float | None
    state: str
    reason: str


class DocumentRow(TypedDict):
    """One document in the table of exposure."""

    id: str
    label: str
    never_retrieved: bool | None
    title_rank: int | None
    state: str
    reason: str


class EncoderNote(TypedDict):
    """The encoder of a job. No fingerprint if it needs none."""

    fingerprint: NotRequired[str]


class InputNote(TypedDict):
    """A file that a job read. No hash if it is too large."""

    sha256: NotRequired[str]


class JobManifest(TypedDict):
    """A job's part of manifest.json. inputs: by name."""

    encoder: EncoderNote
    inputs: dict[str, InputNote]


@dataclass(frozen=True)
class Results:
    """One folder of results: its JSON files as they were read, and its tables on demand."""

    folder: Path
    summaries: Mapping[str, object]
    manifest: Mapping[str, JobManifest]

    @property
    def fingerprints(self) -> list[str]:
        """Encoders of the jobs in the folder."""
        encoders = [job["encoder"] for job in self.manifest.values()]
        return list(dict.fromkeys(e["fingerprint"] for e in encoders if "fingerprint" in e))

    @property
    def corpora(self) -> set[str]:
        """Hashes of the corpus files that the jobs in the folder read."""
        files = [job["inputs"].get("corpus", {}) for job in self.manifest.values()]
        return {file["sha256"] for file in files if "sha256" in file}

    def figures(self, kind: type[R], job: str) -> R:
        """Return a job's figures. Raises InputError if the file is not as Argus wrote it."""
        where = self.folder / SUMMARY
        return read_record(kind, self.summaries[job], where=where, section=job)

    def entities(self) -> dict[str, EntityRow]:
        """Return id -> row of the audit. Raises InputError for an id twice, or no score."""
        rows = self._rows(EntityRow, "retrievability")
        shares = [row["rps"] for row in rows.values()]
        require_shares(list(rows), shares, self.folder / "retrievability.parquet", "rps")
        return rows

    def documents(self) -> dict[str, DocumentRow]:
        """Return id -> row of the table of exposure. Raises InputError for an id twice."""
        return self._rows(DocumentRow, "exposure")

    def _rows(self, kind: type[R], name: str) -> dict[str, R]:
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise InputError(
                f"no {name}.parquet, though summary.json speaks of it",
                expected="the folder as Argus wrote it",
                fix=WRITTEN,
                where=self.folder,
            )
        rows: list[Any] = read_records(kind, path)
        require_unique([row["id"] for row in rows], path)
        return {row["id"]: row for row in rows}


def read_results(folder: Path) -> Results:
    """Read the JSON files of a folder of audit or exposure results."""
    summaries = ArtifactFolder(folder).read_json(SUMMARY) if folder.is_dir() else {}
    if not summaries.keys() & set(JOBS):
        raise InputError(
            "no results of audit or exposure in it" if folder.is_dir() else "no such folder",
            expected="a folder that argus audit or exposure wrote",
            fix="Run one of them with --out set to this folder.",
            where=folder,
        )
    manifest = ArtifactFolder(folder).read_json(MANIFEST)
    jobs = read_record(dict[str, JobManifest], manifest, where=folder / MANIFEST)
    check_one_run(folder, *JOBS)
    return Results(folder, summaries, jobs)


def compare_results(
    before: Results, after: Results, jobs: Sequence[str] = JOBS
) -> tuple[list[ComparisonRow], dict[str, Any]]:
    """Return the rows of entities and documents, in order, and the figures of the summary.

    jobs: compare these only. Raises InputError if the folders share no job or no id, or were
    measured at another k or N.
    """
    shared = [job for job in jobs if job in before.summaries and job in after.summaries]
    if not shared:
        raise InputError(
            f"{before.folder} holds {', '.join(before.summaries)}; {after.folder} holds "
            f"{', '.join(after.summaries)}",
            expected="the same job in both: audit or exposure",
            fix="Run it for the other, too.",
        )
    kinds: dict[str, dict[str, list[Any]]] = {}
    rows: list[ComparisonRow] = []
    for job in shared:
        compare = _compare_audits if job == "audit" else _compare_exposures
        kinds[job], of_job = compare(before, after)
        rows += of_job
    first, second = runs_of(before.folder), runs_of(after.folder)
    tracked = [job for job in shared if job in first and job in second]
    changes = [c for job in tracked for c in compare_runs(first[job], second[job])["figures"]]
    known = before.corpora and after.corpora
    same = before.corpora == after.corpora if known else None
    rows.sort(key=row_order)
    return rows, {"same_corpus": same, "kinds": kinds, "changes": changes}


def _compare_audits(
    before: Results, after: Results
) -> tuple[dict[str, list[Any]], list[ComparisonRow]]:
    """Compare entities. One is gained if its band rises, and lost if it falls."""
    sides = [results.figures(AuditFigures, "audit") for results in (before, after)]
    figures: dict[str, list[Any]]
    figures = {key: [dict(side)[key] for side in sides] for key in AuditFigures.__annotations__}
    _require_same("audit", "--k", figures["k"], after)
    _require_same("audit", "--pool", figures["pool"], after)

    def state(row: Any) -> tuple[int | None, str, float | None]:
        words = row["band"] or row["reason"] or row["state"]
        return BANDS.get(row["band"] or ""), words, row["rps"]

    tables = (before.entities(), after.entities())
    _require_common(tables, before, after, "retrievability")
    return figures, list(_rows("entity", tables, state))


def _compare_exposures(
    before: Results, after: Results
) -> tuple[dict[str, list[Any]], list[ComparisonRow]]:
    """Compare documents. One is gained if a query brings it back and none did before."""
    sides = [results.figures(ExposureFigures, "exposure") for results in (before, after)]
    figures: dict[str, list[Any]] = {
        "k": [side["k"] for side in sides],
        "title": [side["title"]["success_at_k"] for side in sides],
        "sentence": [side["sentence"]["success_at_k"] for side in sides],
        "never_retrieved": [side["never_retrieved"] for side in sides],
    }
    _require_same("exposure", "--k", figures["k"], after)
    drawn = [side["sample"]["drawn"] if "sample" in side else "all" for side in sides]
    _require_same("exposure", "--sample", drawn, after)

    def state(row: Any) -> tuple[int | None, str, float | None]:
        never = row["never_retrieved"]
        if never is None:
            return None, row["reason"] or row["state"], row["title_rank"]
        return int(not never), "never retrieved" if never else "retrieved", row["title_rank"]

    tables = (before.documents(), after.documents())
    _require_common(tables, before, after, "exposure")
    return figures, list(_rows("document", tables, state))


def _require_same(job: str, option: str, values: Sequence[object], after: Results) -> None:
    if values[0] != values[1]:
        raise InputError(
            f"the {job} was measured at {option} {values[0]} and {option} {values[1]}",
            expected="the same setting in both folders",
            fix=f"Run one of them again with {option} {values[0]}.",
            where=after.folder,
        )


def _require_common(
    tables: Sequence[Mapping[str, object]], before: Results, after: Results, name: str
) -> None:
    if tables[0].keys().isdisjoint(tables[1]):
        raise InputError(
            f"{before.folder} and {after.folder} have no id in common",
            expected="two results over one corpus",
            fix="Compare folders that were made from the same documents.",
            where=f"{name}.parquet",
        )


def _rows(
    kind: Literal["entity", "document"],
    tables: Sequence[Mapping[str, Any]],
    state: Callable[[Any], tuple[int | None, str, float | None]],
) -> Iterator[ComparisonRow]:
    """Yield a row per id of either side.

    state: of a row, its level (more is better, None if not measured), words and value.
    """
    for id_ in sorted(tables[0].keys() | tables[1].keys()):
        old, new = (table.get(id_) for table in tables)
        levels, words, values = zip(
            *((None, None, None) if row is None else state(row) for row in (old, new)), strict=True
        )
        if old is None or new is None:
            verdict = ONLY_AFTER if old is None else ONLY_BEFORE
        elif None in levels:
            verdict = NOT_COMPARABLE
        else:
            before, after = levels
            verdict = SAME if before == after else GAINED if after > before else LOST
        label = next(row["label"] for row in (old, new) if row is not None)
        is_rps = kind == "entity"
        yield comparison_row(kind, id_, label, verdict, words, values, is_rps=is_rps)
