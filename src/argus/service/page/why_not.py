"""Show the page that explains why a document is not found for a question, and tries changes.

A question and a document -> the causes by `argus.explanation` and, for an index, the rank that each
change of the search would give. It offers failed questions of earlier jobs as examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.data.tables import read_names, read_table
from argus.data.types import Document
from argus.data.types import Query as Topic
from argus.errors import ArgusError
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Explanation, Finding, Verdict
from argus.explanation.job import explain
from argus.indexes.header import IndexSpec
from argus.indexes.lexical import LONG_WORD, Analyzer
from argus.service.page.indexes import (
    Warm,
    WarmIndexes,
    document_of,
    index_of,
    nearest_titles,
    titled,
)
from argus.service.page.questions import read_judged
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values
from argus.service.searcher import IndexSource
from argus.service.state import Service
from argus.service.workplace import Workplace

MAX_K = 1000
MAX_EXAMPLES, DEPTH = 8, 10
AT_ONCE, MAX_ASKED, DEEPEST = 40, 120, 100
"""Questions that an index is asked at once and at most, and how far down a rank is looked for."""
# Columns of misses.parquet: a text of a document, the document, the place that it had.
MISSED = ("query", "id", "rank")
HEADINGS = {
    Verdict.FOUND: "Causes found",
    Verdict.UNCHECKED: "Could not check",
    Verdict.RULED_OUT: "Ruled out",
}
# Parts of a blend that are switched off, in words.
WITHOUT = {
    "sentences": "without its sentences",
    "bm25": "without BM25",
    "correction": "without the correction of the question",
}
# The repair of an index for each cause.
REPAIRS: dict[Cause | None, str] = {
    Cause.LEXICAL: "expand",
    Cause.HUBS: "blend",
}
K = Annotated[int, Query(ge=1, le=MAX_K)]
Words = Annotated[str, Query(max_length=4000)]
Piece = tuple[str, bool]
"""A part of a text, and whether the question says it, too."""
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/why-not")
def why_not(page: PageOf, warm: Warm, q: Words = "", doc: Words = "", k: K = 10) -> HTMLResponse:
    """Ask for a question and a document. With both, say why it does not come back."""
    place, service = page.place, page.service
    asking: Values = {"q": q, "doc": doc, "k": k}
    if not page.is_searched:
        return page.render("why_not.html.j2", searched=None, **asking)
    spec = None if place.asks else index_of(place, page.path)
    part = "why_not_retriever.html.j2" if spec is None else "why_not_answer.html.j2"
    answer: Values | None = None
    empty = [name for name, text in (("question", q), ("document", doc)) if not text.strip()]
    lacking = "both" if len(empty) == 2 else "".join(empty)
    if not lacking and service.searcher.state() == "opening":
        part, answer = "why_not_opening.html.j2", {"is_open": False}
    elif not lacking:
        answer = (
            _explain_retriever(service, q, doc, k) if spec is None
            else _explain_index(service, warm, spec, q, doc, k)
        )  # fmt: skip
    if page.is_part:
        part = "why_not_lacking.html.j2" if lacking else part
        return page.part(part, answer=answer, lacking=lacking, **asking)
    examples = _failed_questions(page.path, place, spec, warm) if lacking and page.path else []
    return page.render(
        "why_not.html.j2", part=part, answer=answer, lacking=lacking,
        searched=str(spec or service.searcher.name), examples=examples[:MAX_EXAMPLES],
        by_index=spec is not None, **asking,
    )  # fmt: skip


@router.get("/page/{folder}/titles")
def titles(page: PageOf, warm: Warm, doc: Words = "") -> HTMLResponse:
    """Offer documents whose title or id holds some words, for a list beside a field."""
    if page.place.asks:
        documents = _titles_of_corpus(page.service, doc)
    else:
        documents = titled(warm.snapshot(index_of(page.place, page.path)), doc)
    return page.part("titles.html.j2", documents=documents)


def _explain_index(
    service: Service, warm: WarmIndexes, spec: IndexSpec, q: str, doc: str, k: int
) -> Values:
    """Return the explanation of an index for the template, or the documents that may be meant."""
    snapshot, fold = warm.snapshot(spec), service.fold
    if doc not in snapshot and not (fold is not None and doc in fold.parents):
        meant = titled(snapshot, doc)
        if (one := _only_one(doc, meant)) is None:
            return {"meant": meant}
        doc = one
    retriever = warm.retriever(spec)
    authority = None if service.authority is None else service.authority.around(doc)
    explanation = explain(q, doc, retriever, ExplainConfig(k=k), authority=authority, fold=fold)
    chunks = frozenset([doc]) if fold is None else fold.chunks_of(doc)
    ranked = retriever.search([Topic("query", q)], k + len(chunks))["query"]
    own = document_of(snapshot, explanation.chunk or doc)
    rivals = [document_of(snapshot, one) for one in ranked if one not in chunks]
    texts, analyzer = [own, *rivals[:1]], retriever.lexical().analyzer
    said = {term for one in texts for term in analyzer.documents(f"{one.title} {one.text}")}
    terms = said.intersection(analyzer.query_forms(q))
    repair = None if explanation.came_back else REPAIRS.get(explanation.cause)
    return {
        "explanation": explanation,
        "findings": _group_findings(explanation.findings, explanation.cause),
        "previews": _previews(explanation),
        "repair": repair,
        "question": mark_terms(q, terms, analyzer),
        "texts": [
            (one, mark_terms(one.title, terms, analyzer), mark_terms(one.text, terms, analyzer))
            for one in texts
        ],
        "own": own,
    }  # fmt: skip


def _explain_retriever(service: Service, q: str, doc: str, k: int) -> Values:
    """Return the explanation of a retriever or store, or the documents that may be meant."""
    source, fold = service.searcher.source(), service.fold

    def texts_of(doc: str) -> list[tuple[str, str]]:
        chunks = [doc] if fold is None else sorted(fold.chunks_of(doc))
        return list(source.texts(chunks).values())

    if not texts_of(doc):
        meant = _titles_of_corpus(service, doc)
        if (one := _only_one(doc, meant)) is None:
            return {"meant": meant}
        doc = one
    explanation, texts = service.explain(q, doc, k), texts_of(doc)
    return {
        "explanation": explanation,
        "findings": _group_findings(explanation.findings, explanation.cause),
        "title": next((title for title, _ in texts if title), ""),
        "text": "\n".join(text for _, text in texts),
    }


def _titles_of_corpus(service: Service, words: str) -> list[Document]:
    """Return documents of the corpus whose title or id holds some words. None without a corpus."""
    source, low = service.searcher.source(), words.strip().casefold()
    if not low or isinstance(source, IndexSource):
        return []
    alike = (d for d in source.documents if low in d.title.casefold() or low in d.id.casefold())
    return nearest_titles(alike, words)


def _only_one(words: str, meant: Sequence[Document]) -> str | None:
    """Return the id of the one document with exactly this title, None if others may be meant.

    Where none is meant, the words may be an id that is not known.
    """
    alike = [one.id for one in meant if one.title.casefold() == words.strip().casefold()]
    return alike[0] if len(alike) == 1 else None if meant else words


def _group_findings(
    findings: Sequence[Finding], cause: Cause | None
) -> list[tuple[str, list[Finding]]]:
    """Return the findings by their conclusion, the likeliest cause first."""
    ordered = sorted(findings, key=lambda finding: finding.cause is not cause)
    groups = [(h, [f for f in ordered if f.state is state]) for state, h in HEADINGS.items()]
    return [group for group in groups if group[1]]


def _failed_questions(
    folder: Path, place: Workplace, spec: IndexSpec | None, warm: WarmIndexes
) -> Rows:
    """Return questions whose document was not in the first DEPTH when a job asked them.

    Judged ones come first, then a document's own texts. rank: of the document, None where it did
    not come. Of an index, those that fail in it as it is, with their ranks, until enough do.
    """
    judged, path = read_judged(folder, place), folder / "misses.parquet"
    asked = [(row["text"], row["wanted"], row["rank"]) for row in (judged or {}).get("rows", ())]
    if path.is_file() and set(MISSED) <= read_names(path):
        rows = read_table(path, MISSED).to_pylist()
        rows.sort(key=lambda row: row["rank"] or 10**9)
        asked += [tuple(row[name] for name in MISSED) for row in rows]
    failed: Rows = [
        {"question": question, "document": str(wanted).split(", ")[0], "rank": rank}
        for question, wanted, rank in asked
        if wanted and (rank is None or rank > DEPTH)
    ]
    failed = failed[:MAX_ASKED]
    if spec is None or not failed:
        return failed
    failing: Rows = []
    try:
        retriever = warm.retriever(spec)
        while failed and len(failing) < MAX_EXAMPLES:
            batch, failed = failed[:AT_ONCE], failed[AT_ONCE:]
            topics = [Topic(str(i), row["question"]) for i, row in enumerate(batch)]
            run = retriever.search(topics, DEEPEST)
            for i, row in enumerate(batch):
                places = {doc: place for place, doc in enumerate(run[str(i)], 1)}
                row["rank"] = places.get(row["document"])
            failing += [row for row in batch if row["rank"] is None or row["rank"] > DEPTH]
    except ArgusError:  # a question raises it again
        return []
    return failing


def _previews(explanation: Explanation) -> Rows:
    """Return each change with the rank that it would give, those that bring it back first.

    rank: None beyond the depth of the search.
    """
    standing, k = explanation.standing, explanation.k
    by_change: dict[str, Values] = {}

    def add(change: str, rank: int | None) -> None:
        brings_back = rank is not None and rank <= k
        by_change[change] = {"change": change, "rank": rank, "brings_back": brings_back}

    if standing.ranked_by != "fused":
        add(f"with BM25 ({standing.fusion})", standing.fused.rank)
    for finding in explanation.findings:
        evidence, cause = finding.evidence, finding.cause
        if cause is Cause.VECTOR and "rank_with_its_own_vector" in evidence:
            add("with the vector of its text", evidence["rank_with_its_own_vector"])
        if cause is Cause.WINDOW and "rank_of_unread_part" in evidence:
            add("by the part that was not read", evidence["rank_of_unread_part"])
        by_vectors = standing.ranked_by != "fused"  # hubs are counted among those above it there
        if by_vectors and "rank_without_hubs" in evidence and evidence["hubs_above"]:
            change = "without the hubs above it (documents that come back for much else)"
            add(change, evidence["rank_without_hubs"])
        if cause is Cause.BLEND and "rank_without" in evidence:
            for part, rank in evidence["rank_without"].items():
                add(WITHOUT.get(part, f"without {part}"), rank)
    far = 10**9
    return sorted(
        by_change.values(), key=lambda p: (not p["brings_back"], p["rank"] or far, p["change"])
    )


def mark_terms(text: str, terms: set[str], analyzer: Analyzer) -> list[Piece]:
    """Split a text into pieces, those apart whose words are among some terms.

    terms: as `analyzer.documents` makes them. Joined, the pieces are the text again.
    """
    pieces: list[Piece] = []
    end = 0
    for word in LONG_WORD.finditer(text):
        if not terms.isdisjoint(analyzer.documents(word[0])):
            if word.start() > end:
                pieces.append((text[end : word.start()], False))
            pieces.append((word[0], True))
            end = word.end()
    return [*pieces, (text[end:], False)] if end < len(text) else pieces
