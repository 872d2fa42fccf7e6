"""Ask a retriever for every document by its own information needs.

A retriever's lists end, so that RPS over other candidates cannot be had. The figure of a document
is the share of its needs that bring it into the top k. Nothing is held out: scenarios are in a
retriever's index or they are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Document, Query, State
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.evaluation.judged import ParentFold
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, keep_input, require_some
from argus.measures.intervals import wilson
from argus.measures.slices import Sliced, Slicing, Trials
from argus.reports import write_report
from argus.retrievability.audit.findings import HISTOGRAM_EDGES
from argus.retrievability.rps import band, count_bands
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import Answerer, require_known
from argus.retrievers.protocol import Answers, note_of
from argus.scenarios.document_types import type_slicings
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.findings import DISPLACERS, Need, write_slices
from argus.scenarios.needs.risk import JudgedFiles, judged_questions, measure_risk
from argus.scenarios.needs.search import ServedSearch
from argus.scenarios.needs.served_section import headline
from argus.scenarios.needs.source import NeedSource, why_unmeasured
from argus.scenarios.profile import Profiled
from argus.scenarios.profile import needs as needs_of
from argus.scenarios.profiles.config import ProfileConfig

# One row per need that was asked of a retriever.
#
# rank: rank of its document. Null beyond k, and where the retriever failed.
_NEEDS = pa.schema(
    [
        ("document", pa.string()), ("scenario", pa.int64()), ("need", pa.string()),
        ("rank", pa.int64()), ("state", pa.string()), ("reason", pa.string()),
    ]
)  # fmt: skip
# One row per document whose needs a retriever was asked. Null where there is no share.
#
# found: share of its needs that bring it into the top k.
# best_need, worst_need: need with the best, the worst rank.
# best_rank, worst_rank: that rank, from 1. Null beyond k.
# displaced_by: documents before it for the worst need, at most three.
_DOCUMENTS = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("needs", pa.int64()),
        ("found", pa.float64()), ("low", pa.float64()), ("high", pa.float64()),
        ("band", pa.string()), ("best_need", pa.string()), ("best_rank", pa.int64()),
        ("worst_need", pa.string()), ("worst_rank", pa.int64()), ("displaced_by", pa.string()),
        ("state", pa.string()), ("reason", pa.string()),
    ]
)  # fmt: skip
JOB = "needs_served"


def need_queries(source: NeedSource) -> list[tuple[Need, Query]]:
    """Return the needs of all documents that have text, as queries."""
    needs = [Need(*need) for need in needs_of(source.asking)]
    return [(need, Query(f"need {i}", need.text)) for i, need in enumerate(needs, start=1)]


@dataclass(frozen=True)
class Served:
    """Result of a retriever for one need. rank: None beyond k, or where it failed."""

    need: Need
    ids: Sequence[str]
    rank: int | None
    failure: str = ""


@dataclass(frozen=True)
class ServedNeeds:
    """The parts of a need audit of a retriever."""

    source: NeedSource
    served: Sequence[Served]
    k: int

    @classmethod
    def of(
        cls, source: NeedSource, queries: Sequence[tuple[Need, Query]], answers: Answers, k: int
    ) -> ServedNeeds:
        """Look for every need's document in the list that its query brought back."""
        return cls(source, [_served(need, query.id, answers, k) for need, query in queries], k)

    @cached_property
    def by_document(self) -> dict[str, list[Served]]:
        """The needs of each document, the failed ones too."""
        groups: dict[str, list[Served]] = {}
        for served in self.served:
            groups.setdefault(served.need.doc_id, []).append(served)
        return groups

    @cached_property
    def measured(self) -> dict[str, list[Served]]:
        """The needs that were answered, of documents that have one."""
        answered = {
            id_: [s for s in group if not s.failure] for id_, group in self.by_document.items()
        }
        return {id_: group for id_, group in answered.items() if group}

    @cached_property
    def states(self) -> dict[str, tuple[State, str]]:
        """State of every document, and why it was not measured, or the missing part."""
        return {d.id: self._state(d) for d in self.source.documents}

    def _state(self, document: Document) -> tuple[State, str]:
        why = why_unmeasured(document, self.source.profiles, self.source.drawn)
        if why is not None:
            return State.NOT_APPLICABLE, why
        failures = [s.failure for s in self.by_document[document.id] if s.failure]
        if document.id not in self.measured:
            return State.FAILED, f"no need was answered: {failures[0]}"
        return State.MEASURED, f"{len(failures)} of its needs failed" if failures else ""

    def summary(self) -> dict[str, Any]:
        """Return the figures of the report. No value in it is NaN."""
        shares = np.array([_share(group) for group in self.measured.values()])
        first = [np.mean([s.rank == 1 for s in group]) for group in self.measured.values()]
        states = Counter(state for state, _ in self.states.values())
        known = {d.id for d in self.source.documents}
        return {
            "k": self.k,
            "documents": {
                "total": len(self.source.documents),
                "measured": states[State.MEASURED],
                "failed": states[State.FAILED],
                "not applicable": states[State.NOT_APPLICABLE],
                "reasons": dict(
                    Counter(
                        why.partition(":")[0]
                        for state, why in self.states.values()
                        if state is not State.MEASURED
                    )
                ),
            },
            "needs": {
                "total": len(self.served),
                "measured": sum(map(len, self.measured.values())),
                "failed": sum(bool(s.failure) for s in self.served),
            },
            "found_at_1": _mean(np.array(first)),
            "found_at_k": _mean(shares),
            "bands": count_bands(band(shares)),
            "unreached": int((shares == 0).sum()),
            "strange": sum(id_ not in known for s in self.served for id_ in s.ids),
            "longest": max((len(s.ids) for s in self.served), default=0),
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "documents": np.histogram(shares, HISTOGRAM_EDGES)[0].tolist(),
            },
        }

    def needs_table(self) -> pa.Table:
        """One row per need. Rank is null beyond k, and where the retriever failed."""
        rows = [
            {
                "document": s.need.doc_id, "scenario": s.need.position + 1, "need": s.need.text,
                "rank": s.rank, "state": str(State.FAILED if s.failure else State.MEASURED),
                "reason": s.failure,
            }
            for s in self.served
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=_NEEDS)

    def table(self) -> pa.Table:
        """One row per document. Null where there is no share."""
        figures = dict(self._figures())
        rows = [
            {
                "id": d.id, "label": d.title, "state": str(self.states[d.id][0]),
                "reason": self.states[d.id][1], **figures.get(d.id, {}),
            }
            for d in self.source.documents
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=_DOCUMENTS)

    def _figures(self) -> Iterator[tuple[str, dict[str, object]]]:
        titles = {d.id: d.title or d.id for d in self.source.documents}
        for id_, group in self.measured.items():
            share, n = _share(group), len(group)
            low, high = wilson(share, n)
            best, worst = min(group, key=_place), max(group, key=_place)
            before = [other for other in worst.ids if other != id_]
            before = before[: min(DISPLACERS, _place(worst) - 1)]
            yield id_, {
                "needs": n, "found": share, "low": float(low), "high": float(high),
                "band": str(band(np.array([share]))[0]),
                "best_need": best.need.text, "best_rank": best.rank,
                "worst_need": worst.need.text, "worst_rank": worst.rank,
                "displaced_by": "; ".join(titles.get(other, other) for other in before),
            }  # fmt: skip


def _served(need: Need, query: str, answers: Answers, k: int) -> Served:
    if query in answers.failed:
        return Served(need, (), None, answers.failed[query])
    ids = ranking(answers.run[query])[:k]
    return Served(need, ids, ids.index(need.doc_id) + 1 if need.doc_id in ids else None)


def _place(served: Served) -> int:
    return served.rank or 1 << 30


def _share(group: Sequence[Served]) -> float:
    return sum(s.rank is not None for s in group) / len(group)


def _mean(values: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return the mean over documents and its interval (Wilson's: conservative for values)."""
    low, high = wilson(values.mean(), len(values))
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def served_slices(folder: ArtifactFolder, served: ServedNeeds, slices: Sequence[Slicing]) -> Sliced:
    """Write the shares of needs that a retriever serves, by slice of all documents."""
    if not slices:
        return {}
    documents = served.source.documents
    rows = [row for row, document in enumerate(documents) if document.id in served.measured]
    shares = np.array([_share(served.measured[documents[row].id]) for row in rows], np.float64)
    trials = Trials(f"found in the top {served.k} by their needs", np.array(rows, np.int64), shares)
    return write_slices(folder, "needs_served_slices", slices, [trials])


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
    risk: see `argus.scenarios.needs.risk.DocumentRisks.summary`.
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
        return headline(self.summary)


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
    source = NeedSource.read(
        corpus, profiles, fields or FieldNames(), limit, None, writes=model is not None
    )
    questions = judged_questions(judged, source, config.parent_field)
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        JOB,
        {
            "k": config.k, "limit": limit, "by": list(config.by), **config.drawing,
            "model": model.described() if model else None,
        },
        {
            "corpus": source.path, "profiles": source.profiles_path,
            **(questions.files if questions else {}),
        },
    )  # fmt: skip
    check_folder(folder, record)
    if model is not None:  # its answers are kept before the retriever is opened
        keep_input(folder, [input_path(retriever)])
        record.open(folder)
    answerer = Answerer(retriever, None, asking, encoder)
    fold = ParentFold.of(config.parent_field, source.documents)
    search = ServedSearch(answerer, source.documents, folder, record, config.k, fold)
    with record.timed("asking"):
        measured = measure_risk(
            source, config, search, questions, model, folder, "need_risk_served"
        )
        source = measured.source
        queries = need_queries(source)
        require_some(len(queries), "needs", "No profile of a document with text has some.")
        answers = search.answers([query for _, query in queries])
    require_known(answers.run, dict.fromkeys(d.id for d in source.documents), search.name)
    served = ServedNeeds.of(source, queries, answers, config.k)
    table, needs = served.table(), served.needs_table()
    summary: dict[str, Any] = {
        **served.summary(),
        **measured.figures,
        "retriever": note_of(search.name, answers),
        "profiles_elsewhere": source.elsewhere,
        **served_slices(folder, served, slices),
    }
    folder.write_table("needs_served", table, csv=True)
    folder.write_table("needs_served_queries", needs, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and measured.model is not None:
        require_answers(measured.model, accept=model.accept_unanswered)
    return ServedNeedsResult(folder.path, report, summary, table, needs, measured.table)
