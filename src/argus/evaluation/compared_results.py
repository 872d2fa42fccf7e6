"""Compare two folders of audit or exposure results, or two encoders (`argus evaluate`).

Entities are compared by their band of RPS, documents by whether any query brings them back. Two
encoders are measured first, each into a folder of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argus.corpora import Corpus
from argus.corpora.opening import open_corpus, read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, check_one_run
from argus.data.reading import WRITTEN, reading
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, InputError, Location
from argus.evaluation.comparison import CompareResult, comparison_row, write_comparison
from argus.evaluation.history import compare_runs
from argus.evaluation.judged import ParentFold, slicer
from argus.jobs.workspace import Record, check_folder
from argus.knowledge import KnowledgeSource
from argus.knowledge.load import read_knowledge
from argus.progress import announce
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.runs import runs_of

JOBS = ("audit", "exposure")
SHOWN_MEASURES = ("nDCG@10", "R@10")  # of judged questions; `judged/` holds all
BANDS = {"low": 0, "mid": 1, "high": 2}


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
        got, expected = "is one of the folders that are compared", "a folder of its own"
        raise InputError(got, expected=expected, fix="Give another --out.", where=out)
    sides = [_read_results(folder) for folder in (before, after)]
    documents = open_corpus(corpus).documents(fields or FieldNames()) if corpus else None
    by_slice = slicer(by, documents, ParentFold.of(parent_field, documents))
    folder = ArtifactFolder(out, fresh=fresh)
    record = Record("comparison", {"before": str(before), "after": str(after), "by": list(by)}, {})
    check_folder(folder, record, about=(before, after))
    with record.timed("comparing"):
        rows, figures = _compare(sides[0], sides[1], jobs)
    if measures is not None:
        figures["measures"] = dict(measures)
    summary = {
        "of": "results",
        "names": [str(before), str(after)],
        "fingerprints": [results.fingerprint for results in sides],
        "notes": list(notes),
        **figures,
    }
    return write_comparison(folder, record, (before, after), by_slice, summary, rows)


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
    from argus.retrievability.audit.job import audit, check_pool
    from argus.retrievability.exposure.job import exposure

    if (queries is None) != (qrels is None):
        got = "--queries without --qrels" if qrels is None else "--qrels without --queries"
        expected, fix = "questions with their judgements, or neither", "Give both files."
        raise InputError(got, expected=expected, fix=fix, where="argus evaluate")
    source, audit_config = source or KnowledgeSource(), audit_config or AuditConfig()
    measure = exposure_config or ExposureConfig()
    if open_corpus(corpus).stored is not None:
        corpus = read_corpus(corpus, source.fields, limit=limit)
        source = replace(source, fields=FieldNames())
    base = read_knowledge(open_corpus(corpus, limit=limit), source).base
    jobs: Sequence[str] = JOBS
    notes: list[str] = []
    try:
        check_pool(base.relations.restrict(base.has_text), audit_config)
    except ArgusError as error:
        jobs = ["exposure"]
        notes = [f"no audit: {error}"] if source.relations is not None else []
    homes = [out / name for name in "ab"]
    for home, encoder in zip(homes, encoders, strict=True):
        announce(f"compare: {encoder.model} into {home}")
        shared: Any = {"out": home, "encoder": encoder, "limit": limit}
        exposure(corpus, config=exposure_config, fields=source.fields, fresh=fresh, **shared)
        if "audit" in jobs:
            audit(corpus, source=source, config=audit_config, **shared)
    measures = None
    if queries is not None and qrels is not None:
        from argus.evaluation.config import EvaluateConfig
        from argus.evaluation.job import evaluate
        from argus.indexes.job import build_index

        for home, encoder in zip(homes, encoders, strict=True):
            index, store = home / "index", home / "embeddings"
            shared = {"fields": source.fields, "limit": limit}
            build_index(corpus, out=index, encoder=encoder, store=store, **shared)
        found = evaluate(
            queries, qrels, out=out / "judged", indexes=[str(home / "index") for home in homes],
            fields=source.fields, corpus=corpus if measure.parent_field else None,
            config=EvaluateConfig(parent_field=measure.parent_field),
        ).summary["comparison"]  # fmt: skip
        measures = {name: found[name] for name in SHOWN_MEASURES if name in found}
    cut: dict[str, Any] = {}
    if measure.by:
        cut = {"corpus": corpus, "parent_field": measure.parent_field, "by": measure.by}
    return compare_folders(*homes, out=out, notes=notes, measures=measures, jobs=jobs, **cut)


@dataclass(frozen=True)
class _Results:
    """One folder of results: its jobs' encoders, and hashes of the corpora that they read."""

    folder: Path
    summaries: Mapping[str, Any]
    fingerprint: str
    corpora: set[str]

    def figures(self, job: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a job's figures, and the settings that both sides must have, by option."""
        figures, where = self.summaries[job], Location(self.folder / SUMMARY, field=job)
        with reading(where, expected="the file as Argus wrote it", fix=WRITTEN):
            if job == "audit":
                keys = ("k", "pool", "mean_rps", "share_below_0.33")
                own = {key: figures[key] for key in keys}
                return own, {"--k": own["k"], "--pool": own["pool"]}
            own = {"k": figures["k"]}
            own |= {probe: figures[probe]["success_at_k"] for probe in ("title", "sentence")}
            own["never_retrieved"] = figures["never_retrieved"]
            drawn = figures["sample"]["drawn"] if "sample" in figures else "all"
            return own, {"--k": own["k"], "--sample": drawn}

    def rows(self, name: str, *columns: str) -> dict[str, dict[str, Any]]:
        """Return id -> row of a table. Raises InputError where it cannot be read."""
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            got = f"no {name}.parquet, though summary.json speaks of it"
            expected, fix = "the folder as Argus wrote it", WRITTEN
            raise InputError(got, expected=expected, fix=fix, where=self.folder)
        rows = read_table(path, ["id", "label", "state", "reason", *columns]).to_pylist()
        return {row["id"]: row for row in rows}


def _read_results(folder: Path) -> _Results:
    """Read the JSON files of a folder of audit or exposure results."""
    summaries = ArtifactFolder(folder).read_json(SUMMARY) if folder.is_dir() else {}
    if not summaries.keys() & set(JOBS):
        got = "no results of audit or exposure in it" if folder.is_dir() else "no such folder"
        expected = "a folder that argus research audit or exposure wrote"
        fix = "Run one of them with --out set to this folder."
        raise InputError(got, expected=expected, fix=fix, where=folder)
    manifest: dict[str, Any] = ArtifactFolder(folder).read_json(MANIFEST)
    with reading(folder / MANIFEST, expected="the file as Argus wrote it", fix=WRITTEN):
        encoders = [job["encoder"].get("fingerprint") for job in manifest.values()]
        files = [job["inputs"].get("corpus", {}) for job in manifest.values()]
        fingerprint = " | ".join(dict.fromkeys(filter(None, encoders)))
        corpora = {file["sha256"] for file in files if "sha256" in file}
    check_one_run(folder, *JOBS)
    return _Results(folder, summaries, fingerprint, corpora)


def _compare(
    before: _Results, after: _Results, jobs: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of entities and documents, and the figures of the summary.

    An entity is gained if its band rises, a document if a query brings it back and none did before.
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
    rows: list[dict[str, Any]] = []
    for job in shared:
        (old, first), (new, second) = before.figures(job), after.figures(job)
        for option, value in first.items():
            if value != second[option]:
                got = f"the {job} was measured at {option} {value} and {option} {second[option]}"
                expected = "the same setting in both folders"
                fix = f"Run one of them again with {option} {value}."
                raise InputError(got, expected=expected, fix=fix, where=after.folder)
        kinds[job] = {key: [old[key], new[key]] for key in old}
        is_audit = job == "audit"
        name = "retrievability" if is_audit else "exposure"
        columns = ("band", "rps") if is_audit else ("never_retrieved", "title_rank")
        tables = [side.rows(name, *columns) for side in (before, after)]
        if tables[0].keys().isdisjoint(tables[1]):
            got = f"{before.folder} and {after.folder} have no id in common"
            expected = "two results over one corpus"
            fix = "Compare folders that were made from the same documents."
            raise InputError(got, expected=expected, fix=fix, where=f"{name}.parquet")
        ids = sorted(tables[0].keys() | tables[1].keys())
        rows += [_row(id_, [table.get(id_) for table in tables], is_audit) for id_ in ids]
    runs = runs_of(before.folder), runs_of(after.folder)
    tracked = [job for job in shared if job in runs[0] and job in runs[1]]
    changes = [c for job in tracked for c in compare_runs(runs[0][job], runs[1][job])["figures"]]
    same = before.corpora == after.corpora if before.corpora and after.corpora else None
    return rows, {"same_corpus": same, "kinds": kinds, "changes": changes}


def _row(id_: str, sides: Sequence[Mapping[str, Any] | None], is_audit: bool) -> dict[str, Any]:
    """Return the row of an id. None stands for a side that does not have it."""
    levels: list[int | None] = []
    words, values = [], []
    for row in sides:
        if row is None:
            level = word = value = None
        elif is_audit:
            level, value = BANDS.get(row["band"] or ""), row["rps"]
            word = row["band"] or row["reason"] or row["state"]
        elif (never := row["never_retrieved"]) is None:
            level, word, value = None, row["reason"] or row["state"], row["title_rank"]
        else:
            level, word = int(not never), "never retrieved" if never else "retrieved"
            value = row["title_rank"]
        levels.append(level)
        words.append(word)
        values.append(value)
    label = next(row["label"] for row in sides if row is not None)
    kind, held = "entity" if is_audit else "document", [row is not None for row in sides]
    return comparison_row(kind, id_, label, levels, words, values, held=held, is_rps=is_audit)
