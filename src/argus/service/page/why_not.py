"""Say why a document does not come back for a question, and what would bring it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.commands import command
from argus.data.tables import read_names, read_table
from argus.data.types import Query as Topic
from argus.errors import ArgusError
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Explanation, Finding, Verdict
from argus.explanation.job import explain
from argus.explanation.run import explain_served
from argus.indexes.retriever import IndexRetriever
from argus.indexes.spec import IndexSpec
from argus.indexes.words import LONG_WORD, Analyzer
from argus.remedies.blend.preview import NEAREST, can_preview, preview_blend
from argus.service.page.indexes import (
    DocumentText,
    Warm,
    WarmIndexes,
    index_of,
    nearest_titles,
    text_of,
    titled,
)
from argus.service.page.rendering import (
    PageRoute,
    Rows,
    Values,
    folder_path,
    fragment,
    is_fragment,
    is_searched,
    render,
)
from argus.service.searcher import IndexSource
from argus.service.state import Service, ServiceOf
from argus.service.workplace import run_config
from argus.verdict.counts import Results
from argus.verdict.places import Places

MAX_K = 1000
MAX_EXAMPLES, DEPTH = 8, 10
AT_ONCE, MAX_ASKED, DEEPEST = 40, 120, 100
"""Questions that an index is asked at once and at most, and how far down a rank is looked for."""
SOURCES = (("questions", "question", "wanted"), ("misses", "query", "id"))
"""Tables of questions, and the columns of the question and of the wanted document."""
HEADINGS = {
    Verdict.FOUND: "Causes found",
    Verdict.UNCHECKED: "Could not check",
    Verdict.RULED_OUT: "Ruled out",
}
WITHOUT = {
    "sentences": "without its sentences",
    "hubs": "without the hub correction",
    "bm25": "without BM25",
    "correction": "without the correction of the question",
}
"""Parts of a blend that are switched off, in words."""
MEND = {Cause.LEXICAL: "expand", Cause.ENTITIES: "expand", Cause.HUBS: "blend"}
"""By cause, the repair of an index that is made for it."""
K = Annotated[int, Query(ge=1, le=MAX_K)]
Words = Annotated[str, Query(max_length=4000)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/why-not")
def why_not(
    request: Request, folder: str, service: ServiceOf, warm: Warm, q: Words = "", doc: Words = "",
    k: K = 10,
) -> HTMLResponse:  # fmt: skip
    """Ask why a document does not come back for a question; with both, answer."""
    place = service.workplace
    path = folder_path(place, folder)
    asking: Values = {"q": q, "doc": doc, "k": k}
    if not is_searched(place, path):
        return render(request, "why_not.html.j2", "why-not", folder, searched=None, **asking)
    spec = None if place.asks else index_of(place, path)
    part = "why_not_retriever.html.j2" if spec is None else "why_not_answer.html.j2"
    answer: Values | None = None
    lacking = {(True, True): "", (True, False): "document", (False, True): "question"}.get(
        (bool(q.strip()), bool(doc.strip())), "both"
    )
    if not lacking and (seconds := service.searcher.opening_s()) is not None:
        part, answer = "why_not_opening.html.j2", {"seconds": round(seconds)}
    elif not lacking and spec is None:
        answer = _of_retriever(service, q, doc, k)
    elif not lacking and spec is not None:
        answer = _of_index(service, warm, spec, q, doc, k)
    if is_fragment(request):
        part = "why_not_lacking.html.j2" if lacking else part
        return fragment(part, answer=answer, lacking=lacking, folder=folder, **asking)
    examples = failed_questions(path) if lacking else []
    if spec is not None and examples:
        try:
            examples = _failing_now(examples, warm.retriever(spec))
        except ArgusError:  # a question raises it again
            examples = []
    return render(
        request, "why_not.html.j2", "why-not", folder, part=part, answer=answer, lacking=lacking,
        searched=str(spec or service.searcher.name), examples=examples[:MAX_EXAMPLES],
        by_index=spec is not None, **asking,
    )  # fmt: skip


@router.get("/page/{folder}/why-not/blend")
async def blend(
    folder: str, service: ServiceOf, warm: Warm, q: Words, doc: Words, k: K = 10
) -> HTMLResponse:
    """Say where a document would come for a question if the index had the default blend."""
    spec = index_of(service.workplace, folder_path(service.workplace, folder))
    preview = await to_thread.run_sync(
        lambda: preview_blend(q, doc, warm.retriever(spec), k), limiter=service.explaining
    )
    return fragment("why_not_blend.html.j2", preview=preview, k=k, nearest=NEAREST, folder=folder)


@router.get("/page/{folder}/titles")
def titles(folder: str, service: ServiceOf, warm: Warm, doc: Words = "") -> HTMLResponse:
    """Offer documents whose title or id holds some words, for a list beside a field."""
    place = service.workplace
    path = folder_path(place, folder)
    if place.asks:
        documents = _titles_of_corpus(service, doc)
    else:
        documents = titled(warm.snapshot(index_of(place, path)), doc)
    return fragment("titles.html.j2", documents=documents)


def _of_index(
    service: Service, warm: WarmIndexes, spec: IndexSpec, q: str, doc: str, k: int
) -> Values:
    """Return the explanation of an index for the template, or the documents that may be meant."""
    snapshot, fold = warm.snapshot(spec), service.fold
    if doc not in snapshot and not (fold is not None and doc in fold.parents):
        meant = titled(snapshot, doc)
        if (one := _exactly(doc, meant)) is None and meant:
            return {"meant": meant}
        doc = doc if one is None else one.id
    retriever = warm.retriever(spec)
    authority = None if service.authority is None else service.authority.around(doc)
    explanation = explain(q, doc, retriever, ExplainConfig(k=k), authority=authority, fold=fold)
    chunks = frozenset([doc]) if fold is None else fold.chunks_of(doc)
    ranked = retriever.search([Topic("query", q)], k + len(chunks))["query"]
    rival = next((one for one in ranked if one not in chunks), None)
    analyzer = retriever.lexical().analyzer
    own = text_of(snapshot, explanation.chunk or doc)
    texts = [own] if rival is None else [own, text_of(snapshot, rival)]
    places = Results.of(spec.path).places
    terms = shared_terms(q, [f"{one.title} {one.text}" for one in texts], analyzer)
    mend = None if explanation.came_back else MEND.get(explanation.cause)  # type: ignore[arg-type]
    made_of = ["--kb", places.kb or "KB"] if mend == "expand" else []
    return {
        "explanation": explanation,
        "findings": _grouped(explanation.findings, explanation.cause),
        "previews": _previews(explanation, places),
        "has_preview": not (explanation.came_back or fold) and doc in snapshot
        and can_preview(retriever),  # it ranks what is indexed, chunks
        "repair": command("remedy", mend, *made_of, "--index", places.out) if mend else "",
        "question": marked(q, terms, analyzer),
        "texts": [(one, marked(one.title, terms, analyzer), marked(one.text, terms, analyzer))
                  for one in texts],
        "own": own,
    }  # fmt: skip


def _of_retriever(service: Service, q: str, doc: str, k: int) -> Values:
    """Return the explanation of a retriever or store, or the documents that may be meant."""
    source, fold = service.searcher.source(), service.fold
    documents = () if isinstance(source, IndexSource) else source.documents
    chunks = frozenset([doc]) if fold is None else fold.chunks_of(doc)
    if not source.texts(chunks) and (meant := _titles_of_corpus(service, doc)):
        if (one := _exactly(doc, meant)) is None:
            return {"meant": meant}
        doc = one.id
        chunks = frozenset([doc]) if fold is None else fold.chunks_of(doc)
    authority = None if service.authority is None else service.authority.around(doc)
    config = run_config(service.workplace, k)
    explanation = explain_served(q, doc, service.searcher, documents, config, authority)
    texts = source.texts(sorted(chunks)).values()
    return {
        "explanation": explanation,
        "findings": _grouped(explanation.findings, explanation.cause),
        "title": next((title for title, _ in texts if title), ""),
        "text": "\n".join(text for _, text in texts),
    }


def _titles_of_corpus(service: Service, words: str) -> list[DocumentText]:
    """Return documents of the corpus whose title or id holds some words; none without a corpus."""
    source, low = service.searcher.source(), words.strip().casefold()
    if not low or isinstance(source, IndexSource):
        return []
    hits = (
        DocumentText(one.id, one.title)
        for one in source.documents
        if low in one.title.casefold() or low in one.id.casefold()
    )
    return nearest_titles(hits, words)


def _exactly(words: str, meant: Sequence[DocumentText]) -> DocumentText | None:
    """Return the one document that has exactly this title; None where none or several have."""
    alike = [one for one in meant if one.title.casefold() == words.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _grouped(findings: Sequence[Finding], cause: Cause | None) -> list[tuple[str, list[Finding]]]:
    """Return the findings by their conclusion, the likeliest cause first."""
    groups = [
        (
            heading,
            sorted((f for f in findings if f.state is state), key=lambda f: f.cause is not cause),
        )
        for state, heading in HEADINGS.items()
    ]
    return [group for group in groups if group[1]]


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question, the document that was wanted, and where it came; None where it did not."""

    question: str
    document: str
    rank: int | None


def failed_questions(folder: Path | None) -> list[FailedQuestion]:
    """Return questions whose document was not in the first DEPTH when a job asked them.

    Judged ones come first, then the nearest.
    """
    failed: list[FailedQuestion] = []
    for name, question, target in SOURCES if folder else ():
        path = folder / f"{name}.parquet"  # type: ignore[operator]
        if not path.is_file() or not {question, target, "rank"} <= read_names(path):
            continue
        rows: Rows = read_table(path, [question, target, "rank"]).to_pylist()
        own = [
            FailedQuestion(row[question], str(row[target]).split(", ")[0], row["rank"])
            for row in rows
            if row["rank"] is None or row["rank"] > DEPTH
        ]
        failed += sorted(own, key=lambda one: one.rank or 10**9)[:MAX_ASKED]
    return failed[:MAX_ASKED]


def _failing_now(
    candidates: list[FailedQuestion], retriever: IndexRetriever
) -> list[FailedQuestion]:
    """Return the questions that fail in an index as it is, with their ranks, until enough do."""
    failing: list[FailedQuestion] = []
    for start in range(0, len(candidates), AT_ONCE):
        batch = candidates[start : start + AT_ONCE]
        run = retriever.search([Topic(str(i), q.question) for i, q in enumerate(batch)], DEEPEST)
        for i, one in enumerate(batch):
            places = {doc: place for place, doc in enumerate(run[str(i)], 1)}
            rank = places.get(one.document)
            if rank is None or rank > DEPTH:
                failing.append(replace(one, rank=rank))
        if len(failing) >= MAX_EXAMPLES:
            break
    return failing


def _previews(explanation: Explanation, places: Places) -> Rows:
    """Return each change with the rank that it would give, what brings the document back first.

    rank: None beyond what was looked at. command: what makes the change; "" where none does.
    """
    far, by_change = 10**9, {row["change"]: row for row in _changes(explanation, places)}
    return sorted(
        by_change.values(), key=lambda p: (not p["brings_back"], p["rank"] or far, p["change"])
    )


def _changes(explanation: Explanation, places: Places) -> Iterator[Values]:
    place, index, k = explanation.standing, explanation.index, explanation.k

    def preview(change: str, rank: int | None, made_by: str = "") -> Values:
        brings_back = rank is not None and rank <= k
        return {"change": change, "rank": rank, "brings_back": brings_back, "command": made_by}

    if place.ranked_by != "fused":
        fused = command("search", explanation.query, "--index", index, "--hybrid", place.fusion)
        yield preview(f"with BM25 ({place.fusion})", place.fused.rank, fused)
    if place.approximate is not None and place.ranked_by == "approximate":
        yield preview("searched exactly", place.dense.rank)
    for finding in explanation.findings:
        evidence, cause = finding.evidence, finding.cause
        if cause is Cause.VECTOR and "rank_with_its_own_vector" in evidence:
            again = f"{places.indexing_again} --fresh"
            yield preview(
                "with the vector of its text", evidence["rank_with_its_own_vector"], again
            )
        if cause is Cause.WINDOW and "rank_of_unread_part" in evidence:
            yield preview("by the part that was not read", evidence["rank_of_unread_part"])
        by_vectors = place.ranked_by != "fused"  # hubs are counted among what these put above it
        if by_vectors and "rank_without_hubs" in evidence and evidence["hubs_above"]:
            blended = any(f.cause is Cause.BLEND for f in explanation.findings)
            blend = "" if blended else command("remedy", "blend", "--index", places.out)
            yield preview("without the hubs above it", evidence["rank_without_hubs"], blend)
        if cause is Cause.BLEND and "rank_without" in evidence:
            for part, rank in evidence["rank_without"].items():
                yield preview(WITHOUT.get(part, f"without {part}"), rank)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. is_match: whether the other text says it, too."""

    text: str
    is_match: bool


def marked(text: str, terms: frozenset[str], analyzer: Analyzer) -> list[Piece]:
    """Return a text in pieces, those apart whose words are among some terms.

    terms: as `analyzer.documents` makes them. Joined, the pieces are the text again.
    """
    pieces, end = [], 0
    for word in LONG_WORD.finditer(text):
        if terms.isdisjoint(analyzer.documents(word[0])):
            continue
        if word.start() > end:
            pieces.append(Piece(text[end : word.start()], False))
        pieces.append(Piece(word[0], True))
        end = word.end()
    if end < len(text):
        pieces.append(Piece(text[end:], False))
    return pieces


def shared_terms(question: str, texts: list[str], analyzer: Analyzer) -> frozenset[str]:
    """Return the terms of a question that one of some texts says."""
    vocabulary = {term for text in texts for term in analyzer.documents(text)}
    return frozenset(term for term in analyzer.query_forms(question) if term in vocabulary)
