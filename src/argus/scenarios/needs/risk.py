"""Order documents by how hard they are to find for the questions they should answer (their needs).

For `argus research scenarios needs`. The profile of a document, written by a language model, lists
its needs. `measure_risk`: ranks of a document for its needs, from `needs.audit` -> rows of
need_risk, worst geometric mean first, and with judged questions the AUC for real misses.
`document_rows` says of each document whether it was measured, and why not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.tables import read_table
from argus.data.types import Document, Qrels, Query, State, count_states
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, ParentFold
from argus.jobs.workspace import read_documents, require_some
from argus.measures.intervals import discrimination, wilson
from argus.remedies.remedy_result import check_judged
from argus.reports.section import MAX_ROWS, Table, naming, table
from argus.scenarios.config import NeedsConfig
from argus.scenarios.files import given_profiles
from argus.scenarios.profile import Need, Profiled, ProfileState
from argus.scenarios.tables import headings, schema
from argus.verdict.verdict import validity_of_needs

RISK = "need_risk"
# One row per document whose needs were asked, the greatest risk first.
#
# chunks: chunks of it, 1 where documents are not cut.
# needs: needs of it that were asked.
# found: share of its needs that bring it into the top k.
# typical_rank: geometric mean of its ranks: the risk.
# worst_need: need with the worst rank.
# worst_rank: that rank, from 1.
RISK_SCHEMA = schema(
    ("id label", str), ("chunks needs", int), ("found low high typical_rank", float),
    ("worst_need", str), ("worst_rank", int),
)  # fmt: skip


@dataclass(frozen=True)
class NeedSource:
    """Documents by id, and the profiles of those that the corpus holds.

    elsewhere: profiles of other documents. inputs: files for the manifest. parents: document of
    each chunk, where chunks are folded.
    """

    documents: list[Document]
    profiles: dict[str, Profiled]
    elsewhere: int = 0
    inputs: dict[str, Origin | None] = field(default_factory=dict)
    questions: JudgedQueries | None = None
    parents: Mapping[str, str] = field(default_factory=dict)

    def parent(self, id_: str) -> str:
        """Return the document that a chunk is of. Itself where nothing is folded."""
        return self.parents.get(id_, id_)

    @property
    def usable(self) -> list[Document]:
        """The documents that have text."""
        return [d for d in self.documents if d.content.strip()]

    @property
    def asking(self) -> dict[str, Profiled]:
        """The profiles whose needs ask: of documents that have text."""
        return {d.id: self.profiles[d.id] for d in self.usable if d.id in self.profiles}

    def judged(self, k: int) -> tuple[list[Query], int]:
        """Return the judged questions that want a document whose needs ask, and how deep to ask."""
        if self.questions is None:
            return [], 0
        own = set(map(self.parent, self.asking))
        wanted = [q for q in self.questions.queries if self.relevant(q.id) & own]
        return wanted, k + max((len(self.relevant(q.id)) for q in wanted), default=0)

    def relevant(self, query: str) -> set[str]:
        """Return the documents that are relevant to a judged question."""
        grades = {} if self.questions is None else self.questions.qrels.get(query, {})
        return {id_ for id_, grade in grades.items() if grade > 0}

    def document_rows(
        self, failed: Mapping[str, str], needs: Sequence[Mapping[str, Any]], k: int
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a row per document: its state, and the share of its needs that find it.

        failed: document to why it has no vector. needs: a row per need, with its ranks. Second come
        counts of states and reasons.
        """
        asked: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for need in needs:
            asked[need["document"]].append(need)
        rows, reasons = [], Counter[str]()
        for document in self.documents:
            own = [need for need in asked[document.id] if need["state"] == State.MEASURED]
            without = [need["reason"] for need in asked[document.id] if need["reason"]]
            state, why = State.NOT_APPLICABLE, self._why_not_asked(document)
            if document.id in failed:
                state, why = State.FAILED, f"no vector: {failed[document.id]}"
            elif not why and not own:
                state, why = State.FAILED, f"no need could be asked: {without[0]}"
            elif not why:
                state = State.MEASURED
                why = f"{len(without)} of its needs could not be asked" if without else ""
            row = {"id": document.id, "label": document.title, "state": str(state), "reason": why}
            if state is not State.MEASURED:
                reasons[why.partition(":")[0]] += 1
            else:
                row |= {"needs": len(own)} | {
                    found: sum((need[rank] or k + 1) <= k for need in own) / len(own)
                    for found, rank in (("found", "rank"), ("found_fused", "rank_fused"))
                    if rank in own[0]
                }
            rows.append(row)
        return rows, count_states(Counter(row["state"] for row in rows), reasons)

    def _why_not_asked(self, document: Document) -> str:
        if not document.content.strip():
            return "no text"
        if (profiled := self.profiles.get(document.id)) is None:
            return "no profile"
        if profiled.state is ProfileState.NOISE:
            return f"the profile is noise: {profiled.reason}"
        return "" if profiled.profile else f"the profile failed: {profiled.reason}"


def read_source(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    config: NeedsConfig,
    *,
    fields: FieldNames | None = None,
    limit: int | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
) -> NeedSource:
    """Read everything. encoder: as for `read_documents`.

    Raises InputError where documents and profiles have no id in common, and for queries without
    judgements or the other way round.
    """
    fields = fields or FieldNames()
    documents, path = read_documents(corpus, fields, limit, encoder)
    documents.sort(key=lambda d: d.id)
    profiles, file = given_profiles(profiles, coerce_ids=fields.coerce_ids)
    with_text = {d.id for d in documents if d.content.strip()}
    require_some(len(with_text) > 1, "two documents have text", "Check --text-field, or --limit.")
    known = {d.id: profiles[d.id] for d in documents if d.id in profiles}
    if not known:
        raise InputError(
            f"{len(profiles):,} profiles, none of them of a document of the corpus (they begin "
            f"with {min(profiles, default='')!r}, the documents with {documents[0].id!r})",
            expected="profiles by the ids of the corpus",
            fix="Check --profiles, --corpus and --id-field; --limit may have cut the corpus too "
            "short.",
            where=file or "profiles",
        )
    usable = any(p.profile is not None and id_ in with_text for id_, p in known.items())
    missing = "document with text has a profile with scenarios"
    require_some(usable, missing, "Profiles of state noise or failed have none.")
    questions = check_judged(queries, qrels)
    if questions is not None:
        questions = replace(questions, documents=documents).folded(config.parent_field)
    inputs = {"corpus": path, "profiles": file, **(questions.files if questions else {})}
    fold = ParentFold.of(config.parent_field, documents)
    parents = fold.of_chunk if fold else {}
    return NeedSource(documents, known, len(profiles) - len(known), inputs, questions, parents)


def measure_risk(
    source: NeedSource,
    config: NeedsConfig,
    places: Sequence[tuple[Need, int]],
    lists: Mapping[str, Sequence[str]],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the figures of the documents' risk, and a row per document, the riskiest first.

    places: each need that could be asked, with the rank of its document. One beyond a list that
    ends is as if it came next. lists: documents that came for each judged question. Keys:

    parent_field: field that names the document of a chunk. None without chunks.
    documents: documents of the corpus.
    measured: documents that were asked for.
    reached: of these, documents that a need brings into the top k.
    low, high: 95% interval of their share.
    judged: see `judged_risk`.
    validity: what the order tells of real questions, in words.
    """
    k = min(config.k, len(source.usable))
    titles: dict[str, str] = {}
    for document in source.documents:
        titles.setdefault(source.parent(document.id), document.title)
    chunks = Counter(source.parent(document.id) for document in source.documents)
    by_document: dict[str, list[tuple[Need, int]]] = defaultdict(list)
    for need, rank in places:
        by_document[source.parent(need.doc_id)].append((need, rank))
    rows: list[dict[str, Any]] = []
    for id_, own in by_document.items():
        ranks = np.array([rank for _, rank in own], np.float64)
        worst, worst_rank = max(own, key=lambda one: one[1])
        share = float((ranks <= k).mean())
        low, high = wilson(share, len(own))
        rows.append({
            "id": id_, "label": titles.get(id_, ""), "chunks": chunks[id_], "needs": len(own),
            "found": share, "low": float(low), "high": float(high),
            "typical_rank": float(np.exp(np.log(ranks).mean())),
            "worst_need": worst.text, "worst_rank": worst_rank,
        })  # fmt: skip
    rows.sort(key=lambda row: (-row["typical_rank"], row["id"]))
    reached, n = sum(row["found"] > 0 for row in rows), len(rows)
    first, last = wilson(reached / n, n) if n else (0.0, 1.0)
    judged = None
    if source.questions is not None:
        judged = judged_risk({row["id"]: row["typical_rank"] for row in rows}, source, lists, k)
    return {
        "k": k,
        "parent_field": config.parent_field,
        "documents": len({source.parent(d.id) for d in source.usable}),
        "measured": n,
        "reached": reached,
        "low": float(first),
        "high": float(last),
        "judged": judged,
        "validity": [f"{v.kind}: {v.text}" for v in validity_of_needs((judged or {}).get("area"))],
    }, rows


def judged_risk(
    typical_ranks: Mapping[str, float],
    source: NeedSource,
    lists: Mapping[str, Sequence[str]],
    k: int,
) -> dict[str, Any]:
    """Return the worth of the typical rank on judged questions.

    A pair of question and relevant document fails where k documents that are not relevant, or more,
    come before it, or where it does not come at all. The interval draws questions, since pairs of
    one question are not independent.

    questions: judged questions whose documents' needs were asked.
    pairs: pairs of question and relevant document that needs asked for.
    failed: of these, pairs whose document does not come back.
    area: AUC of the typical rank for failure. None where fewer than five failed, or did not.
    """
    ranks, failed, clusters = [], [], []
    for query, ids in lists.items():
        relevant = source.relevant(query)
        for id_ in sorted(relevant & typical_ranks.keys()):
            before = ids[: ids.index(id_)] if id_ in ids else None
            failed.append(before is None or sum(other not in relevant for other in before) >= k)
            ranks.append(typical_ranks[id_])
            clusters.append(query)
    return {
        "questions": len(set(clusters)), "pairs": len(ranks), "failed": sum(failed),
        "area": discrimination(ranks, failed, clusters=clusters),
    }  # fmt: skip


def risk_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the risk and its worth for real questions, and why documents were not measured."""
    risk, lines = summary["risk"], []
    if risk["measured"]:
        whose = f", folded by {risk['parent_field']}," if risk["parent_field"] else ""
        lines += [
            f"at risk: {risk['measured'] - risk['reached']:,} of {risk['measured']:,} "
            f"documents{whose} come into the top {risk['k']} for none of their needs "
            f"({1 - risk['high']:.1%} to {1 - risk['low']:.1%}); asked for: "
            f"{risk['measured']:,} of {risk['documents']:,}",
            f"what that order tells of real questions: {'; '.join(risk['validity'])}",
        ]
        if risk["judged"] is None:
            lines.append(
                "Measure it here: --queries and --qrels. The riskiest stand first in need_risk.csv."
            )
    if reasons := summary["documents"]["reasons"]:
        lines.append(f"not measured: {', '.join(f'{n:,} {why}' for why, n in reasons.items())}")
    if n := summary["profiles_elsewhere"]:
        lines.append(f"{n:,} profiles are of documents that the corpus lacks")
    return lines


def risk_table(folder: Path) -> Table:
    """Return the documents by their risk, for a report."""
    rows = read_table(folder / f"{RISK}.parquet").to_pylist()
    columns = headings(
        "document: text; typical rank: count; needs: count; find it: share; "
        "95% interval: interval; the need that fails it most: text; rank: count"
    )
    shown: list[list[object]] = [
        [
            naming(row["label"], row["id"]), round(row["typical_rank"]), row["needs"],
            row["found"], [row["low"], row["high"]], row["worst_need"], row["worst_rank"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, shown, total=len(rows))
