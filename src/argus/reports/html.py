"""Render a folder of results as one HTML file that works offline."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from argus.data.artifacts import replacing
from argus.errors import InputError
from argus.reports.figures import Figure
from argus.reports.section import Table
from argus.reports.sections import SECTIONS

OUTPUTS, KNOWLEDGE = "outputs", "knowledge base"
"""What an analysis of retrievers' outputs, and a knowledge base, note in place of an encoder."""


def write_report(folder: Path | str) -> Path:
    """Write `folder/report.html` from the results in `folder`; return its path.

    Shows the jobs of summary.json that have a section in argus.reports.sections. Raises
    InputError when there is nothing to report.
    """
    folder = Path(folder)
    summary_file, manifest_file = folder / "summary.json", folder / "manifest.json"
    if not summary_file.is_file() or not manifest_file.is_file():
        raise InputError(
            "no summary.json and manifest.json in it",
            expected="a folder that argus audit, exposure or demo wrote",
            fix="Run one of them with --out set to this folder.",
            where=folder,
        )
    try:
        page = _render(folder, _json(summary_file), _json(manifest_file))
    except (KeyError, TypeError, AttributeError, jinja2.UndefinedError) as error:
        raise InputError(
            f"its summary.json or manifest.json lacks what a report shows ({error})",
            expected="the files as argus audit, exposure or demo wrote them",
            fix="Run the command again with the same --out; vectors are kept.",
            where=folder,
        ) from error
    path = folder / "report.html"
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            f"broken JSON ({error})",
            expected="the file as Argus wrote it",
            fix="Run the command again with the same --out; vectors are kept.",
            where=path,
        ) from error
    return dict(content)


def _render(folder: Path, summary: dict[str, Any], manifest: dict[str, Any]) -> str:
    plots: dict[str, Figure] = {}
    tables: dict[str, Table] = {}
    shown: dict[str, tuple[str, str]] = {}
    for name, home in SECTIONS.items():
        if name in summary:
            section = home.build(folder, summary[name])
            plots |= section.plots
            tables |= section.tables
            shown[name] = home.heading, section.brief
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            manifest=manifest,
            sections=shown,
            templates={name: SECTIONS[name].template for name in shown},
            plots=plots,
            tables=tables,
            plots_json=_for_script(plots),
            tables_json=_for_script(tables),
            css=_asset("report.css"),
            js=_asset("report.js"),
            plotly=_plotly() if plots else "",
            title=_title(manifest),
        )
    )


def _title(manifest: dict[str, Any]) -> str:
    for section in manifest.values():
        if section["encoder"].get("what") in (OUTPUTS, KNOWLEDGE):
            return str(section["encoder"]["fingerprint"])
        inputs = section["inputs"]
        source = inputs.get("corpus") or inputs.get("records") or {}
        name = section["config"].get("corpus_name") or source.get("file")
        if name:
            path = Path(name)
            return path.parent.name if path.stem == "corpus" else path.name
    return "documents"


def _for_script(value: Any) -> Markup:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _asset(name: str) -> Markup:
    text = files("argus.reports").joinpath("assets", name).read_text(encoding="utf-8")
    return Markup(text)


def _plotly() -> Markup:
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("argus.reports", "assets"), jinja2.PackageLoader("argus", "")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda v: "–" if v is None else f"{100 * v:.1f}%"
    environment.filters["thousands"] = lambda v: f"{v:,}"
    environment.filters["mib"] = lambda v: f"{v / 2**20:,.0f} MiB"
    return environment
