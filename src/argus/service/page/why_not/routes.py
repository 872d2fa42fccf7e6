"""The page that says why a document does not come back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.data.types import Query as Topic
from argus.errors import ArgusError
from argus.explanation.config import ExplainConfig
from argus.explanation.job import explain
from argus.indexes.spec import IndexSpec
from argus.remedies.blend.preview import NEAREST, can_preview, preview_blend
from argus.service.page.availability import is_searched
from argus.service.page.holding import Warm, WarmIndexes, index_of
from argus.service.page.marking import marked, shared_terms
from argus.service.page.rendering import PageRoute, folder_path, fragment, is_fragment, render
from argus.service.page.rows import Values
from argus.service.page.titles import text_of, titled
from argus.service.page.why_not.answers import Asking, grouped, meant_by
from argus.service.page.why_not.examples import MOST, FailedQuestion, failed_questions, failing_now
from argus.service.page.why_not.fixes import previews, repair_of
from argus.service.page.why_not.of_retriever import answer_of_retriever, titles_of
from argus.service.state import Service, ServiceOf
from argus.verdict.reading import Results

router = APIRouter(route_class=PageRoute)
MOST_K = 1000
K = Annotated[int, Query(ge=1, le=MOST_K)]
Words = Annotated[str, Query(max_length=4000)]


@router.get("/page/{folder}/why-not")
def why_not(
    request: Request, folder: str, service: ServiceOf, warm: Warm, q: Words = "", doc: Words = "",
    k: K = 10,
) -> HTMLResponse:  # fmt: skip
    """Ask why a document does not come back for a question; with both, answer."""
    place = service.workplace
    path = folder_path(place, folder)
    asking: Values = {"q": q, "doc": doc, "k": k, "folder": folder}
    if not is_searched(place, path):
        return render(
            request, "why_not.html.j2", "why-not", folder, searched=None, **asking_only(asking)
        )
    spec = None if place.asks else index_of(place, path)
    part = "why_not_retriever.html.j2" if spec is None else "why_not_answer.html.j2"
    answer: Values | None = None
    lacking, question = _lacking(q, doc), Asking(q, doc, k)
    if not lacking and (seconds := service.searcher.opening_s()) is not None:
        part, answer = "why_not_opening.html.j2", {"seconds": round(seconds)}
    elif not lacking and spec is None:
        answer = answer_of_retriever(service, question)
    elif not lacking and spec is not None:
        answer = _answer(service, warm, spec, question)
    if is_fragment(request):
        part = "why_not_lacking.html.j2" if lacking else part
        return fragment(part, answer=answer, lacking=lacking, **asking)
    return render(
        request, "why_not.html.j2", "why-not", folder, part=part, answer=answer, lacking=lacking,
        searched=str(spec or service.searcher.name), examples=_examples(path, warm, spec, lacking),
        by_index=spec is not None, **asking_only(asking),
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


def _examples(
    folder: Path | None, warm: WarmIndexes, spec: IndexSpec | None, lacking: str
) -> list[FailedQuestion]:
    """Return questions that fail in an index as it is; of a retriever, when a job asked them."""
    candidates = failed_questions(folder) if lacking else []
    if spec is None or not candidates:
        return candidates[:MOST]
    try:
        return failing_now(candidates, warm.retriever(spec))
    except ArgusError:  # whoever asks a question is told
        return []


def _lacking(q: str, doc: str) -> str:
    """Return which of the two was left out, "" where neither was, "both" where both were."""
    if not q.strip():
        return "question" if doc.strip() else "both"
    return "" if doc.strip() else "document"


def asking_only(asking: Values) -> Values:
    """Return what was typed, without the folder, which every page has."""
    return {name: value for name, value in asking.items() if name != "folder"}


@router.get("/page/{folder}/titles")
def titles(folder: str, service: ServiceOf, warm: Warm, doc: Words = "") -> HTMLResponse:
    """Offer documents whose title or id holds some words, for a list beside a field."""
    place, path = service.workplace, folder_path(service.workplace, folder)
    if not place.asks:
        documents = titled(warm.snapshot(index_of(place, path)), doc)
    else:
        documents = titles_of(service, doc)
    return fragment("titles.html.j2", documents=documents)


def _answer(service: Service, warm: WarmIndexes, spec: IndexSpec, asking: Asking) -> Values:
    """Return what the template shows: an explanation, or the documents that may be meant."""
    q, doc = asking.question, asking.document
    snapshot = warm.snapshot(spec)
    fold = service.fold
    if doc not in snapshot and not (fold is not None and doc in fold.parents):
        meant = titled(snapshot, doc)
        one = meant_by(doc, meant)
        if one is None and meant:
            return {"meant": meant}
        doc = doc if one is None else one.id
    retriever = warm.retriever(spec)
    authority = None if service.authority is None else service.authority.around(doc)
    explanation = explain(
        q, doc, retriever, ExplainConfig(k=asking.k), authority=authority, fold=fold
    )
    chunks = frozenset([doc]) if fold is None else fold.chunks_of(doc)
    ranked = retriever.search([Topic("query", q)], asking.k + len(chunks))["query"]
    rival = next((one for one in ranked if one not in chunks), None)
    analyzer = retriever.lexical().analyzer
    own = text_of(snapshot, explanation.chunk or doc)
    other = text_of(snapshot, rival) if rival is not None else None
    texts = [text for text in (own, other) if text is not None]
    places = Results.of(spec.path).places
    terms = shared_terms(q, [f"{one.title} {one.text}" for one in texts], analyzer)
    return {
        "explanation": explanation,
        "findings": grouped(explanation.findings, explanation.cause),
        "previews": previews(explanation, places),
        "has_preview": not (explanation.came_back or fold) and doc in snapshot
        and can_preview(retriever),  # it ranks what is indexed, chunks
        "repair": "" if explanation.came_back else repair_of(explanation, places),
        "question": marked(q, terms, analyzer),
        "texts": [(one, marked(one.title, terms, analyzer), marked(one.text, terms, analyzer))
                  for one in texts],
        "own": own,
    }  # fmt: skip
