"""The routes of all pages, and the static files beside them."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from argus.service.page.authority.routes import router as authority
from argus.service.page.compare.routes import router as compare
from argus.service.page.documents.routes import router as documents
from argus.service.page.generative.routes import router as generative
from argus.service.page.map.routes import router as map_of
from argus.service.page.overview import router as overview
from argus.service.page.questions.judge import router as judge
from argus.service.page.questions.routes import router as questions
from argus.service.page.rendering import HERE, NO_FOLDER
from argus.service.page.repairs.routes import router as repairs
from argus.service.page.why_not.routes import router as why_not
from argus.service.state import ServiceOf

ROUTERS: tuple[APIRouter, ...] = (
    overview,
    why_not,
    documents,
    questions,
    judge,
    repairs,
    authority,
    compare,
    generative,
    map_of,
)
"""A page each."""


def mount_pages(app: FastAPI) -> None:
    """Give an application its pages; `/` leads to the first folder's overview."""
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    app.add_api_route("/", _start, include_in_schema=False)
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)


def _start(service: ServiceOf) -> RedirectResponse:
    results = service.workplace.results
    return RedirectResponse(f"/page/{results[0].name if results else NO_FOLDER}/overview")
