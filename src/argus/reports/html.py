"""Render a folder of results as one HTML file that works offline (`argus report FOLDER`).

`write_report`: summary.json, manifest.json and tables -> FOLDER/report.html. Most jobs call it at
their end. The sections are made by the jobs' own modules (`argus.reports.section` lists them), and
the charts are drawn in `argus.reports.svg`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import jinja2
from markupsafe import Markup, escape

from argus.data.folders import (
    MANIFEST,
    SUMMARY,
    ArtifactFolder,
    ManifestSection,
    check_one_run,
    read_manifest,
    torn_jobs,
)
from argus.data.reading import WRITTEN, reading
from argus.data.writing import write_whole
from argus.errors import InputError, Location
from argus.measures.measures import coverage_words
from argus.reports.figures import Figure
from argus.reports.section import SECTIONS, Section, glossary
from argus.reports.svg import svg
from argus.runs import record_runs
from argus.settings import OUTPUT, Option
from argus.verdict import read_verdict
from argus.visible import visible, visible_json

# What an analysis of retrievers' outputs, a knowledge base, and figures over several retrievers
# note in place of an encoder.
OUTPUTS, KNOWLEDGE = "outputs", "knowledge base"

MAP = "projection"  # the figure that stands last of all


def write_report(folder: Annotated[Path | str, Option(argument="FOLDER"), OUTPUT]) -> Path:
    """Write FOLDER/report.html from the results in FOLDER.

    Runs that are not in the folder's history yet are recorded there. A job that was stopped while
    it wrote is left out, and named.

    Raises InputError when there is nothing to report, and for a summary.json or manifest.json that
    is not as a job wrote it.

    Args:
        folder: Folder of results of argus check, evaluate, demo or another job.
    """
    folder = Path(folder)
    path = ArtifactFolder(folder).own("report.html")
    write_whole(path, _page(folder)[0])
    record_runs(folder)
    return path


def figure_dicts(folder: Path | str) -> dict[str, Figure]:
    """Return the figures of a folder's report by name, as plotly's own dictionaries.

    Raises InputError as `write_report` does.
    """
    return _page(Path(folder))[1]


def _page(folder: Path) -> tuple[str, dict[str, Figure]]:
    """Return the page of a folder and its figures by name, titled as on the page."""
    summary, manifest = _read(folder)
    sections = _sections(folder, summary)
    tables = {
        name: table for section in sections.values() for name, table in section.tables.items()
    }
    expected = "the files as Argus wrote them"
    with reading(folder / SUMMARY, "cannot be shown", expected=expected, fix=WRITTEN):
        drawn = _Drawn({n: p for part in sections.values() for n, p in part.plots.items()})
        data = json.dumps(
            visible_json(tables), ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
        for character in "<>&\u2028\u2029":  # none may end the script element it stands in
            data = data.replace(character, f"\\u{ord(character):04x}")
        shown = {
            "sections": {name: (SECTIONS[name].heading, s.brief) for name, s in sections.items()},
            "templates": {n: f"{SECTIONS[n].module.replace('.', '/')}.html.j2" for n in sections},
            "tables": tables, "tables_json": Markup(data), "drawn": drawn,
            "plots": drawn.plots, "glossary": glossary(sections), "title": _title(manifest),
            "verdict": read_verdict(folder), "js": _asset("report.js"),
        }  # fmt: skip
        page = render("report.html.j2", summary=summary, manifest=manifest, **shown)
    return page, drawn.plots


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, ManifestSection]]:
    """Return summary and manifest by job, the summary without those of jobs that are torn."""
    summary, manifest = ArtifactFolder(folder).read_json(SUMMARY), read_manifest(folder)
    if not summary or not manifest:
        got, expected = f"no {SUMMARY} and {MANIFEST} of a job in it", "a folder that a job wrote"
        fix = "Run argus check, evaluate or demo with --out set to this folder."
        raise InputError(got, expected=expected, fix=fix, where=folder)
    torn = torn_jobs(folder)
    if summary.keys() <= torn.keys():
        check_one_run(folder)
    for job, file in torn.items():
        note = f"left out of the report: {job}, since {file} is not of its run; run it again"
        logging.getLogger("argus").warning(note)
    return {job: part for job, part in summary.items() if job not in torn}, manifest


def _sections(folder: Path, summary: dict[str, Any]) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    for name, home in SECTIONS.items():
        if name in summary:
            where, expected = Location(folder / SUMMARY, field=name), "results of one run"
            fix = f"Run argus {home.command} again with the same --out; vectors are kept."
            with reading(where, "is not as Argus wrote it", expected=expected, fix=fix):
                module = import_module(f"argus.{home.module}")
                sections[name] = module.section(folder, summary[name])
    return sections


def _title(manifest: dict[str, ManifestSection]) -> str:
    """Return the source of the results: a file, its folder, or a name in its place."""
    for section in manifest.values():
        inputs, encoder = section["inputs"], section["encoder"]
        source = inputs.get("corpus") or inputs.get("records")
        name = encoder.get("fingerprint") if encoder.get("what") in (OUTPUTS, KNOWLEDGE) else None
        if name := name or section["config"].get("corpus_name") or (source and source["file"]):
            path = Path(str(name))
            return path.parent.name if path.stem == "corpus" else path.name
    return "documents"


def _asset(name: str) -> Markup:
    return Markup(files("argus.reports").joinpath("assets", name).read_text(encoding="utf-8"))


class _Drawn(list[dict[str, object]]):
    """The figures that sections asked for, drawn when they are: they stand at the page's end."""

    def __init__(self, plots: dict[str, Figure]) -> None:
        super().__init__()
        json.dumps(plots, allow_nan=False)  # raises ValueError for values that no figure can show
        self.plots = plots

    def append(self, shown: Mapping[str, str]) -> None:  # type: ignore[override]
        """Draw a figure and keep it. shown: name, heading and text. The map comes last."""
        plot = self.plots[shown["name"]]
        plot["layout"]["title"] = {"text": shown["heading"]}
        figure = svg(plot, shown["heading"])
        super().append({**shown, "svg": figure, "last": shown["name"] == MAP})


def render(template: str, **context: object) -> str:
    """Return a page of a template of the package, in the look of the reports (`css`)."""
    return _environment().get_template(template).render(css=_asset("report.css"), **context)


@cache
def _environment() -> jinja2.Environment:
    """Return the environment of pages. It is kept: compiling templates takes longest."""
    places = (("argus.reports", "assets"), ("argus", ""))
    made = environment(jinja2.ChoiceLoader([jinja2.PackageLoader(*place) for place in places]))
    made.filters["thousands"] = lambda v: f"{v:,}"
    made.filters["mib"] = lambda v: f"{v / 2**20:,.0f} MiB"
    return made


class Exact(Markup):
    """A value that a page sends back, such as an id in a form: nothing in it is changed."""

    __slots__ = ()


def environment(loader: jinja2.BaseLoader) -> jinja2.Environment:
    """Return the environment of templates. The filter `exact` is for values that are sent back."""

    def displayed(value: object) -> str:
        if isinstance(value, Exact):
            return value
        return Markup(visible(value)) if isinstance(value, Markup) else visible(str(value))

    made = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=displayed,
    )
    made.filters["exact"] = lambda value: Exact(escape(value))
    made.filters["coverage_words"] = coverage_words
    made.filters["percent"] = lambda v: "–" if v is None else f"{100 * v:.1f}%"
    return made
