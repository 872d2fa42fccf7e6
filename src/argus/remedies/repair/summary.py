"""What a repair, its receipt and its rollback write as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.jobs.recorded_model import Answers, spent
from argus.measures.coverage import Covered
from argus.remedies.paper import PaperNotes, paper_lines


class ReferenceSettings(TypedDict):
    """A `ReferenceConfig` in a manifest.

    kb: knowledge bases that mentions are looked up in.
    mentions: how mentions are found.
    ignore_case: whether names match in any case.
    min_length: least characters of a name.
    common_words: whether names that are common words count.
    """

    kb: list[str]
    mentions: str
    ignore_case: bool
    min_length: int
    common_words: bool


class SynthesisSettings(TypedDict):
    """The settings of a synthesis that change its outcome: those of a model, or without one.

    model: model that writes; None without one.
    title_first: whether the passage's title stands before its text.
    min_similarity: least cosine of mention and passage.
    temperature: temperature of the model; None for its default.
    extra: further parameters of the request.
    accept_unanswered: whether it goes on with prompts unanswered.
    preset: paper or robust.
    guard: off, for comparison only; absent otherwise.
    """

    model: str | None
    title_first: bool
    min_similarity: NotRequired[float]
    temperature: NotRequired[float | None]
    extra: NotRequired[dict[str, object]]
    accept_unanswered: NotRequired[bool]
    preset: NotRequired[str]
    guard: NotRequired[str]


DocumentStates = TypedDict(
    "DocumentStates", {"measured": int, "failed": int, "not applicable": int}
)
"""Documents by what became of their synthesis."""


class Origin(TypedDict, total=False):
    """made.json: how the views of a remedy came about. Empty where the file is gone.

    From `preset` on each kind of remedy has keys of its own.

    kind: kind of the remedy.
    at: when it was made, UTC.
    views_failed: views that could not be embedded and are left out.
    views_known: views left out, since their documents have views with that text.
    views_beyond_cap: views left out, since their documents have as many as they may.
    tables: tables in the folder of the remedy.
    relied_on: remedies that hold what was left out.
    preset: paper or robust.
    passages_found: passages that fit a mention by name.
    passages_without_vector: of these, passages or mentions without a vector.
    passages_refused: of these, passages unlike the mention.
    written_by: model that wrote the texts.
    documents: documents by what became of their synthesis.
    insertions: descriptions that were put into texts.
    fallen_back: documents that keep their original alone, by reason.
    component: what of a scenario is a view.
    paper: under the preset `paper`, where it is not the paper's.
    """

    remedy: str
    kind: str
    at: str
    views_failed: int
    views_known: int
    views_beyond_cap: int
    tables: list[str]
    relied_on: list[str]
    preset: str
    passages_found: int
    passages_without_vector: int
    passages_refused: int
    written_by: str
    documents: DocumentStates
    insertions: int
    fallen_back: dict[str, int]
    language_model: Answers
    component: str
    paper: PaperNotes


class RollbackNote(TypedDict):
    """rolled_back.json: what a rollback removed.

    views_removed: views that were removed.
    at: when it was rolled back, UTC.
    relied_on_by: remedies that left out views which this one held.
    finished: false until the views are gone; absent then.
    already: true, in what is returned, where an earlier call removed them and this one nothing.
    """

    remedy: str
    views_removed: int
    at: str
    relied_on_by: list[str]
    finished: NotRequired[bool]
    already: NotRequired[bool]


class ListedRemedy(TypedDict):
    """A remedy in an index; kind and at (UTC) are None where its folder no longer says.

    id: id of the remedy.
    kind: kind of the remedy; None where its folder no longer says.
    at: when it was added, UTC; None likewise.
    views: views of the remedy.
    documents: documents that have one.
    bytes: bytes of their texts and vectors.
    """

    id: str
    kind: str | None
    at: str | None
    views: int
    documents: int
    bytes: int


class RepairCounts(TypedDict):
    """What was at risk, and what was added.

    documents: documents of the index.
    documents_at_risk: documents with an entity at risk.
    documents_repaired: documents that got a view.
    entities_at_risk: entities at risk, once per document.
    views: views that were added.
    views_about_own_subject: of these, views about the document's own subject.
    bytes: bytes of texts (UTF-8) and vectors.
    """

    documents: int
    documents_at_risk: int
    documents_repaired: int
    entities_at_risk: int
    views: int
    views_about_own_subject: int
    bytes: int


class RiskQueries(TypedDict):
    """Ranks of documents for the names of their entities; none where no query could be asked.

    queries: names that were asked.
    failed: names that could not be embedded.
    found_before: share of the queries that bring their document into the top k.
    found_after: the same with the remedy.
    recovered: queries that come back only with the remedy.
    lost: queries that come back only without it.
    median_rank_before, median_rank_after: median rank of the document.
    """

    queries: int
    failed: int
    found_before: NotRequired[float | None]
    found_after: NotRequired[float | None]
    recovered: NotRequired[int]
    lost: NotRequired[int]
    median_rank_before: NotRequired[float]
    median_rank_after: NotRequired[float]


class RepairedRps(TypedDict):
    """Mean predicted RPS of the repaired entities.

    entities: repaired entities.
    before: mean in the originals.
    after: mean of the better of original and views, so never below.
    entities_in_views: of these, entities that could be read in a view.
    views: mean in the views alone; None where none could be read.
    """

    entities: int
    before: float
    after: float
    entities_in_views: int
    views: float | None


class FallenDocument(TypedDict):
    """A document that lost places in the top k: of how many lists it fell, and into how many.

    lists: lists that it fell out of.
    gained: lists that it came into.
    """

    doc_id: str
    lists: int
    gained: int


class JudgedMoves(TypedDict):
    """(query, relevant document) pairs: how many rose and fell, came into and left the top k.

    measured: pairs whose rank is known.
    not_measured: pairs without a rank.
    repaired: pairs whose document was repaired.
    rose, fell: pairs whose document stands higher, or lower.
    recovered, lost: pairs whose document came into, or left the top k.
    """

    measured: int
    not_measured: int
    repaired: int
    rose: int
    fell: int
    recovered: int
    lost: int


class RemedySummary(Covered):
    """The receipt of a remedy.

    added: false when the index had it already.
    risk_queries: documents at risk, asked for by the names of their entities.
    of_repaired: the same of the repaired documents alone.
    rps: predicted RPS of the repaired entities; None without any.
    neighbours_fallen: documents that lost a place in the top k.
    places_lost: places that they lost.
    neighbours: the documents that lost most places.
    before: state of the index before the remedy, as `before:ID`.
    """

    remedy: str
    index: str
    added: bool
    made: Origin
    k: int
    counts: RepairCounts
    risk_queries: RiskQueries
    of_repaired: RiskQueries
    rps: RepairedRps | None
    neighbours_fallen: int
    places_lost: int
    neighbours: list[FallenDocument]
    seconds: float
    before: str
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
