"""The first page: the four counts, what to do next, the worst slices, and how it went."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from argus.data.parquet import read_where
from argus.evaluation.history import Trend, run_lines, trends
from argus.runs import runs_in
from argus.service.page.job_panel import panel
from argus.service.page.rendering import PageRoute, folder_path, render
from argus.service.page.rows import Rows
from argus.service.state import ServiceOf
from argus.stores.spec import shown
from argus.verdict import read_verdict

router = APIRouter(route_class=PageRoute)
MOST_SLICES = 12


@router.get("/page/{folder}/overview")
def overview(request: Request, folder: str, service: ServiceOf) -> HTMLResponse:
    """Show the verdict of a folder; where there is only an index, what to measure of it."""
    path = folder_path(service.workplace, folder)
    if path is None:
        searched = shown(service.searcher.name)
        return render(request, "nothing.html.j2", "overview", folder, searched=searched)
    return render(
        request, "overview.html.j2", "overview", folder,
        verdict=read_verdict(path), slices=_worst_slices(path), trends=_trends(path), path=path,
        **panel(request, path),
    )  # fmt: skip


def _worst_slices(folder: Path) -> Rows:
    """Return the slices that are surely worse than the whole, worst first, of all jobs."""
    rows: Rows = []
    for path in sorted(folder.glob("*slices.parquet")):
        rows += read_where(path, [("worse_by", ">", 0)]).to_pylist()
    return sorted(rows, key=lambda row: -row["worse_by"])[:MOST_SLICES]


def _trends(folder: Path) -> list[Trend]:
    """Return the trends of what was measured more than once."""
    return [trend for trend in trends(run_lines(runs_in(folder))) if trend["runs"] > 1]
