"""Search, explain and resolve."""

from __future__ import annotations

import asyncio
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query

from argus.errors import InputError
from argus.explanation.config import ExplainConfig
from argus.explanation.records import ExplanationRecord, RunExplanationRecord
from argus.service.api.requests import Batch, Explain, Resolve, Search
from argus.service.searching.authority import ServedAuthority
from argus.service.searching.sources import IndexSource, ServedRetriever
from argus.service.searching.summary import BatchResults, Resolutions, SearchResults
from argus.service.state import Service, ServiceOf
from argus.service.workplace import run_config

router = APIRouter(tags=["search"])
Explained = ExplanationRecord | RunExplanationRecord


@router.get("/search")
async def search(body: Annotated[Search, Query()], service: ServiceOf) -> SearchResults:
    """Return the best documents for a question: of what is in force, where records are served."""
    return await service.answer(body.question(body.query, body.watch))


@router.post("/search", operation_id="search_by_body")
async def search_by_body(body: Search, service: ServiceOf) -> SearchResults:
    """Return the best documents for a question, as GET does."""
    return await service.answer(body.question(body.query, body.watch))


@router.post("/search/batch")
async def search_batch(body: Batch, service: ServiceOf) -> BatchResults:
    """Answer several questions at once."""
    questions = [body.question(text) for text in body.queries]
    return {"answers": await asyncio.gather(*map(service.answer, questions))}


@router.get("/explain")
async def explain(body: Annotated[Explain, Query()], service: ServiceOf) -> Explained:
    """Say why a document does not come back for a question: every cause checked."""
    return await explained(service, body)


@router.post("/explain", operation_id="explain_by_body")
async def explain_by_body(body: Explain, service: ServiceOf) -> Explained:
    """Say why a document does not come back, as GET does."""
    return await explained(service, body)


@router.post("/resolve")
def resolve(body: Resolve, service: ServiceOf) -> Resolutions:
    """Return what controls each document, and the chain of supersessions that leads there."""
    authority = records_of(service)
    as_of, known_by = authority.times(body.as_of, body.known_by)
    documents = authority.resolve(body.ids, as_of, known_by)
    return {"as_of": as_of, "known_by": known_by, "documents": documents}


async def explained(service: Service, body: Explain) -> Explained:
    """Explain in a thread of its own, a few at a time; others are answered meanwhile."""
    return await to_thread.run_sync(_explained, service, body, limiter=service.explaining)


def _explained(service: Service, body: Explain) -> Explained:
    from argus.explanation.job import explain as explain_index
    from argus.explanation.of_retriever import explain_served

    authority = None if service.authority is None else service.authority.around(body.id)
    source = service.searcher.source()
    if isinstance(source, IndexSource):
        config = ExplainConfig(k=body.k)
        retriever = source.retriever
        return explain_index(
            body.query, body.id, retriever, config, authority=authority, fold=service.fold
        ).as_dict()
    of_retriever = run_config(service.workplace, body.k)
    documents = source.documents if isinstance(source, ServedRetriever) else ()
    return explain_served(
        body.query, body.id, service.searcher, documents, of_retriever, authority
    ).as_dict()


def records_of(service: Service) -> ServedAuthority:
    """Return the records that are served; InputError where there are none."""
    if service.authority is None:
        raise InputError(
            "no records are served",
            expected="a service that was started with --records and --rules or --edges",
            fix="Start it so, or over a folder of `argus authority audit`.",
        )
    return service.authority
