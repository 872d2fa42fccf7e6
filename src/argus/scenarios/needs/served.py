"""Ask a retriever for every document by its own information needs.

A retriever's lists end, so that RPS over other candidates cannot be had. The figure of a document
is the share of its needs that bring it into the top k. Nothing is held out: scenarios are in a
retriever's index or they are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Query, State
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, keep_input, require_some
from argus.reports import write_report
from argus.reports.section import Section
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_lines, note_of
from argus.scenarios.config import NeedsConfig, ProfileConfig
from argus.scenarios.needs.ranks import mean_share
from argus.scenarios.needs.risk import (
    JudgedFiles,
    draw,
    measure_risk,
    read_source,
    risk_lines,
    risk_table,
)
from argus.scenarios.profile import Profiled, needs
from argus.scenarios.tables import schema

# One row per need that was asked of a retriever.
#
# rank: rank of its document. Null beyond k, and where the retriever failed.
_NEEDS = schema(
    ("document", str), ("scenario", int), ("need", str), ("rank", int), ("state reason", str)
)
# One row per document whose needs a retriever was asked. Null where there is no share.
#
# found: share of its needs that bring it into the top k.
_DOCUMENTS = schema(("id label", str), ("needs", int), ("found", float), ("state reason", str))
JOB = "needs_served"
RISK = "need_risk_served"


@dataclass(frozen=True, repr=False)
class ServedNeedsResult(Result):
    """Result of a need audit of a retriever. Everything in it is also in `folder`.

    table: one row per document.
    needs: one row per need.
    risk: as of `NeedsResult`.

    Keys of `summary`:

    k: results per need.
    documents: documents by outcome.
    needs.total, needs.measured, needs.failed: needs, those that were answered, and the others.
    found_at_k: mean over documents of the share of their needs.
    unreached: documents for which it is 0.
    profiles_elsewhere: profiles of documents that the corpus lacks.
    risk: see `argus.scenarios.needs.risk.measure_risk`.
    """

    TABLES = ("table", "needs", "risk")
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    needs: pa.Table
    risk: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        yield brief(summary)
        share = summary["found_at_k"]
        yield (
            f"found in the top {summary['k']}: {share['mean']:.1%} of a document's needs "
            f"({share['low']:.1%} to {share['high']:.1%})"
        )
        yield from note_lines(summary["retriever"], summary["needs"]["total"])
        yield from risk_lines(summary)


@one_writer
def ask_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    retriever: Any,
    *,
    out: Path | str,
    config: NeedsConfig | None = None,
    model: ProfileConfig | None = None,
    judged: JudgedFiles | None = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> ServedNeedsResult:
    """Ask a retriever for every document by its own information needs, as it serves them.

    corpus, profiles, out, model, judged: as for `argus.scenarios.audit_needs`. Of config, k and
    who is drawn count. retriever, asking, encoder: as for `argus.evaluation.compare_retrievers`.
    Raises InputError for bad input and where no result is a document of the corpus, ArgusError
    where the retriever fails on every need.
    """
    config = config or NeedsConfig()
    source = read_source(
        corpus, profiles, config, fields=fields, limit=limit, judged=judged,
        writes=model is not None,
    )  # fmt: skip
    folder, k = ArtifactFolder(Path(out), fresh=fresh), config.k
    settings = {name: getattr(config, name) for name in ("k", "sample", "parent_field")}
    described = {"limit": limit, "model": model.described() if model else None}
    record = Record(JOB, {**settings, **described}, source.inputs)
    check_folder(folder, record)
    if model is not None:  # its answers are kept before the retriever is opened
        keep_input(folder, [input_path(retriever)])
        record.open(folder)
    answerer = Answerer(retriever, None, asking, encoder)

    def ask(queries: Sequence[Query], depth: int, what: str) -> tuple[str, Answers]:
        return answers_of(
            answerer, queries, depth, documents=source.documents, folder=folder, record=record,
            what=what,
        )  # fmt: skip

    def folded(scores: Mapping[str, float], depth: int) -> list[str]:
        return list(dict.fromkeys(map(source.parent, ranking(dict(scores))[:depth])))

    def lists(questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        run = ask(questions, depth, "judged questions")[1].run
        return {query: folded(scores, depth) for query, scores in run.items()}

    with record.timed("asking"):
        source, writer = draw(source, config, model, folder)
        asked = needs(source.asking)
        require_some(len(asked), "needs", "No profile of a document with text has some.")
        queries = [Query(f"need {i}", need.text) for i, need in enumerate(asked, start=1)]
        name, answers = ask(queries, k, "needs")
        require_known(answers.run, dict.fromkeys(d.id for d in source.documents), name)
        rows, ranks, failures = [], [], []
        shares: dict[str, list[bool]] = defaultdict(list)
        for query, need in zip(queries, asked, strict=True):
            row: dict[str, Any] = {
                "document": need.doc_id, "scenario": need.position + 1, "need": need.text,
                "state": str(State.FAILED), "reason": answers.failed.get(query.id, ""),
            }  # fmt: skip
            rows.append(row)
            if row["reason"]:
                failures.append((need, row["reason"]))
                continue
            ids = ranking(answers.run[query.id])[:k]
            rank = ids.index(need.doc_id) + 1 if need.doc_id in ids else None
            row |= {"state": str(State.MEASURED), "rank": rank}
            shares[need.doc_id].append(rank is not None)
            ids, parent = folded(answers.run[query.id], k), source.parent(need.doc_id)
            ranks.append((need, ids.index(parent) + 1 if parent in ids else k + 1))
        risk, risk_rows = measure_risk(source, config, ranks, lists, folder, RISK)
    documents, counts = source.states({}, failures, set(shares))
    measured = [i for i, row in enumerate(documents) if row["state"] == State.MEASURED]
    for i in measured:
        own = shares[documents[i]["id"]]
        documents[i] |= {"needs": len(own), "found": sum(own) / len(own)}
    found = np.array([documents[i]["found"] for i in measured])
    summary: dict[str, Any] = {
        "k": k,
        "documents": counts,
        "needs": {
            "total": len(asked), "measured": len(asked) - len(failures), "failed": len(failures),
        },
        "found_at_k": mean_share(found),
        "unreached": int((found == 0).sum()),
        "risk": risk,
        **({"language_model": writer.summary()} if writer is not None else {}),
        "retriever": note_of(name, answers),
        "profiles_elsewhere": source.elsewhere,
    }  # fmt: skip
    table = pa.Table.from_pylist(documents, schema=_DOCUMENTS)
    by_need = pa.Table.from_pylist(rows, schema=_NEEDS)
    folder.write_table("needs_served", table, csv=True)
    folder.write_table("needs_served_queries", by_need, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and writer is not None:
        require_answers(writer, accept=model.accept_unanswered)
    return ServedNeedsResult(folder.path, report, summary, table, by_need, risk_rows)


def brief(summary: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    return (
        f"{summary['unreached']:,} of {summary['documents']['measured']:,} documents come back "
        f"from {summary['retriever']['name']} for none of their needs (top {summary['k']})"
    )


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of the table of risk."""
    return Section({}, {RISK: risk_table(folder, RISK)}, brief(summary))
