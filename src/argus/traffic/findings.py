"""What a log comes to: its figures and tables, made of the log's file and the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from argus.authority.jobs.inputs import OpenedAuthority
from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document
from argus.measures.slices import Sliced, slice_table, worst_first
from argus.retrievers.protocol import RetrieverNote
from argus.traffic.config import TrafficConfig
from argus.traffic.figures.documents import DocumentCounts
from argus.traffic.figures.feedback import feedback_figures
from argus.traffic.figures.outcomes import make_outcomes
from argus.traffic.figures.over_time import over_time
from argus.traffic.figures.parts import served_by_part
from argus.traffic.figures.shares import share
from argus.traffic.figures.slices import slice_shares
from argus.traffic.figures.stale import StaleLists
from argus.traffic.figures.windows import compare_windows, split_at
from argus.traffic.log.book import ANSWERED, LOGGED, LogBook
from argus.traffic.questions.risk import RiskFigures
from argus.traffic.questions.sample import LookedAt
from argus.traffic.questions.table import write_questions
from argus.traffic.summary import KnownResults, LogFigures, TrafficSummary
from argus.traffic.unmet.criterion import mark_unmet
from argus.traffic.unmet.demand import demand, demand_table, unmet_figures

WORST = 50
"""Shares by slice that the summary holds."""


@dataclass(frozen=True)
class Findings:
    """The parts of a traffic run."""

    book: LogBook
    config: TrafficConfig
    questions: Sequence[LookedAt]
    alike: int
    documents: Sequence[Document]
    opened: OpenedAuthority | None
    unknown_signals: int
    risk: RiskFigures | None

    def measure(
        self, log: LogFigures, note: RetrieverNote | None
    ) -> tuple[TrafficSummary, dict[str, pa.Table]]:
        """Return the summary, and the tables by name."""
        book, config, labels = self.book, self.config, self._labels()
        stale = self._stale()
        outcomes = make_outcomes(book, has_stale=stale is not None)
        split = split_at(book, config.split)
        counts = DocumentCounts.of(book, config.k)
        unmet = mark_unmet(self.questions)
        clusters = demand(unmet, self.questions, labels)
        is_corpus = bool(self.documents)
        different = book.one("SELECT COUNT(*) FROM questions")[0]
        sliced, tables = self._sliced(outcomes)
        tables |= {
            "documents": counts.table(labels, is_corpus, stale.counts if stale else Counter()),
            "unmet": demand_table(clusters),
            "over_time": over_time(book),
            "served_by_part": served_by_part(book, config.k, labels, is_corpus),
        }
        summary: TrafficSummary = {
            "k": config.k,
            "log": log,
            "questions": {
                "different": different,
                "repeated": book.asks - different,
                "looked_at": len(self.questions),
                "alike": self.alike,
            },
            "results": self._results(),
            "retriever": note,
            "documents": counts.summary(labels, is_corpus) if counts.asks else None,
            "feedback": feedback_figures(book, self.unknown_signals),
            "superseded": stale.summary(book) if stale else None,
            "windows": (split and compare_windows(
                book, outcomes, split, seed=config.seed, resamples=config.resamples
            )) or None,
            "risk": self.risk,
            "unmet": None if log["hash_only"] else unmet_figures(unmet, clusters),
            **sliced,
        }  # fmt: skip
        return summary, tables

    def write(
        self,
        folder: ArtifactFolder,
        tables: Mapping[str, pa.Table],
    ) -> None:
        """Write every table."""
        for name, table in tables.items():
            folder.write_table(name, table, csv=True)
        write_questions(folder, self.book, self.questions)

    def _labels(self) -> dict[str, str]:
        """Return titles by id: of the corpus, or else of passages without an id."""
        if self.documents:
            return {document.id: document.title for document in self.documents}
        return dict(self.book.rows("SELECT id, text FROM labels"))

    def _stale(self) -> StaleLists | None:
        if self.opened is None:
            return None
        stale = StaleLists(self.opened)
        stale.mark(self.book, self.config.k)
        return stale

    def _sliced(self, outcomes: Sequence[str]) -> tuple[Sliced, dict[str, pa.Table]]:
        if not self.book.slices:
            return {}, {}
        fields, shares = slice_shares(self.book, outcomes)
        shares = worst_first(shares)
        figures: Sliced = {
            "slices": {"fields": fields, "shares": len(shares), "worst": shares[:WORST]}
        }
        return figures, {"traffic_slices": slice_table(shares)}

    def _results(self) -> KnownResults:
        logged, answered, unknown, nothing = self.book.one(
            f"SELECT SUM(source = {LOGGED}), SUM(source = {ANSWERED}), SUM(list IS NULL), "
            "SUM(n = 0) FROM asks LEFT JOIN lists ON lists.id = list"
        )
        return {
            "logged": logged,
            "answered": answered,
            "unknown": unknown,
            "nothing": share(nothing or 0, logged + answered),
        }
