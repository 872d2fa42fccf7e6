"""Why a document does not come back from a retriever or a store: its ranking, and BM25's."""

from __future__ import annotations

from argus.explanation.of_retriever import explain_served
from argus.service.page.rows import Values
from argus.service.page.titles import Titled, nearest_titles
from argus.service.page.why_not.answers import Asking, grouped, meant_by
from argus.service.searching.sources import ServedRetriever
from argus.service.state import Service
from argus.service.workplace import run_config


def titles_of(service: Service, words: str) -> list[Titled]:
    """Return documents of the corpus whose title or id holds some words; none without a corpus."""
    source, low = service.searcher.source(), words.strip().casefold()
    if not low or not isinstance(source, ServedRetriever):
        return []
    hits = (
        Titled(one.id, one.title)
        for one in source.documents
        if low in one.title.casefold() or low in one.id.casefold()
    )
    return nearest_titles(hits, words)


def answer_of_retriever(service: Service, asking: Asking) -> Values:
    """Return what the template shows: an explanation, or the documents that may be meant."""
    source, doc = service.searcher.source(), asking.document
    documents = source.documents if isinstance(source, ServedRetriever) else ()
    chunks = frozenset([doc]) if service.fold is None else service.fold.chunks_of(doc)
    if not source.texts(chunks) and (meant := titles_of(service, doc)):
        one = meant_by(doc, meant)
        if one is None:
            return {"meant": meant}
        doc = one.id
        chunks = frozenset([doc]) if service.fold is None else service.fold.chunks_of(doc)
    authority = None if service.authority is None else service.authority.around(doc)
    config = run_config(service.workplace, asking.k)
    explanation = explain_served(
        asking.question, doc, service.searcher, documents, config, authority
    )
    texts = source.texts(sorted(chunks))
    title = next((title for title, _ in texts.values() if title), "")
    text = "\n".join(text for _, text in texts.values())
    return {
        "explanation": explanation,
        "findings": grouped(explanation.findings, explanation.cause),
        "title": title,
        "text": text,
    }
