"""The first page: the four counts, and what to do next."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from argus.service.page.rendering import render
from argus.service.state import ServiceOf
from argus.verdict import read_verdict

router = APIRouter()


@router.get("/page/{folder}/overview")
def overview(request: Request, folder: str, service: ServiceOf) -> HTMLResponse:
    """Show the verdict of a folder."""
    verdict = read_verdict(service.workplace.folder(folder).path)
    return render(request, "overview.html.j2", "overview", folder, verdict=verdict)
