"""Templates of the page: every value is escaped, and every page knows where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from argus.service.state import service_of

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Tab:
    """One entry of the navigation: its name in the URL, and what a person reads."""

    name: str
    title: str


TABS = (
    Tab("overview", "Overview"),
    Tab("why-not", "Why not?"),
    Tab("documents", "Documents"),
    Tab("questions", "Questions"),
    Tab("repairs", "Repairs"),
    Tab("authority", "Current or superseded"),
    Tab("compare", "Compare"),
    Tab("generative", "Generative"),
    Tab("map", "Map"),
)
"""The pages, in their order; each has the path /page/FOLDER/NAME."""


@cache
def environment() -> Environment:
    """Return the Jinja environment; autoescape is on for every template."""
    return Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined
    )


def render(request: Request, template: str, tab: str, folder: str, **values: Any) -> HTMLResponse:
    """Return a page: `template` with the values, the navigation, and the folder that it shows."""
    shared = {
        "tabs": TABS,
        "tab": tab,
        "folder": folder,
        "workplace": service_of(request).workplace,
        "csrf": request.state.csrf,
    }
    text = environment().get_template(template).render(**shared, **values)
    return HTMLResponse(text)
