"""README.md of an export: how a remedy's views are served by any store."""

from __future__ import annotations

from argus.indexes.hybrid import BM25_WEIGHT, LEAST_SHARE, MOST_SHARE, PER_COVERAGE
from argus.indexes.recipes import BlendRecord
from argus.indexes.retriever import FUSED_DEPTH
from argus.remedies.export.summary import ExportSummary


def written_recipe(summary: ExportSummary) -> str:
    """Return the recipe as Markdown."""
    parts = [_files(summary), _vectors(summary), _scores(summary), _storing(summary)]
    blend = summary["blend"]
    if summary["corrects"]:
        parts.append(_correcting())
    if blend is not None and blend["bm25"]:
        parts.append(_bm25(blend["bm25"]))
    return f"# Remedy {summary['remedy']}\n\n" + "\n\n".join(parts) + "\n"


def _files(summary: ExportSummary) -> str:
    vector = ", vector" if summary["with_vectors"] else ""
    lines = [
        "## Files",
        "",
        f"* `views.jsonl`: {summary['views']:,} views: id, parent (the document), kind, text, "
        f"source{vector}.",
    ]
    if summary["documents"]:
        lines.append(
            f"* `documents.jsonl`: hubness and penalty of {summary['documents']:,} documents"
            + (", and a vector in place of their own." if _is_smoothed(summary) else ".")
        )
    if summary["corrects"]:
        lines.append("* `correction.json`: u and w of (dim, rank), alpha.")
    return "\n".join([*lines, "* `recipe.json`: what this page says, for programs."])


def _vectors(summary: ExportSummary) -> str:
    made = (
        "The vectors in `views.jsonl` are"
        if summary["with_vectors"]
        else "Embed the texts in `views.jsonl` as documents (or export with `--vectors`); they are"
    )
    return (
        f"## Vectors\n\n{made} of {summary['dim']} dimensions, compared by "
        f"{summary['similarity']}. Documents, views and queries have to be embedded by one encoder:"
        f"\n\n    {summary['fingerprint']}"
    )


def _scores(summary: ExportSummary) -> str:
    blend = summary["blend"]
    lines = ["## What a document scores", ""]
    if blend is not None:
        lines.append(_blended(blend))
    else:
        lines.append("s(q, d), the best cosine of a document's own vector and its views.")
    weight = summary["weight"]
    if summary["folds"]["scenarios"] and weight is not None:
        lines.append(
            f"\nWhere a document has views of kind scenario, it scores {weight:g} times that, of "
            f"its other views, and {1 - weight:g} times the best of its scenarios."
        )
    return "\n".join(lines)


def _blended(blend: BlendRecord) -> str:
    weight, hubs = blend["weight"], blend["hubs"]
    penalty = f" - {hubs:g}·r(d)" if hubs else ""
    text = f"    v(q, d) = {weight:g}·s(q, d) + {1 - weight:g}·max(s(q, d), best sentence)"
    if weight == 1:
        text = "    v(q, d) = s(q, d)"
    return (
        f"{text}{penalty}\n\nwith s(q, d) the cosine of query and document"
        + (" (its vector in `documents.jsonl`)" if blend["smoothing"] else "")
        + (", and r(d) the document's hubness: `penalty` is the whole last term." if hubs else ".")
    )


def _storing(summary: ExportSummary) -> str:
    blend = summary["blend"]
    head = "## In a store\n\nWrite into a collection of its own: a plain search of the documents' "
    head += "collection must not bring back views.\n\n"
    if blend is None:
        return (
            f"{head}1. One record for each document, with its own vector, and one for each view.\n"
            "2. Group a search by parent: a document scores as its best record.\n"
            "3. Ask for several times as many records as documents are wanted, if the store does "
            "not group."
        )
    weight = blend["weight"]
    return (
        f"{head}1. One record for each document d, with its own vector, `argus_scale` 1.\n"
        f"2. One record for each sentence t of d: m = {weight:g}·d + {1 - weight:g}·t, scaled to "
        "length 1 as its vector, its length before as `argus_scale`.\n"
        "3. `argus_parent` and `argus_penalty` of the document on all of them, and the fields that "
        "searches filter by.\n"
        "4. A record scores cosine·argus_scale - argus_penalty; a document as the best of its "
        "records. Since q·m is what sentence and document score together, this is v(q, d).\n"
        "5. A store that ranks by cosine alone is asked for more records than are wanted, and "
        "these are scored again."
    )


def _correcting() -> str:
    return (
        "## Queries\n\nA query is corrected before it is searched for, documents stay as they are:"
        "\n\n    q' = unit(q + alpha·u·(wᵀ·q))"
    )


def _bm25(weight: float) -> str:
    return (
        f"## BM25\n\nThe {FUSED_DEPTH} best (or k, if more) of both are scaled to 0..1, each by "
        f"its own lowest and highest score, and add up 1 - w to w; one that a list lacks gets "
        f"nothing from it.\n\n    w = {weight:g}·min({MOST_SHARE:g}, {LEAST_SHARE:g} + "
        f"{PER_COVERAGE:g}·c)\n\nwith c the best BM25 score of the query over the sum of the idf "
        "of its words: how much of it one document covers."
        + ("" if weight == BM25_WEIGHT else f" Argus's default for BM25 is {BM25_WEIGHT:g}.")
    )


def _is_smoothed(summary: ExportSummary) -> bool:
    return summary["blend"] is not None and summary["blend"]["smoothing"] > 0
