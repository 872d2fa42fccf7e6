"""The page that says why a document does not come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.data.types import Query as Topic
from argus.explanation.config import ExplainConfig
from argus.explanation.job import explain
from argus.explanation.types import Explanation, Finding, Verdict
from argus.indexes.spec import IndexSpec
from argus.remedies.blend.preview import NEAREST, can_preview, preview_blend
from argus.service.page.availability import has_index
from argus.service.page.holding import Warm, WarmIndexes, index_of
from argus.service.page.marking import marked, shared_terms
from argus.service.page.rendering import PageRoute, folder_path, fragment, is_fragment, render
from argus.service.page.rows import Values
from argus.service.page.titles import text_of, titled
from argus.service.page.why_not.examples import failed_questions
from argus.service.page.why_not.fixes import previews, repair_of
from argus.service.state import Service, ServiceOf

router = APIRouter(route_class=PageRoute)
MOST_K = 1000
K = Annotated[int, Query(ge=1, le=MOST_K)]
Words = Annotated[str, Query(max_length=4000)]
ORDER = (Verdict.FOUND, Verdict.UNCHECKED, Verdict.RULED_OUT)
HEADINGS = {
    Verdict.FOUND: "Causes found",
    Verdict.UNCHECKED: "Could not check",
    Verdict.RULED_OUT: "Ruled out",
}


@router.get("/page/{folder}/why-not")
def why_not(
    request: Request, folder: str, service: ServiceOf, warm: Warm, q: Words = "", doc: Words = "",
    k: K = 10,
) -> HTMLResponse:  # fmt: skip
    """Ask why a document does not come back for a question; with both, answer."""
    path = folder_path(service.workplace, folder)
    asking: Values = {"q": q, "doc": doc, "k": k, "folder": folder}
    if not has_index(service.workplace, path):
        return render(
            request, "why_not.html.j2", "why-not", folder, index=None, **asking_only(asking)
        )
    spec = index_of(service.workplace, path)
    answer = None
    if q.strip() and doc.strip():
        answer = _answer(service, warm, spec, Asking(q, doc, k))
    if is_fragment(request):
        return fragment("why_not_answer.html.j2", answer=answer, **asking)
    examples = failed_questions(path)
    return render(
        request, "why_not.html.j2", "why-not", folder,
        index=str(spec), answer=answer, examples=examples, **asking_only(asking),
    )  # fmt: skip


@router.get("/page/{folder}/why-not/blend")
async def blend(
    folder: str, service: ServiceOf, warm: Warm, q: Words, doc: Words, k: K = 10
) -> HTMLResponse:
    """Say where a document would come for a question if the index had the default blend."""
    spec = index_of(service.workplace, folder_path(service.workplace, folder))
    told = await to_thread.run_sync(
        lambda: preview_blend(q, doc, warm.retriever(spec), k), limiter=service.explaining
    )
    return fragment("why_not_blend.html.j2", told=told, k=k, nearest=NEAREST, folder=folder)


def asking_only(asking: Values) -> Values:
    """Return what was typed, without the folder, which every page has."""
    return {name: value for name, value in asking.items() if name != "folder"}


@router.get("/page/{folder}/titles")
def titles(folder: str, service: ServiceOf, warm: Warm, doc: Words = "") -> HTMLResponse:
    """Offer documents whose title or id holds some words, for a list beside a field."""
    spec = index_of(service.workplace, folder_path(service.workplace, folder))
    return fragment("titles.html.j2", documents=titled(warm.snapshot(spec), doc))


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, the document that should come back, and within how many."""

    question: str
    document: str
    k: int


def _answer(service: Service, warm: WarmIndexes, spec: IndexSpec, asking: Asking) -> Values:
    """Return what the template shows: an explanation, or the documents that may be meant."""
    q, doc = asking.question, asking.document
    snapshot = warm.snapshot(spec)
    if doc not in snapshot:
        meant = titled(snapshot, doc)
        alike = [one for one in meant if one.title.casefold() == doc.strip().casefold()]
        if len(alike) != 1 and meant:
            return {"meant": meant}
        doc = alike[0].id if alike else doc
    retriever = warm.retriever(spec)
    authority = None if service.authority is None else service.authority.around(doc)
    explanation = explain(q, doc, retriever, ExplainConfig(k=asking.k), authority=authority)
    ranked = retriever.search([Topic("query", q)], asking.k + 1)["query"]
    rival = _rival(explanation, list(ranked))
    analyzer = retriever.lexical().analyzer
    own = text_of(snapshot, doc)
    other = text_of(snapshot, rival) if rival is not None else None
    texts = [text for text in (own, other) if text is not None]
    terms = shared_terms(q, [f"{one.title} {one.text}" for one in texts], analyzer)
    return {
        "explanation": explanation,
        "findings": _grouped(explanation),
        "previews": previews(explanation),
        "has_preview": not explanation.came_back and doc in snapshot and can_preview(retriever),
        "repair": "" if explanation.came_back else repair_of(explanation),
        "question": marked(q, terms, analyzer),
        "texts": [(one, marked(one.title, terms, analyzer), marked(one.text, terms, analyzer))
                  for one in texts],
        "own": own,
    }  # fmt: skip


def _rival(explanation: Explanation, ranked: list[str]) -> str | None:
    """Return the first document that came instead."""
    return next((one for one in ranked if one != explanation.doc_id), None)


def _grouped(explanation: Explanation) -> list[tuple[str, list[Finding[Any]]]]:
    """Return the findings by what was concluded, the likeliest cause first."""
    cause = explanation.cause
    groups = []
    for state in ORDER:
        own = [finding for finding in explanation.findings if finding.state is state]
        if own:
            groups.append((HEADINGS[state], sorted(own, key=lambda f: f.cause is not cause)))
    return groups
