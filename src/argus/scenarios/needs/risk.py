"""Order documents by risk: how deep they stand for their needs.

A document's risk is its typical rank: the geometric mean of its ranks under its own needs, in an
index of documents alone. It orders documents and is no probability. Judged questions, where there
are any, measure what it says of real ones: the AUC for pairs of question and relevant document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, ParentFold, read_judged
from argus.jobs.recorded_model import RecordedModel
from argus.measures.intervals import discrimination, wilson
from argus.scenarios.files import write_profiles
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.drawing import (
    Drawn,
    NeedPlace,
    draw,
    draw_order,
    open_writer,
    with_further,
)
from argus.scenarios.needs.search import NeedSearch, parent_of
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.profiles.config import ProfileConfig
from argus.verdict.counts import validity_of_needs

# One row per document whose needs were asked, the greatest risk first.
#
# chunks: chunks of it, 1 where documents are not cut.
# needs: needs of it that were asked.
# further: of these, needs that were written beyond those of the first round.
# found: share of its needs that bring it into the top k.
# typical_rank: geometric mean of its ranks: the risk.
# worst_need: need with the worst rank.
# worst_rank: that rank, from 1.
_SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("chunks", pa.int64()),
        ("needs", pa.int64()), ("further", pa.int64()), ("found", pa.float64()),
        ("low", pa.float64()), ("high", pa.float64()), ("typical_rank", pa.float64()),
        ("worst_need", pa.string()), ("worst_rank", pa.int64()),
    ]
)  # fmt: skip
# Profiles of the documents that were drawn, where a model wrote some of them.
WRITTEN = "need_profiles.jsonl"


@dataclass(frozen=True)
class DocumentRisks:
    """Ranks of every drawn document for its needs."""

    drawn: Drawn
    documents: Sequence[Document]
    k: int
    fold: ParentFold | None

    @cached_property
    def places(self) -> dict[str, list[NeedPlace]]:
        """The needs that could be asked, by document, or by the one they are chunks of."""
        places: dict[str, list[NeedPlace]] = {}
        for place in self.drawn.places:
            if place.rank is not None:
                places.setdefault(parent_of(self.fold, place.need.doc_id), []).append(place)
        return places

    @cached_property
    def typical_ranks(self) -> dict[str, float]:
        """The geometric mean of each document's ranks."""
        return {id_: float(np.exp(np.log(_ranks(own)).mean())) for id_, own in self.places.items()}

    def table(self) -> pa.Table:
        """One row per document, the greatest risk first."""
        rows = sorted(self._rows(), key=lambda row: (-float(str(row["typical_rank"])), row["id"]))
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    def _rows(self) -> Iterator[dict[str, object]]:
        titles: dict[str, str] = {}
        for document in self.documents:
            titles.setdefault(parent_of(self.fold, document.id), document.title)
        chunks = Counter(parent_of(self.fold, document.id) for document in self.documents)
        for id_, places in self.places.items():
            worst = max(places, key=lambda place: place.rank or 0)
            share = float((_ranks(places) <= self.k).mean())
            low, high = wilson(share, len(places))
            yield {
                "id": id_, "label": titles.get(id_, ""), "chunks": chunks[id_],
                "needs": len(places), "further": sum(place.is_further for place in places),
                "found": share, "low": float(low), "high": float(high),
                "typical_rank": self.typical_ranks[id_],
                "worst_need": worst.need.text, "worst_rank": worst.rank,
            }  # fmt: skip

    def summary(
        self, config: NeedsConfig, written: int, judged: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the figures. written: documents whose needs were written in this run.

        Keys of the result:

        parent_field: field that names the document of a chunk. None without chunks.
        documents: documents of the corpus.
        measured: documents that were asked for.
        reached: of these, documents that a need brings into the top k.
        low: 95% interval of their share.
        high: 95% interval of their share.
        sample: documents that were to be drawn. None for all.
        until_width: width of the interval to draw until. None for none.
        written: documents whose needs were written in this run.
        further.documents: documents of which needs were written besides.
        further.needs: needs that were written besides.
        judged.questions: judged questions whose documents' needs were asked.
        judged.pairs: pairs of question and relevant document that needs asked for.
        judged.failed: of these, pairs whose document does not come back.
        judged.area: AUC of the typical rank for failure. None where fewer than five failed, or did
            not.
        """
        reached = [
            any(place.rank <= self.k for place in own if place.rank) for own in self.places.values()
        ]
        low, high = wilson(sum(reached) / len(reached), len(reached)) if reached else (0.0, 1.0)
        names = {parent_of(self.fold, d.id) for d in self.documents if d.content.strip()}
        more = self.drawn.further
        return {
            "k": self.k,
            "parent_field": config.parent_field,
            "documents": len(names),
            "measured": len(reached),
            "reached": sum(reached),
            "low": float(low),
            "high": float(high),
            "sample": config.sample,
            "until_width": config.until_width,
            "written": written,
            "further": {"documents": len(more), "needs": sum(map(len, more.values()))},
            "judged": judged,
            "validity": [str(one) for one in validity_of_needs(judged["area"] if judged else None)],
        }


def judged_risk(
    risks: DocumentRisks, questions: JudgedQueries | None, search: NeedSearch
) -> dict[str, Any] | None:
    """Return the worth of the typical rank on judged questions. None where there are none.

    A pair of question and relevant document fails where k documents that are not relevant, or more,
    come before it. The interval draws questions, since pairs of one question are not independent.
    """
    if questions is None:
        return None
    known = risks.typical_ranks
    relevant = {
        query.id: {id_ for id_, grade in questions.qrels.get(query.id, {}).items() if grade > 0}
        for query in questions.queries
    }
    queries = [query for query in questions.queries if relevant[query.id] & known.keys()]
    most = max((len(relevant[query.id]) for query in queries), default=0)
    lists = search.lists(queries, risks.k + most) if queries else {}
    pairs = [
        (query, known[id_], _fails(ids, relevant[query], id_, risks.k))
        for query, ids in lists.items()
        for id_ in sorted(relevant[query] & known.keys())
    ]
    failed = [fails for _, _, fails in pairs]
    area = discrimination(
        [rank for _, rank, _ in pairs], failed, clusters=[query for query, _, _ in pairs]
    )
    return {"questions": len(lists), "pairs": len(pairs), "failed": sum(failed), "area": area}


def _fails(ids: Sequence[str], relevant: set[str], document: str, k: int) -> bool:
    """Whether k documents that are not relevant come before a relevant one, or it not at all."""
    if document not in ids:
        return True
    before = ids[: ids.index(document)]
    return sum(id_ not in relevant for id_ in before) >= k


def _ranks(places: Sequence[NeedPlace]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([place.rank for place in places], np.float64)


@dataclass(frozen=True)
class JudgedFiles:
    """Judged questions that the risk is compared with, or none."""

    queries: Path | str | Sequence[Query] | None = None
    qrels: Path | str | Qrels | None = None


def judged_questions(
    files: JudgedFiles | None, source: NeedSource, field: str | None
) -> JudgedQueries | None:
    """Return them, of documents where chunks are folded. InputError for one of the two."""
    if files is None or (files.queries is None and files.qrels is None):
        return None
    if files.queries is None or files.qrels is None:
        lacking = "--queries" if files.queries is None else "--qrels"
        raise InputError(
            f"judged questions without {lacking}",
            expected="both: --queries, and --qrels that say what is relevant to each",
            fix="Name the other file, too.",
            where=lacking,
        )
    judged = read_judged(files.queries, files.qrels)
    return replace(judged, documents=source.documents).folded(field)


@dataclass(frozen=True)
class Measured:
    """The source with the documents that were drawn, and their figures."""

    source: NeedSource
    figures: dict[str, Any]
    model: RecordedModel | None
    table: pa.Table


def measure_risk(
    source: NeedSource,
    config: NeedsConfig,
    search: NeedSearch,
    questions: JudgedQueries | None,
    writing: ProfileConfig | None,
    folder: ArtifactFolder,
    name: str,
) -> Measured:
    """Draw documents, ask for them by their needs, and write the table of their risk.

    questions: judged ones, folded as the search is. writing: the model that writes missing needs.
    name: of the table.
    """
    k = min(config.k, len(source.usable))
    order = draw_order(source, config, writes=writing is not None)
    with open_writer(writing, order, source.profiles, folder) as writer:
        drawn = draw(source, config, writer, search, k)
    fold = ParentFold.of(config.parent_field, source.documents)
    risks = DocumentRisks(drawn, source.documents, k, fold)
    written = 0
    if writer is not None:
        written = len(drawn.profiles.keys() - source.profiles.keys())
        write_profiles(
            folder.own(WRITTEN),
            (with_further(p, drawn.further.get(id_, ())) for id_, p in drawn.profiles.items()),
        )
    figures: dict[str, Any] = {
        "risk": risks.summary(config, written, judged_risk(risks, questions, search))
    }
    if writer is not None:
        figures["language_model"] = writer.model.summary()
    table = risks.table()
    folder.write_table(name, table, csv=True)
    is_part = config.sample is not None or config.until_width is not None
    whole = replace(
        source,
        profiles={**source.profiles, **drawn.profiles},
        drawn=frozenset(drawn.profiles) if is_part else None,
    )
    return Measured(whole, figures, writer.model if writer is not None else None, table)
