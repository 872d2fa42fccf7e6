"""The blend's section of summary.json, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.indexes.recipes import BlendRecord
from argus.indexes.remedy_views import BEFORE
from argus.measures.significance import DifferenceFigures, with_interval
from argus.verdict.verdict import BLEND_MEASURED


class BlendDocuments(TypedDict):
    """Documents of the index.

    total: documents of the index.
    with_views: documents that have sentence views.
    without: documents of one sentence, or no word.
    joined: documents of too many sentences, of which neighbours stand together.
    """

    total: int
    with_views: int
    without: int
    joined: int


class Hubness(TypedDict):
    """Hubness r(d) over the documents.

    sentences: sentences on which it was measured.
    least: least r(d) of a document.
    median: median r(d).
    most: greatest r(d) of a document.
    bytes: bytes of the numbers on disk.
    """

    sentences: int
    least: float
    median: float
    most: float
    bytes: int


class Part(TypedDict):
    """What the search costs, and gains, up to a part of the blend.

    part: part up to which the blend is searched.
    bytes: bytes that the part stores: texts and vectors of sentences, numbers, postings. Receipts
        of earlier versions lack it.
    milliseconds: median of one query at a time, its embedding not counted.
    times_dense: the same as a multiple of that of the vectors alone.
    ndcg10: nDCG@10 against the vectors alone; None without judged questions.
    recall10: recall@10 against the vectors alone; None without judged questions.
    """

    part: str
    bytes: NotRequired[int]
    milliseconds: float
    times_dense: float
    ndcg10: DifferenceFigures | None
    recall10: DifferenceFigures | None


class Rival(TypedDict):
    """A fixed fusion of the same vectors with BM25.

    fusion: fusion of the vectors with BM25.
    ndcg10: nDCG@10 against what it is compared with.
    """

    fusion: str
    ndcg10: DifferenceFigures


class BlendSummary(TypedDict):
    """The receipt of a blend.

    added: false when the index had it already.
    max_views: sentence views of a document, at most.
    views: sentence views of the remedy.
    views_known: sentences left out, since their documents have views with that text.
    bytes: bytes of texts (UTF-8) and vectors.
    relied_on: remedies that hold what was left out.
    parts: what each part costs and gains, in the order in which they are added.
    rivals: what fixed fusions gain against the vectors alone; none without judged questions.
    seconds: seconds by step.
    """

    remedy: str
    index: str
    added: bool
    settings: BlendRecord
    max_views: int
    documents: BlendDocuments
    views: int
    views_known: int
    views_failed: int
    bytes: int
    relied_on: list[str]
    hubness: Hubness | None
    parts: list[Part]
    rivals: list[Rival]
    seconds: dict[str, float]


def headline(summary: BlendSummary) -> Iterator[str]:
    """Yield what a blend added, what it costs and gains, and what follows."""
    documents, settings = summary["documents"], summary["settings"]
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {summary['views']:,} sentence views of "
        f"{documents['with_views']:,} of "
        f"{documents['total']:,} documents; λ = {settings['weight']:g}, hubs "
        f"{settings['hubs']:g}, BM25 {settings['bm25']:g}"
    )
    yield from _left_out(summary)
    parts = summary["parts"]
    sizes = {part["part"]: part.get("bytes", 0) for part in parts}
    stored = (f"{part[2:]} {size / 1024:,.0f} KiB" for part, size in sizes.items() if size)
    yield f"stored: {', '.join(stored) or 'nothing more'}"
    yield "median search: " + ", ".join(f"{p['part']} {p['milliseconds']:.2f} ms" for p in parts)
    yield from (_gain(part) for part in parts[1:] if part["ndcg10"] is not None)
    if parts[0]["ndcg10"] is None:
        yield f"not judged here: --queries and --qrels say what each part changes. {BLEND_MEASURED}"
    else:
        yield rivals_line(summary["rivals"])
    yield (
        "search, evaluate, explain, compare and gate use it from now on; "
        f"{summary['index']}@{BEFORE}{summary['remedy']} is as before"
    )


def rivals_line(rivals: list[Rival]) -> str:
    """Return what fixed fusions change, in one line."""
    changes = (f"{r['fusion']} {with_interval(r['ndcg10'])}" for r in rivals)
    return f"fixed fusions of the same vectors and BM25: {', '.join(changes)}"


def _left_out(summary: BlendSummary) -> Iterator[str]:
    documents = summary["documents"]
    if without := documents["without"]:
        yield f"{without:,} documents have one sentence or none, and are found by their own vector"
    if joined := documents["joined"]:
        yield joined_line(joined, summary["max_views"])
    if others := ", ".join(summary["relied_on"]):
        yield f"{summary['views_known']:,} views were in the index already ({others})"
    if failed := summary["views_failed"]:
        yield f"{failed:,} sentences could not be embedded and are left out"


def joined_line(joined: int, most: int) -> str:
    """Return what is said of documents of more sentences than views."""
    return (
        f"{joined:,} documents have more than {most:,} sentences: neighbours stand together, and "
        "what of them is beyond the encoder's window is in no view (--max-views)"
    )


def _gain(part: Part) -> str:
    figures = part["ndcg10"]
    assert figures is not None
    return (
        f"{part['part']}: nDCG@10 {figures['mean_after']:.3f}, {with_interval(figures)} to the "
        "vectors alone"
    )
