"""Render a folder of results as one HTML file that works offline."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pyarrow.parquet as pq
from markupsafe import Markup

from argus.data.artifacts import replacing
from argus.errors import InputError
from argus.reports import figures

MAX_ROWS = 20_000
"""Rows of one table that the report holds; the Parquet and CSV files hold all."""


def write_report(folder: Path | str) -> Path:
    """Write `folder/report.html` from the results in `folder`; return its path.

    Shows the sections that summary.json has: audit, exposure, questions. Raises InputError when
    there is nothing to report.
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
    plots: dict[str, figures.Figure] = {}
    tables: dict[str, dict[str, Any]] = {}
    if "audit" in summary:
        _audit_section(folder, summary["audit"], plots, tables)
    if "exposure" in summary:
        _exposure_section(folder, summary["exposure"], plots, tables)
    if "questions" in summary:
        _questions_section(folder, tables)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            manifest=manifest,
            plots=plots,
            tables=tables,
            plots_json=_for_script(plots),
            tables_json=_for_script(tables),
            css=_asset("report.css"),
            js=_asset("report.js"),
            plotly=_plotly() if plots else "",
            title=_title(manifest),
            max_rows=MAX_ROWS,
        )
    )


def _audit_section(
    folder: Path, audit: dict[str, Any], plots: dict[str, Any], tables: dict[str, Any]
) -> None:
    k, pool = audit["k"], audit["pool"]
    plots["distribution"] = figures.distribution(audit["histogram"], k, pool)
    if audit["curve_over_pool"]["values"]:
        plots["over_pool"] = figures.share_over_pool(audit["curve_over_pool"], k)
    plots["over_k"] = figures.share_over_k(audit["curve_over_k"], k, pool)
    columns = [
        "id",
        "label",
        "rps",
        "low",
        "high",
        "related",
        "band",
        "displaced_by",
        "x",
        "y",
        "state",
    ]
    rows = pq.read_table(folder / "retrievability.parquet", columns=columns).to_pylist()
    measured = [row for row in rows if row["state"] == "measured"]
    placed = [row for row in measured if row["x"] is not None]
    if placed:
        plots["projection"] = figures.projection(
            np.array([[row["x"], row["y"]] for row in placed]),
            [row["band"] for row in placed],
            [row["label"] or row["id"] for row in placed],
            [row["rps"] for row in placed],
        )
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    tables["entities"] = {
        "columns": [
            _column("entity", "text"),
            _column("RPS", "share"),
            _column("95% interval", "interval"),
            _column("related", "count"),
            _column("band", "band"),
            _column("outranked by (in how many of its queries)", "text"),
        ],
        "rows": [
            [
                _naming(row["label"], row["id"]),
                row["rps"],
                [row["low"], row["high"]],
                row["related"],
                row["band"],
                row["displaced_by"] or "",
            ]
            for row in measured[:MAX_ROWS]
        ],
        "total": len(measured),
    }


def _exposure_section(
    folder: Path, exposure: dict[str, Any], plots: dict[str, Any], tables: dict[str, Any]
) -> None:
    spread = exposure["concentration"]
    plots["lorenz"] = figures.lorenz(spread["lorenz"], spread["gini"])
    misses = pq.read_table(folder / "misses.parquet").to_pylist()
    tables["misses"] = {
        "columns": [
            _column("document", "text"),
            _column("asked by", "text"),
            _column("query", "text"),
            _column("rank", "count"),
            _column("returned instead", "text"),
        ],
        "rows": [
            [
                _naming(row["label"], row["id"]),
                row["probe"],
                row["query"],
                row["rank"],
                row["displaced_by"],
            ]
            for row in misses[:MAX_ROWS]
        ],
        "total": len(misses),
    }
    tables["hubs"] = {
        "columns": [
            _column("document", "text"),
            _column("lists", "count"),
            _column("share of all lists", "share"),
        ],
        "rows": [[_naming(h["label"], h["id"]), h["lists"], h["share"]] for h in exposure["hubs"]],
        "total": len(exposure["hubs"]),
    }


def _questions_section(folder: Path, tables: dict[str, Any]) -> None:
    rows = pq.read_table(folder / "questions.parquet").to_pylist()
    rows.sort(key=lambda row: (-(row["rank"] or 1 << 30), row["query_id"]))
    tables["questions"] = {
        "columns": [
            _column("question", "text"),
            _column("wanted", "text"),
            _column("rank (none: over 1,000)", "count"),
            _column("RPS of wanted", "share"),
            _column("returned first", "text"),
        ],
        "rows": [
            [row["question"], row["wanted"], row["rank"], row["rps"], row["first"]] for row in rows
        ],
        "total": len(rows),
    }


def _column(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "kind": kind}


def _naming(label: str | None, id_: str) -> str:
    return f"{label} · {id_}" if label and label != id_ else id_


def _title(manifest: dict[str, Any]) -> str:
    for section in manifest.values():
        name = section["config"].get("corpus_name") or section["inputs"].get("corpus", {}).get(
            "file"
        )
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
        loader=jinja2.PackageLoader("argus.reports", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda v: "–" if v is None else f"{100 * v:.1f}%"
    environment.filters["thousands"] = lambda v: f"{v:,}"
    environment.filters["mib"] = lambda v: f"{v / 2**20:,.0f} MiB"
    return environment
