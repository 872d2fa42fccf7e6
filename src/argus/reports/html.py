"""Render a folder of results as one HTML file that works offline."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import jinja2
from markupsafe import Markup

from argus.data.folders import (
    MANIFEST,
    SUMMARY,
    ArtifactFolder,
    ManifestSection,
    check_one_run,
    read_manifest,
    torn_jobs,
)
from argus.data.reading import WRITTEN, read_own, reading
from argus.data.writing import write_whole
from argus.errors import InputError, Location
from argus.extras import naming_extras
from argus.reports.figures import Figure
from argus.reports.glossary import glossary
from argus.reports.section import Section
from argus.reports.sections import SECTIONS
from argus.reports.svg import svg
from argus.reports.templates import environment
from argus.runs import record_runs
from argus.verdict import read_verdict
from argus.visible import visible_json

# What an analysis of retrievers' outputs, a knowledge base, and figures over several retrievers
# note in place of an encoder.
OUTPUTS, KNOWLEDGE = "outputs", "knowledge base"

MAP = "projection"  # the figure that stands last of all


def write_report(folder: Path | str) -> Path:
    """Write `folder/report.html` from the results in `folder`. Return its path.

    Shows the jobs of summary.json that have a section in argus.reports.sections. Runs that are not
    in the folder's history yet are recorded there. A job that was stopped while it wrote is left
    out, and named. Raises InputError when there is nothing to report, and for a summary.json or
    manifest.json that is not as a job wrote it.
    """
    folder = Path(folder)
    _require(folder, SUMMARY, MANIFEST)
    page = _page(folder, *_read(folder))
    path = ArtifactFolder(folder).own("report.html")
    write_whole(path, page)
    record_runs(folder)
    return path


def _require(folder: Path, *names: str) -> None:
    """Raise InputError for a folder that lacks one of these files."""
    if not all((folder / name).is_file() for name in names):
        expected = "a folder that argus check, evaluate or demo wrote"
        fix, where = "Run one of them with --out set to this folder.", folder
        raise InputError(f"no {' and '.join(names)} in it", expected=expected, fix=fix, where=where)


def _read(folder: Path) -> tuple[dict[str, object], dict[str, ManifestSection]]:
    """Return summary and manifest by job, the summary without those of jobs that are torn."""
    path = folder / SUMMARY
    with _reading(Location(path), "is not as Argus wrote it"):
        summary = json.loads(read_own(path), parse_constant=_refuse)
        if not isinstance(summary, dict) or not summary:
            raise ValueError("it has no section of a job")
    manifest, torn = read_manifest(folder), torn_jobs(folder)
    if summary.keys() <= torn.keys():
        check_one_run(folder)
    for job, table in torn.items():
        note = f"left out of the report: {job}, since {table} is not of its run; run it again"
        logging.getLogger("argus").warning(note)
        summary.pop(job, None)
    return summary, manifest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


_reading = partial(reading, expected="the file as Argus wrote it", fix=WRITTEN)


def figure_dicts(folder: Path | str) -> dict[str, Figure]:
    """Return the figures of a folder's report by name, as plotly's own dictionaries.

    Those of a job that was stopped while it wrote are left out. Raises InputError as
    `write_report` does.
    """
    folder = Path(folder)
    _require(folder, SUMMARY)
    sections = _sections(folder, _read(folder)[0])
    return {name: figure for part in sections.values() for name, figure in part.plots.items()}


def plotly_figures(folder: Path | str) -> dict[str, Any]:
    """Return the same as `plotly.graph_objects.Figure`, for a notebook.

    Raises MissingPackage where plotly is not installed: it is an extra, reports need none.
    """
    with naming_extras():
        from plotly.graph_objects import Figure as PlotlyFigure
    return {name: PlotlyFigure(figure) for name, figure in figure_dicts(folder).items()}


def _sections(folder: Path, summary: dict[str, object]) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    for name, home in SECTIONS.items():
        if name in summary:
            where = Location(folder / SUMMARY, field=name)
            try:
                with _reading(where, "cannot be shown"):
                    sections[name] = home.build(folder, summary[name], where=where)
            except InputError as error:
                if error.fix != WRITTEN:
                    raise
                again = f"Run argus {home.command} again with the same --out: it wrote that"
                fix = f"{again}; vectors are kept."
                raise InputError(
                    error.got, expected=error.expected, fix=fix, where=error.where
                ) from error
    return sections


def _page(folder: Path, summary: dict[str, object], manifest: dict[str, ManifestSection]) -> str:
    sections = _sections(folder, summary)
    tables = {
        name: table for section in sections.values() for name, table in section.tables.items()
    }
    with _reading(Location(folder / SUMMARY), "cannot be shown"):
        drawn = _Drawn({n: p for part in sections.values() for n, p in part.plots.items()})
        shown = {
            "sections": {name: (SECTIONS[name].heading, s.brief) for name, s in sections.items()},
            "templates": {name: SECTIONS[name].template for name in sections},
            "pairs": {n: p for part in sections.values() for n, p in part.pairs.items()},
            "tables": tables, "tables_json": _for_script(tables), "drawn": drawn,
            "plots": drawn.plots, "glossary": glossary(sections), "title": _title(manifest),
            "verdict": read_verdict(folder), "js": _asset("report.js"),
        }  # fmt: skip
        return render("report.html.j2", summary=summary, manifest=manifest, **shown)


def _title(manifest: dict[str, ManifestSection]) -> str:
    """Return the source of the results: a file, its folder, or a name in its place."""
    for section in manifest.values():
        encoder, inputs = section["encoder"], section["inputs"]
        if encoder.get("what") in (OUTPUTS, KNOWLEDGE):
            return str(encoder.get("fingerprint", "documents"))
        source = inputs.get("corpus") or inputs.get("records")
        name = section["config"].get("corpus_name") or (source and source["file"])
        if name:
            path = Path(str(name))
            return path.parent.name if path.stem == "corpus" else path.name
    return "documents"


def _for_script(value: object) -> Markup:
    """Return JSON that cannot end the script element it stands in."""
    shown = visible_json(value)
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


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
        figure = svg(self.plots[shown["name"]], shown["heading"])
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
