"""Why a document does not come back for a query: every cause checked, the most probable first."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from argus.authority.edges import read_authority
from argus.authority.relation import Authority
from argus.corpora.opening import open_corpus
from argus.data.corpus import read_queries
from argus.data.types import FloatArray, Query
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.parents import ParentFold
from argus.evaluation.queries import unknown_query
from argus.explanation.blend import check_blend
from argus.explanation.config import ExplainConfig
from argus.explanation.entities import check_entities, load_for
from argus.explanation.evidence import (
    ApproximateEvidence,
    BlendEvidence,
    Evidence,
    HubEvidence,
    PresenceEvidence,
    RpsEvidence,
    SupersededEvidence,
    VectorEvidence,
    WindowEvidence,
    WordEvidence,
)
from argus.explanation.presence import check_approximate, check_presence
from argus.explanation.rivals import check_hubs, check_superseded
from argus.explanation.standing import standing
from argus.explanation.types import (
    Case,
    Cause,
    Explanation,
    Finding,
    Standing,
    Verdict,
)
from argus.explanation.vectors import check_vector, check_window
from argus.explanation.words import check_words
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import check_k
from argus.indexes.spec import IndexSpec
from argus.indexes.words import check_query
from argus.progress import announce
from argus.retrievability.probes import Probe

FAR_OFF = 0.9
"""Cosine below which a stored vector is so wrong that it is named before everything else."""

MOST = 0.5
"""Share of the entities below tau from which low RPS is named as the cause: most documents have
some entity that is."""
CROWD = 1 / 3
"""Share of the documents above it from which hubs are named before what the question and
the document have in common: the centre of the document's own topic may be a hub as well."""


@dataclass(frozen=True)
class Findings:
    """What every check concluded, in the order in which they are made."""

    presence: Finding[PresenceEvidence]
    approximate: Finding[ApproximateEvidence]
    vector: Finding[VectorEvidence]
    window: Finding[WindowEvidence]
    words: Finding[WordEvidence]
    hubs: Finding[HubEvidence]
    superseded: Finding[SupersededEvidence]
    entities: Finding[RpsEvidence]
    blend: Finding[BlendEvidence] | None
    """None where the index is searched without one."""

    @property
    def every(self) -> list[Finding[Evidence]]:
        """All of them, in order."""
        findings: list[Finding[Evidence]] = [
            self.presence, self.approximate, self.vector, self.window,
            self.words, self.hubs, self.superseded, self.entities,
        ]  # fmt: skip
        return findings if self.blend is None else [*findings, self.blend]

    @property
    def faults(self) -> dict[Cause, Finding[Evidence]]:
        """Those that found their cause."""
        return {f.cause: f for f in self.every if f.state is Verdict.FOUND}


def explain(
    query: str,
    doc_id: str,
    index: str | Path | IndexSpec | IndexRetriever,
    config: ExplainConfig | None = None,
    *,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    authority: Authority | None = None,
    fold: ParentFold | None = None,
) -> Explanation:
    """Say where `doc_id` stands for `query` in one state of an index, and what keeps it there.

    index: `PATH[@as_of]`, or a retriever. authority: what supersedes what, in place of a file.
    fold: of chunks to documents, in place of the corpus of the config: documents are ranked then,
    and of `doc_id`, one or a chunk of one, the chunk that comes first is explained. A document that
    is not in the index is explained, not refused. Raises InputError for an empty query or id, k
    below 1, a query id that is not in the file, what is no index, broken files; FingerprintMismatch
    for an encoder or probe of others.
    """
    config = config or ExplainConfig()
    check_k(config.k)
    question = _query(query, config.queries)
    if not doc_id.strip():
        raise InputError("an empty document id", expected="the id of a document", fix="Name one.")
    if config.corpus is not None:
        open_corpus(config.corpus)  # it is read only where the document is not in the index
    if authority is None and config.supersedes is not None:
        authority = read_authority(config.supersedes)
    if not isinstance(index, IndexRetriever):
        retriever = open_retriever(
            index, encoder, hybrid=config.hybrid, device=device, weight=config.weight
        )
    elif config.hybrid is None:
        retriever = index
    else:
        retriever = IndexRetriever(
            index.index, index.encoder, index.as_of, config.hybrid, index.exact, index.weight
        )
    probe = load_for(config.rps, retriever.encoder)
    fold = fold or _fold(config)
    case = _first_chunk(_case(question.text, doc_id, config.k, retriever), fold)
    place = standing(case)
    findings = _findings(case, place, config, authority, probe)
    cause, verdict = conclude(case, place, findings)
    return Explanation(
        query=question.text,
        query_id=question.id if config.queries is not None else None,
        doc_id=doc_id,
        chunk=None if fold is None else case.doc_id,
        index=str(IndexSpec(retriever.index.path, retriever.as_of)),
        encoder=retriever.encoder.fingerprint,
        k=config.k,
        verdict=verdict,
        cause=cause,
        came_back=place.came_back,
        standing=place,
        findings=findings.every,
    )


def _query(text: str, file: Path | None) -> Query:
    check_query(text)
    if file is None:
        return Query("query", text)
    queries = {query.id: query for query in read_queries(file)}
    if text not in queries:
        otherwise = "Check the id, or leave out --queries to give the query's text."
        raise unknown_query(text, queries, file, otherwise)
    if not queries[text].text.strip():
        raise InputError(
            f"query {text!r} has no text", expected="words", fix="Mend the file.", where=file
        )
    return queries[text]


def _case(query: str, doc_id: str, k: int, retriever: IndexRetriever) -> Case:
    announce("explain: reading the index")
    snapshot = retriever.index.snapshot(retriever.as_of)
    if not len(snapshot):
        raise InputError(
            "holds no document",
            expected="an index with documents",
            fix="Add some with `argus index add`.",
            where=retriever.index.path,
        )
    vector: FloatArray = np.asarray(retriever.encoder.encode_queries([query]), np.float32)
    return Case(query, doc_id, k, retriever, snapshot, retriever.recipe.correct(vector), vector)


def _fold(config: ExplainConfig) -> ParentFold | None:
    corpus, fields = config.corpus, config.fields
    return ParentFold.of_corpus(
        ChunkedCorpus(corpus=corpus, fields=fields, parent_field=config.parent_field)
    )


def _first_chunk(case: Case, fold: ParentFold | None) -> Case:
    """Return the case of the chunk that ranks first of its document."""
    if fold is None:
        return case
    chunks = [chunk for chunk in fold.chunks_of(case.doc_id) if case.holds(chunk)]
    positions = case.snapshot.positions(chunks).tolist()
    best = min(
        zip(positions, chunks, strict=True), key=lambda c: (-case.best[c[0]], c[1]), default=None
    )
    return replace(case, doc_id=case.doc_id if best is None else best[1], fold=fold)


def _findings(
    case: Case,
    place: Standing,
    config: ExplainConfig,
    authority: Authority | None,
    probe: Probe | str,
) -> Findings:
    findings = Findings(
        presence=check_presence(case, config.corpus, config.fields),
        approximate=check_approximate(case, place),
        vector=check_vector(case, place, config),
        window=check_window(case, place),
        words=check_words(case, place),
        hubs=check_hubs(case, place, config.seed),
        superseded=check_superseded(case, place, authority),
        entities=check_entities(case, config.rps, probe),
        blend=check_blend(case, place),
    )
    in_reach = place.dense.rank is not None and place.dense.rank <= case.k
    if not (place.came_back or in_reach):
        return findings
    words, entities = findings.words.harmless(), findings.entities.harmless()
    return replace(findings, words=words, entities=entities)


def conclude(case: Case, place: Standing, findings: Findings) -> tuple[Cause | None, str]:
    """Return the most probable cause and the verdict in one line.

    What is certain comes first (absent, approximate search), then what spoils everything else (a
    wrong vector, a text that was not read), then what was computed to bring the document back, then
    what only makes its absence likely.
    """
    faults = findings.faults
    if place.came_back:
        notes = [faults[c].summary for c in (Cause.SUPERSEDED, Cause.VECTOR) if c in faults]
        return None, "; yet ".join([_came_back(place), *notes])
    cause = next((c for c in _order(findings, faults, case.k) if c in faults), None)
    if cause is Cause.ABSENT:
        return cause, f"did not come back: {findings.presence.summary}"
    where = _where(place, case.k)
    if cause is None:
        return None, (
            f"did not come back ({where}): no check explains it; the documents above it are nearer "
            "to the query for this encoder"
        )
    text = f"did not come back ({where}): {faults[cause].summary}"
    low = Cause.ENTITIES in faults and _most_are_low(findings.entities)
    if cause is Cause.LEXICAL and not findings.words.decisive and low:
        text += f"; {findings.entities.summary}"
    missing = findings.words.evidence["missing_terms"]
    if cause is Cause.ENTITIES and missing:
        text += f"; it never says {' or '.join(map(repr, missing[:3]))}"
    return cause, text


def _order(findings: Findings, faults: Container[Cause], k: int) -> list[Cause]:
    """Return the causes, most telling first, given those that were found."""
    order: list[Cause] = [Cause.ABSENT, Cause.APPROXIMATE]
    vector = findings.vector
    if Cause.VECTOR in faults and (vector.decisive or vector.evidence["cosine"] < FAR_OFF):
        order.append(Cause.VECTOR)
    order.append(Cause.WINDOW)
    superseders = findings.superseded.evidence.get("superseded_by", [])
    if any(row["rank"] is not None and row["rank"] <= k for row in superseders):
        order.append(Cause.SUPERSEDED)
    order.append(Cause.BLEND)
    bm25 = findings.words.evidence["bm25_rank"] if Cause.LEXICAL in faults else None
    if bm25 is not None and bm25 <= k:
        order.append(Cause.LEXICAL)
    hubs = findings.hubs.evidence
    if Cause.HUBS in faults and hubs["hubs_above"] >= CROWD * hubs["documents_above"]:
        order.append(Cause.HUBS)
    order += [Cause.LEXICAL, Cause.VECTOR, Cause.SUPERSEDED]
    if Cause.ENTITIES in faults and _most_are_low(findings.entities):
        order.append(Cause.ENTITIES)
    return [*order, Cause.HUBS]


def _most_are_low(finding: Finding[RpsEvidence]) -> bool:
    return finding.evidence["below_tau"] >= MOST * finding.evidence["measured"]


def _came_back(place: Standing) -> str:
    best = place.views[0]
    view = "its own text" if best.kind == "original" else f"its {best.kind} view {best.id}"
    if place.ranked_by != "fused":
        return f"came back: rank {place.rank}, through {view} (score {best.score:.4f})"
    parts = f"dense rank {place.dense.rank} through {view}, BM25 rank {place.bm25.rank or 'none'}"
    return f"came back: rank {place.rank} by {place.fusion} ({parts})"


def _where(place: Standing, k: int) -> str:
    rank = place.rank if place.ranked_by == "fused" else place.dense.rank
    reached = f"rank {rank}" if rank is not None else f"not among {place.fused.of}"
    missing = f", {place.gap:.4f} short of the top {k}" if place.gap else ""
    of = "" if place.ranked_by == "fused" else f" of {place.dense.of}"
    return f"{reached}{of}{missing}"
