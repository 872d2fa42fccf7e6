"""The page of questions."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from argus.service.page.job_panel import panel
from argus.service.page.questions.reading import (
    has_draw,
    likely_failures,
    read_judged,
    read_traffic,
)
from argus.service.page.rendering import PageRoute, folder_path, render
from argus.service.page.repairs.requests import Wanted
from argus.service.state import ServiceOf
from argus.service.workplace import Workplace
from argus.traffic.judging.config import JudgingConfig
from argus.traffic.judging.job import JOB
from argus.traffic.judging.live import LiveJudging
from argus.verdict.reading import Results
from argus.verdict.sections import describe_log

router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/questions")
def questions(request: Request, folder: str, service: ServiceOf) -> HTMLResponse:
    """Show what people ask, what nobody meets, what may fail, and how far it is judged."""
    path = folder_path(service.workplace, folder)
    if path is None:
        return render(request, "questions_none.html.j2", "questions", folder)
    traffic, likely = read_traffic(path), likely_failures(path)
    live = LiveJudging.of(path) if has_draw(path) else None
    evaluation = read_judged(path)
    if traffic is None and live is None and evaluation is None:
        return render(request, "questions_none.html.j2", "questions", folder)
    return render(
        request, "questions.html.j2", "questions", folder,
        traffic=traffic, log=traffic and describe_log(traffic), likely=likely,
        evaluation=evaluation,
        judged=None if live is None else live.summary(),
        judging=_judging(path, service.workplace), budget=JudgingConfig.budget,
        **panel(request, path),
    )  # fmt: skip


def _judging(folder: Path, place: Workplace) -> Wanted | None:
    """Return the job that draws questions, or takes their grades into the results.

    None where what it reads is not known, or lies outside the folders.
    """
    results = Results.of(folder)
    inputs = results.places.manifest[JOB]["inputs"] if JOB in results.places.manifest else {}
    files = {name: one["file"] for name, one in inputs.items()}
    options: dict[str, str | bool | list[str]] = {
        "traffic": files.get("traffic", str(folder)),
        "corpus": files.get("served", results.places.corpus),
        "out": str(folder),
    }
    if "run" in files:
        options["run"] = files["run"]
    if not all(place.holds(Path(str(file))) for file in options.values()):
        return None
    return {"command": "traffic judge", "options": options}
