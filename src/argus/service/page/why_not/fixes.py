"""What would bring a document back for one question, as far as its explanation computed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from argus.commands import command
from argus.explanation.types import Cause, Explanation
from argus.verdict.places import Places

WITHOUT = {
    "sentences": "without its sentences",
    "hubs": "without the hub correction",
    "bm25": "without BM25",
    "correction": "without the correction of the question",
}
"""Parts of a blend that are switched off, in words."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A change, and the rank that the document would have by it for this question.

    rank: None beyond what was looked at. command: what makes the change; "" where none does.
    """

    change: str
    rank: int | None
    brings_back: bool
    command: str = ""


def previews(explanation: Explanation, places: Places) -> list[Preview]:
    """Return what was computed of each change, what brings the document back first.

    places: what commands about the index name.
    """
    ranks = {preview.change: preview for preview in _each(explanation, places)}
    far = 10**9
    return sorted(ranks.values(), key=lambda p: (not p.brings_back, p.rank or far, p.change))


def _each(explanation: Explanation, places: Places) -> Iterator[Preview]:
    place, index, k = explanation.standing, explanation.index, explanation.k

    def preview(change: str, rank: int | None, made_by: str = "") -> Preview:
        return Preview(change, rank, rank is not None and rank <= k, made_by)

    if place.ranked_by != "fused":
        fused = command("search", explanation.query, "--index", index, "--hybrid", place.fusion)
        yield preview(f"with BM25 ({place.fusion})", place.fused.rank, fused)
    if place.approximate is not None and place.ranked_by == "approximate":
        yield preview("searched exactly", place.dense.rank)
    for finding in explanation.findings:
        evidence, cause = finding.evidence, finding.cause
        if cause is Cause.VECTOR and "rank_with_its_own_vector" in evidence:
            again = f"{places.indexing_again} --fresh"
            yield preview(
                "with the vector of its text", evidence["rank_with_its_own_vector"], again
            )
        if cause is Cause.WINDOW and "rank_of_unread_part" in evidence:
            yield preview("by the part that was not read", evidence["rank_of_unread_part"])
        by_vectors = place.ranked_by != "fused"  # hubs are counted among what these put above it
        if by_vectors and "rank_without_hubs" in evidence and evidence["hubs_above"]:
            blended = any(f.cause is Cause.BLEND for f in explanation.findings)
            blend = "" if blended else command("remedy", "blend", "--index", places.out)
            yield preview("without the hubs above it", evidence["rank_without_hubs"], blend)
        if cause is Cause.BLEND and "rank_without" in evidence:
            for part, rank in evidence["rank_without"].items():
                yield preview(WITHOUT.get(part, f"without {part}"), rank)


MEND = {Cause.LEXICAL: "expand", Cause.ENTITIES: "expand", Cause.HUBS: "blend"}
"""By cause, the repair of an index that is made for it."""


def repair_of(explanation: Explanation, places: Places) -> str:
    """Return the command of the repair that the cause calls for; "" where there is none."""
    remedy = MEND.get(explanation.cause) if explanation.cause else None
    if remedy is None:
        return ""
    made_of = ["--kb", places.kb or "KB"] if remedy == "expand" else []
    return command("remedy", remedy, *made_of, "--index", places.out)
