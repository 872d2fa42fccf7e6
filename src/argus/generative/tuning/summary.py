"""Records of learning to rank: its part of summary.json, and the note beside the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import TypedDict

from argus.generative.tuning.lists import RankList
from argus.training.settings import TrainingFigures, training_lines


class ListCounts(TypedDict):
    """Judged questions by outcome.

    train: questions to learn from.
    validation: questions to validate with.
    out_of_list: questions without a right passage in their list.
    nothing_wrong: questions without a wrong passage in their list.
    without_gold: questions without a right passage in the corpus.
    """

    train: int
    validation: int
    out_of_list: int
    nothing_wrong: int
    without_gold: int


class PlaceFigures(TypedDict):
    """Ranks of the first right passages of questions. A question without one in its list has 0.

    questions: questions that were validated with.
    first: share whose first passage is right.
    first_10: share with a right passage in the first ten.
    reciprocal_rank: mean of 1 / rank of the first right passage.
    """

    questions: int
    first: float
    first_10: float
    reciprocal_rank: float


class TuneSummary(TrainingFigures):
    """Summary of learning to rank.

    model: folder of the model.
    weights: weights of the model.
    before, after: places of right passages for the questions that were validated with.
    """

    model: str
    mode: str
    weights: int
    lists: ListCounts
    before: PlaceFigures
    after: PlaceFigures


class TuneNote(TypedDict):
    """argus.json beside a model that learnt to rank.

    vocabulary: fingerprint of the tokenizer.
    base: model that it was before, as its own note has it, or its name and hash.
    tuned: name and hash of the model, and how it learnt.
    """

    argus: str
    vocabulary: str
    base: dict[str, str | float]
    tuned: dict[str, object]


def places(lists: Sequence[RankList]) -> PlaceFigures:
    """Return the means over lists."""
    n = max(1, len(lists))
    ranks = [one.place for one in lists if one.place is not None]
    return {
        "questions": len(lists),
        "first": round(sum(rank == 1 for rank in ranks) / n, 4),
        "first_10": round(sum(rank <= 10 for rank in ranks) / n, 4),
        "reciprocal_rank": round(sum(1 / rank for rank in ranks) / n, 4),
    }


def headline(summary: TuneSummary) -> Iterator[str]:
    """Yield lines on the pairs learnt, the time, and the places of right passages now."""
    counts, before, after = summary["lists"], summary["before"], summary["after"]
    yield (
        f"{counts['train']:,} questions to learn from, {counts['validation']:,} to validate with; "
        f"{counts['out_of_list']:,} have no right passage in their list"
    )
    yield from training_lines(summary, "epoch")
    yield (
        f"right passage first for {before['first']:.1%} of the questions to validate with, now "
        f"{after['first']:.1%}; mean reciprocal rank {before['reciprocal_rank']:.3f}, now "
        f"{after['reciprocal_rank']:.3f}"
    )
