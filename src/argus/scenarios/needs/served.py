"""Ask a retriever for every document by its own information needs.

A retriever's lists end, so that RPS over other candidates cannot be had. The figure of a document
is the share of its needs that bring it into the top k. Nothing is held out: scenarios are in a
retriever's index or they are not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.tables import read_table
from argus.data.types import Query, State, count_states
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, keep_input, require_some
from argus.measures.intervals import wilson
from argus.measures.slices import Trials, slice_lines
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table
from argus.retrievability.rps import HISTOGRAM_EDGES, band, count_bands
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_lines, note_of
from argus.scenarios.document_types import type_slicings, write_slices
from argus.scenarios.needs.audit import DISPLACERS, mean_share
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.risk import measure_risk
from argus.scenarios.needs.section import left_out_lines, risk_lines, risk_table
from argus.scenarios.needs.source import JudgedFiles, NeedSource, read_source
from argus.scenarios.profile import Need, Profiled, needs
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.tables import headings, schema

# One row per need that was asked of a retriever.
#
# rank: rank of its document. Null beyond k, and where the retriever failed.
_NEEDS = schema(
    ("document", str), ("scenario", int), ("need", str), ("rank", int), ("state reason", str)
)
# One row per document whose needs a retriever was asked. Null where there is no share.
#
# found: share of its needs that bring it into the top k.
# best_need, worst_need: need with the best, the worst rank.
# best_rank, worst_rank: that rank, from 1. Null beyond k.
# displaced_by: documents before it for the worst need, at most three.
_DOCUMENTS = schema(
    ("id label", str), ("needs", int), ("found low high", float), ("band best_need", str),
    ("best_rank", int), ("worst_need", str), ("worst_rank", int),
    ("displaced_by state reason", str),
)  # fmt: skip
JOB = "needs_served"


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
    found_at_1, found_at_k: means over documents of the share of their needs.
    bands: documents by that share at k.
    unreached: documents for which it is 0.
    strange: results that are no document of the corpus.
    longest: results of the longest list.
    histogram: documents per interval of that share.
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
        places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
        for name, where in places.items():
            share = summary[name]
            yield (
                f"found {where}: {share['mean']:.1%} of a document's needs "
                f"({share['low']:.1%} to {share['high']:.1%})"
            )
        if slices := summary.get("slices"):
            yield from slice_lines(slices)
        yield from risk_lines(summary)
        if summary["longest"] < summary["k"]:
            yield f"no list of {summary['retriever']['name']} was longer than {summary['longest']}"
        if summary["strange"]:
            yield f"{summary['strange']:,} results are no document of the corpus: mind --result-id"
        yield from note_lines(summary["retriever"], summary["needs"]["total"])
        yield from left_out_lines(summary)


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

    corpus, profiles, out, model, judged: as for `argus.scenarios.audit_needs`. Of config, k, by and
    who is drawn count. retriever, asking, encoder: as for `argus.evaluation.compare_retrievers`.
    Raises InputError for bad input and where no result is a document of the corpus, ArgusError
    where the retriever fails on every need.
    """
    config = config or NeedsConfig()
    source = read_source(
        corpus, profiles, config, fields=fields, limit=limit, judged=judged,
        writes=model is not None,
    )  # fmt: skip
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    described = {"limit": limit, "model": model.described() if model else None}
    record = Record(JOB, {**config.drawing, **described}, source.inputs)
    check_folder(folder, record)
    if model is not None:  # its answers are kept before the retriever is opened
        keep_input(folder, [input_path(retriever)])
        record.open(folder)
    answerer = Answerer(retriever, None, asking, encoder)
    search = ServedSearch(answerer, source, folder, record, config.k)
    with record.timed("asking"):
        source, figures, risk, writer = measure_risk(
            source, config, search, model, folder, "need_risk_served"
        )
        asked = needs(source.asking)
        require_some(len(asked), "needs", "No profile of a document with text has some.")
        answers = search.answers(asked)
    require_known(answers.run, dict.fromkeys(d.id for d in source.documents), search.name)
    outcomes = list(_outcomes(asked, answers, config.k))
    documents, found, counts = _documents(source, outcomes, config.k)
    queries = _needs_table(outcomes)
    shares = np.array([share for _, share, _ in found])
    known = {d.id for d in source.documents}
    failed = sum(bool(outcome.failure) for outcome in outcomes)
    trials = Trials(
        f"found in the top {config.k} by their needs",
        np.array([row for row, _, _ in found], np.int64), shares,
    )  # fmt: skip
    summary: dict[str, Any] = {
        "k": config.k,
        "documents": counts,
        "needs": {"total": len(asked), "measured": len(asked) - failed, "failed": failed},
        "found_at_1": mean_share(np.array([first for _, _, first in found])),
        "found_at_k": mean_share(shares),
        "bands": count_bands(band(shares)),
        "unreached": int((shares == 0).sum()),
        "strange": sum(id_ not in known for outcome in outcomes for id_ in outcome.ids),
        "longest": max((len(outcome.ids) for outcome in outcomes), default=0),
        "histogram": {
            "edges": HISTOGRAM_EDGES,
            "documents": np.histogram(shares, HISTOGRAM_EDGES)[0].tolist(),
        },
        **figures,
        "retriever": note_of(search.name, answers),
        "profiles_elsewhere": source.elsewhere,
        **write_slices(folder, "needs_served_slices", slices, [trials]),
    }
    folder.write_table("needs_served", documents, csv=True)
    folder.write_table("needs_served_queries", queries, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and writer is not None:
        require_answers(writer, accept=model.accept_unanswered)
    return ServedNeedsResult(folder.path, report, summary, documents, queries, risk)


class ServedSearch:
    """Search with a retriever for k results. Its answers are cached in the folder."""

    def __init__(
        self, answerer: Answerer, source: NeedSource, folder: ArtifactFolder, record: Record, k: int
    ) -> None:
        self.answerer, self.source, self.folder = answerer, source, folder
        self.record, self.k, self.name, self.kept = record, k, "", 0
        self.warning: str | None = None
        self.runs: dict[str, dict[str, float]] = {}  # by the text of a need
        self.failures: dict[str, str] = {}

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """Return the rank of each need's document among the k results."""
        run = self.answers(needs).run
        ranks: list[int | None] = []
        for i, need in enumerate(needs, start=1):
            ids = self._folded(run[f"need {i}"], self.k) if f"need {i}" in run else None
            name = self.source.parent(need.doc_id)
            place = None if ids is None else ids.index(name) if name in ids else self.k
            ranks.append(None if place is None else place + 1)
        return ranks

    def answers(self, needs: Sequence[Need]) -> Answers:
        """Return the results of needs, called "need 1" and so on. Each text is asked once."""
        queries = [Query(f"need {i}", need.text) for i, need in enumerate(needs, start=1)]
        known = self.runs.keys() | self.failures.keys()
        new = list({query.text: query for query in queries if query.text not in known}.values())
        if new:
            answers = self._ask(new, self.k, "needs")
            self.kept, self.warning = self.kept + answers.kept, answers.warning
            for query in new:
                if query.id in answers.run:
                    self.runs[query.text] = dict(answers.run[query.id])
                else:
                    self.failures[query.text] = answers.failed[query.id]
        run = {query.id: self.runs[query.text] for query in queries if query.text in self.runs}
        failed = {q.id: self.failures[q.text] for q in queries if q.text in self.failures}
        return Answers(run, failed, min(self.kept, len(needs)), self.warning)

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """Return the documents of each question's first results."""
        run = self._ask(questions, depth, "judged questions").run
        return {query: self._folded(scores, depth) for query, scores in run.items()}

    def _ask(self, queries: Sequence[Query], k: int, what: str) -> Answers:
        self.name, answers = answers_of(
            self.answerer, queries, k, documents=self.source.documents, folder=self.folder,
            record=self.record, what=what,
        )  # fmt: skip
        return answers

    def _folded(self, scores: dict[str, float], k: int) -> list[str]:
        return list(dict.fromkeys(map(self.source.parent, ranking(scores)[:k])))


class _Outcome(NamedTuple):
    """The list that came for one need. rank: None beyond k, or where the retriever failed."""

    need: Need
    ids: Sequence[str]
    rank: int | None
    failure: str


def _outcomes(asked: Sequence[Need], answers: Answers, k: int) -> Iterator[_Outcome]:
    for i, need in enumerate(asked, start=1):
        failure = answers.failed.get(f"need {i}", "")
        ids = [] if failure else ranking(answers.run[f"need {i}"])[:k]
        yield _Outcome(
            need, ids, ids.index(need.doc_id) + 1 if need.doc_id in ids else None, failure
        )


def _needs_table(outcomes: Sequence[_Outcome]) -> pa.Table:
    rows = [
        {
            "document": one.need.doc_id, "scenario": one.need.position + 1, "need": one.need.text,
            "rank": one.rank, "state": str(State.FAILED if one.failure else State.MEASURED),
            "reason": one.failure,
        }
        for one in outcomes
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=_NEEDS)


def _documents(
    source: NeedSource, outcomes: Sequence[_Outcome], k: int
) -> tuple[pa.Table, list[tuple[int, float, float]], Mapping[str, Any]]:
    """Return a row per document, and the counts of documents by outcome.

    Between them, of each document that was measured: its row, and the shares of its needs that
    bring it into the top k, and to the first place.
    """
    own: dict[str, list[_Outcome]] = defaultdict(list)
    for outcome in outcomes:
        own[outcome.need.doc_id].append(outcome)
    titles = {d.id: d.title or d.id for d in source.documents}
    rows, found = [], []
    for document in source.documents:
        row: dict[str, Any] = {"id": document.id, "label": document.title, "reason": ""}
        rows.append(row)
        failures = [one.failure for one in own[document.id] if one.failure]
        answered = [one for one in own[document.id] if not one.failure]
        if why := source.why_unmeasured(document):
            row |= {"state": str(State.NOT_APPLICABLE), "reason": why}
        elif not answered:
            row |= {"state": str(State.FAILED), "reason": f"no need was answered: {failures[0]}"}
        else:
            n = len(answered)
            share = sum(one.rank is not None for one in answered) / n
            found.append((len(rows) - 1, share, sum(one.rank == 1 for one in answered) / n))
            low, high = wilson(share, n)
            best = min(answered, key=lambda one: one.rank or k + 1)
            worst = max(answered, key=lambda one: one.rank or k + 1)
            before = [id_ for id_ in worst.ids if id_ != document.id]
            before = before[: min(DISPLACERS, (worst.rank or len(before) + 1) - 1)]
            row |= {
                "state": str(State.MEASURED), "needs": n, "found": share,
                "low": float(low), "high": float(high), "band": str(band(np.array([share]))[0]),
                "best_need": best.need.text, "best_rank": best.rank,
                "worst_need": worst.need.text, "worst_rank": worst.rank,
                "displaced_by": "; ".join(titles.get(id_, id_) for id_ in before),
                "reason": f"{len(failures)} of its needs failed" if failures else "",
            }  # fmt: skip
    states = Counter(row["state"] for row in rows)
    unmeasured = (row["reason"] for row in rows if row["state"] != State.MEASURED)
    reasons = Counter(reason.partition(":")[0] for reason in unmeasured)
    return pa.Table.from_pylist(rows, schema=_DOCUMENTS), found, count_states(states, reasons)


def brief(summary: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    return (
        f"{summary['unreached']:,} of {summary['documents']['measured']:,} documents come back "
        f"from {summary['retriever']['name']} for none of their needs (top {summary['k']})"
    )


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of needs_served.parquet, documents out of reach first."""
    rows = read_table(folder / "needs_served.parquet").to_pylist()
    rows = [row for row in rows if row["state"] == State.MEASURED]
    rows.sort(key=lambda row: (row["high"], row["found"], row["id"]))
    columns = headings(
        "document: text; needs: count; bring it back: share; 95% interval: interval; band: band; "
        "the need that fails it most: text; rank: count; returned instead: text"
    )
    shown = [
        [
            naming(row["label"], row["id"]), row["needs"], row["found"], [row["low"], row["high"]],
            row["band"], row["worst_need"], row["worst_rank"], row["displaced_by"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    tables = {"needs_served": table(columns, shown, total=len(rows))}
    tables |= risk_table(folder, "need_risk_served", summary)
    if "slices" in summary:
        tables["needs_served_slices"] = slices_table(folder, "needs_served_slices")
    return Section({}, tables, brief(summary))
