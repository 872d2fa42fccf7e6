"""The page of generative answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.errors import InputError
from argus.service.page.generative.answers import answer_of, dropped, questions, shown_hits
from argus.service.page.rendering import PageRoute, folder_path, render
from argus.service.page.rows import Values
from argus.service.state import ServiceOf

router = APIRouter(route_class=PageRoute)
Text = Annotated[str, Query(max_length=500)]


@router.get("/page/{folder}/generative")
def generative(
    request: Request, folder: str, service: ServiceOf, q: Text = "", id: Text = "",
) -> HTMLResponse:  # fmt: skip
    """Show an answer with the n-grams that found it, and what the beam dropped."""
    path = folder_path(service.workplace, folder)
    listed = questions(path, q)
    query_id = id or (listed[0]["query_id"] if listed else "")
    shown: Values = {"q": q, "id": query_id, "questions": listed, "stored": None}
    if path is not None and query_id:
        stored = answer_of(path, query_id)
        if stored is None:
            raise InputError(
                f"no answer to {query_id!r}",
                expected="a question that was answered in this folder",
                fix="Choose one of the list.",
                where="id",
            )
        folders = [path, *(one.path for one in service.workplace.results if one.path != path)]
        shown |= {
            "stored": stored, "hits": shown_hits(stored), "dropped": dropped(folders, query_id),
        }  # fmt: skip
    return render(request, "generative.html.j2", "generative", folder, **shown)
