"""Compare two results, two encoders or two indexes over one corpus: what is gained and lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import corpus_file, read_corpus, read_queries
from argus.data.types import Query
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, EncodingError, FingerprintMismatch, InputError
from argus.knowledge import KnowledgeSource
from argus.progress import announce
from argus.reports import write_report
from argus.workflows.audit import AuditConfig, audit
from argus.workflows.compare_indexes import compare_indexes
from argus.workflows.compare_results import SCHEMA, compare_results, read_results
from argus.workflows.exposure import ExposureConfig, exposure
from argus.workflows.systems import called, rankings
from argus.workflows.workspace import Record

NAMED = 200
"""Gained and lost documents and entities that the summary names; the table holds all."""


@dataclass(frozen=True)
class CompareResult:
    """What was compared; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per entity or document, see `argus.workflows.compare_results.SCHEMA`."""


def compare_folders(
    before: Path, after: Path, *, out: Path, notes: Sequence[str] = (), fresh: bool = False
) -> CompareResult:
    """Compare two folders of audit or exposure results over one corpus.

    notes: what the reader should know of how they were made. Raises InputError when they share no
    job, no id, or were measured with other settings.
    """
    if out.resolve() in (before.resolve(), after.resolve()):
        raise InputError(
            "is one of the folders that are compared",
            expected="a folder of its own",
            fix="Give another --out.",
            where=out,
        )
    results = [read_results(folder) for folder in (before, after)]
    record = Record("comparison", {"before": str(before), "after": str(after)}, {})
    with record.timed("comparing"):
        table, summary = compare_results(results[0], results[1])
    names = [str(folder) for folder in (before, after)]
    fingerprints = [" | ".join(result.fingerprints) for result in results]
    return _write(out, fresh, record, table, None, names, fingerprints, summary, notes)


def compare_encoders(
    corpus: Path,
    encoders: tuple[EncoderConfig, EncoderConfig],
    *,
    out: Path,
    source: KnowledgeSource | None = None,
    audit_config: AuditConfig | None = None,
    exposure_config: ExposureConfig | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Measure a corpus with two encoders, into `out/a` and `out/b`, and compare.

    Exposure always; the audit where the corpus has relations enough for it, else the comparison
    says why there is none.
    """
    notes: list[str] = []
    for name, encoder in zip("ab", encoders, strict=True):
        folder = out / name
        announce(f"compare: {encoder.model} into {folder}")
        exposure(
            corpus, out=folder, encoder=encoder, config=exposure_config, limit=limit, fresh=fresh
        )
        try:
            audit(
                corpus, out=folder, encoder=encoder, source=source, config=audit_config, limit=limit
            )
        except (EncodingError, FingerprintMismatch):
            raise
        except ArgusError as error:
            notes.append(f"no audit of {encoder.model}: {error}")
    return compare_folders(out / "a", out / "b", out=out, notes=notes)


def compare_two_indexes(
    names: tuple[str, str],
    *,
    out: Path,
    queries: Path | Sequence[Query] = (),
    corpus: Path | None = None,
    k: int = 10,
    hybrid: Sequence[str] = (),
    fresh: bool = False,
) -> CompareResult:
    """Ask two indexes for every document by its own title, and given queries; compare the top k.

    names: `PATH`, `PATH@original` or `PATH@REMEDY`. hybrid: as for `argus.evaluate`.
    """
    ranked_by = rankings(hybrid, len(names))
    asked = read_queries(queries) if isinstance(queries, Path) else list(queries)
    documents = read_corpus(corpus) if corpus else None
    record = Record(
        "comparison",
        {"before": names[0], "after": names[1], "k": k, "queries": len(asked), "hybrid": ranked_by},
        {"corpus": corpus_file(corpus) if corpus else None},
    )
    with record.timed("asking both"):
        table, changes, summary, prints = compare_indexes(
            names, asked, k=k, corpus=documents, ranked_by=ranked_by
        )
    shown = [called(name, how) for name, how in zip(names, ranked_by, strict=True)]
    return _write(out, fresh, record, table, changes, shown, prints, summary, ())


def _write(
    out: Path,
    fresh: bool,
    record: Record,
    table: pa.Table,
    changes: pa.Table | None,
    names: list[str],
    fingerprints: list[str],
    summary: dict[str, Any],
    notes: Sequence[str],
) -> CompareResult:
    folder = ArtifactFolder(out, fresh=fresh)
    summary = {
        "of": "indexes" if changes is not None else "results",
        "names": names,
        "fingerprints": fingerprints,
        "notes": list(notes),
        **summary,
        "gained": _named(table, "gained"),
        "lost": _named(table, "lost"),
    }
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(fingerprints))
    folder.open()
    folder.write_table("comparison", table, csv=True)
    if changes is not None:
        folder.write_table("comparison_queries", changes, csv=True)
    folder.write_section("summary.json", "comparison", summary)
    folder.write_section("manifest.json", "comparison", record.manifest(summary["verdicts"]))
    return CompareResult(folder.path, write_report(folder.path), summary, table)


def _named(table: pa.Table, verdict: str) -> list[dict[str, Any]]:
    rows = [row for row in table.select(SCHEMA.names).to_pylist() if row["verdict"] == verdict]
    return rows[:NAMED]
