"""What a repair, its receipt and its rollback write as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.jobs.recorded_model import Answers, spent
from argus.remedies.paper import PaperNotes, paper_lines


class ReferenceSettings(TypedDict):
    """A `ReferenceConfig` in a manifest."""

    kb: list[str]
    mentions: str
    ignore_case: bool
    min_length: int
    common_words: bool


class SynthesisSettings(TypedDict):
    """The settings of a synthesis that change its outcome: those of a model, or without one."""

    model: str | None
    title_first: bool
    min_similarity: NotRequired[float]
    temperature: NotRequired[float | None]
    extra: NotRequired[dict[str, object]]
    accept_unanswered: NotRequired[bool]
    preset: NotRequired[str]
    guard: NotRequired[str]
    """off: for comparison only."""


DocumentStates = TypedDict(
    "DocumentStates", {"measured": int, "failed": int, "not applicable": int}
)
"""Documents by what became of their synthesis."""


class UnguardedTexts(TypedDict):
    """Texts of a model that were indexed as they came, for comparison only."""

    texts: int
    rejected: int
    """Those that the guard would have rejected."""


class Origin(TypedDict, total=False):
    """made.json: how the views of a remedy came about. Empty where the file is gone.

    From `preset` on each kind of remedy has keys of its own.
    """

    remedy: str
    kind: str
    at: str
    """UTC."""
    views_failed: int
    views_known: int
    """Left out, since their documents have views with that text."""
    views_beyond_cap: int
    tables: list[str]
    relied_on: list[str]
    """Remedies that hold what was left out."""
    preset: str
    passages_found: int
    passages_without_vector: int
    passages_refused: int
    written_by: str
    documents: DocumentStates
    insertions: int
    fallen_back: dict[str, int]
    """Documents that keep their original alone, by reason."""
    language_model: Answers
    component: str
    paper: PaperNotes
    """Under the preset `paper`: where it is not the paper's."""
    unguarded: UnguardedTexts


class RollbackNote(TypedDict):
    """rolled_back.json: what a rollback removed."""

    remedy: str
    views_removed: int
    at: str
    """UTC."""
    relied_on_by: list[str]
    """Remedies that left out views which this one held."""
    finished: NotRequired[bool]
    """False until the views are gone; then it is not there."""


class ListedRemedy(TypedDict):
    """A remedy in an index; kind and at (UTC) are None where its folder no longer says."""

    id: str
    kind: str | None
    at: str | None
    views: int
    documents: int
    bytes: int


class RepairCounts(TypedDict):
    """What was at risk, and what was added."""

    documents: int
    documents_at_risk: int
    documents_repaired: int
    entities_at_risk: int
    views: int
    views_about_own_subject: int
    bytes: int
    """Texts in UTF-8 and vectors."""


class RiskQueries(TypedDict):
    """Ranks of documents for the names of their entities; none where no query could be asked."""

    queries: int
    failed: int
    found_before: NotRequired[float | None]
    """Share of the queries that bring their document into the top k."""
    found_after: NotRequired[float | None]
    recovered: NotRequired[int]
    lost: NotRequired[int]
    median_rank_before: NotRequired[float]
    median_rank_after: NotRequired[float]


class RepairedRps(TypedDict):
    """Mean predicted RPS of the repaired entities."""

    entities: int
    before: float
    after: float
    """Best of original and views, so never below."""
    entities_in_views: int
    views: float | None
    """Of the views alone, over the entities that could be read in one."""


class FallenDocument(TypedDict):
    """A document that lost places in the top k: of how many lists it fell, and into how many."""

    doc_id: str
    lists: int
    gained: int


class JudgedMoves(TypedDict):
    """(query, relevant document) pairs: how many rose and fell, came into and left the top k."""

    measured: int
    not_measured: int
    repaired: int
    rose: int
    fell: int
    recovered: int
    lost: int


class RemedySummary(TypedDict):
    """The receipt of a remedy."""

    remedy: str
    index: str
    added: bool
    """False when the index had it already."""
    made: Origin
    k: int
    counts: RepairCounts
    risk_queries: RiskQueries
    of_repaired: RiskQueries
    rps: RepairedRps | None
    """None where no document with an entity at risk was repaired."""
    neighbours_fallen: int
    places_lost: int
    neighbours: list[FallenDocument]
    """Those that fell most."""
    seconds: float
    before: str
    """The state of the index before the remedy."""
    judged_documents: NotRequired[JudgedMoves]


def headline(summary: RemedySummary) -> Iterator[str]:
    """Yield what a receipt says: views added, views left out, and what comes back for it."""
    counts, made = summary["counts"], summary["made"]
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {counts['views']:,} views ({counts['bytes'] / 2**20:.1f} MiB) for "
        f"{counts['documents_repaired']:,} of {counts['documents_at_risk']:,} documents at risk"
    )
    if own := counts["views_about_own_subject"]:
        yield f"{own:,} of them add what the knowledge base says of a document's own subject"
    yield from _left_out(made)
    if "unguarded" in made:
        texts = made["unguarded"]
        yield (
            f"for comparison only: no guard examined {texts['texts']:,} texts, and it would have "
            f"rejected {texts['rejected']:,} of them; do not serve this index"
        )
    if "paper" in made:
        yield from paper_lines(made["paper"])
    if "language_model" in made:
        yield spent(made["language_model"])
    yield from _ranks(summary)
    if rps := summary["rps"]:
        alone = "" if rps["views"] is None else f", {rps['views']:.3f} in the views alone"
        yield (
            f"mean predicted RPS of these entities: {rps['before']:.3f} in the originals{alone}; "
            f"by the better of both, which cannot fall, {rps['after']:.3f}"
        )


def _left_out(made: Origin) -> Iterator[str]:
    """Yield how many views there could have been besides, and why they are not there."""
    others = ", ".join(made.get("relied_on", ()))
    if known := made.get("views_known"):
        yield f"{known:,} more were in the index already ({others})"
    if beyond := made.get("views_beyond_cap"):
        yield f"{beyond:,} were left out: their documents have as many as they may ({others})"
    if failed := made.get("views_failed"):
        yield f"{failed:,} views could not be embedded and were left out"
    if back := sum(made.get("fallen_back", {}).values()):
        yield (
            f"{back:,} documents keep their original alone, rejected or not answered: "
            "see synthesis.parquet"
        )


def _ranks(summary: RemedySummary) -> Iterator[str]:
    if failed := summary["risk_queries"]["failed"]:
        yield f"{failed:,} risk queries failed and have no rank: see receipt.parquet"
    repaired = summary["of_repaired"]
    if repaired["queries"]:
        yield (
            f"asked for by the names of their entities at risk, top {summary['k']}: "
            f"{repaired['found_before']:.1%} → {repaired['found_after']:.1%} come back "
            f"({repaired['recovered']:,} recovered, {repaired['lost']:,} lost); "
            f"{summary['neighbours_fallen']:,} documents lost a place to them"
        )
