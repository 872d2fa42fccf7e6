"""The page of repairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from argus.remedies.repair.remedy import list_remedies
from argus.repair.summary import NOTHING
from argus.service.page.availability import has_index
from argus.service.page.holding import index_of
from argus.service.page.job_panel import panel
from argus.service.page.rendering import PageRoute, folder_path, render
from argus.service.page.repairs.reading import Tried, read_receipts, read_trial
from argus.service.page.repairs.requests import (
    Known,
    applying,
    chunk_options,
    index_option,
    known_inputs,
    made_already,
    trial,
    trial_inputs,
    undoing,
)
from argus.service.state import ServiceOf
from argus.service.workplace import Workplace

router = APIRouter(route_class=PageRoute)
WHAT = {
    "blend": "Sentences, a correction of hubs, and words (BM25), mixed into the search.",
    "expand": "Views that say what a knowledge base knows of entities in documents at risk.",
    "scenarios": "Views that say what each document would be needed for.",
    "adapt": "A correction of queries, learnt from what documents are needed for.",
}  # fmt: skip
"""Each remedy in a sentence."""


@router.get("/page/{folder}/repairs")
def repairs(
    request: Request,
    folder: str,
    service: ServiceOf,
    candidate: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show what can be tried on the index of a folder, what was, and what is in it."""
    place = service.workplace
    path = folder_path(place, folder)
    if not has_index(place, path):
        return render(request, "repairs_none.html.j2", "repairs", folder)
    index = index_of(place, path).path
    remedies = list_remedies(index)
    tried = read_trial(index, candidate, remedies)
    option = index_option(place, index)
    there = made_already(remedy["kind"] for remedy in remedies)
    known = _known(tried, path or index, place)
    inputs = {n: f for n, f in known.inputs.items() if n not in there}
    return render(
        request, "repairs.html.j2", "repairs", folder,
        index=str(index), can_write=place.contains(index), what=WHAT, nothing=NOTHING,
        tried=tried, inputs=inputs, known=known, there=there, 
        trial=trial(option, chunk_options(place)),
        apply={} if tried is None or tried.is_old else _applying(tried, option, place),
        receipts=[
            (receipt, undoing(option, receipt.remedy["id"]))
            for receipt in read_receipts(index, [one.path for one in place.results])
        ],
        **panel(request, index),
    )  # fmt: skip


def _known(tried: Tried | None, folder: Path, place: Workplace) -> Known:
    """Return what the form holds at first: as it was tried last, else what the folder knows."""
    own = {} if tried is None else trial_inputs(tried.inputs, place)
    known = known_inputs(folder, place)
    rest = {n: f for n, f in known.outside.items() if n not in own}
    return replace(known, inputs={**known.inputs, **own}, outside=rest)


def _applying(tried: Tried, option: str, place: Workplace) -> dict[str, object]:
    """Return the job that adds each candidate."""
    inputs = trial_inputs(tried.inputs, place)
    names = [t["candidate"] for t in tried.summary["trials"]] or [tried.summary["kept"]]
    return {name: applying(option, name, inputs, chunk_options(place)) for name in names}
