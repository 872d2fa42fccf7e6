"""The distillation's section of summary.json, key by key."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.training.settings import TrainingFigures, training_lines


class ExampleCounts(TypedDict):
    """Profiles by outcome.

    profiles: profiles that were read.
    train: documents to train on.
    validation: documents to validate with.
    noise: of these, documents that are noise.
    failed: profiles that failed.
    too_long: documents that are longer than an example may be.
    without_document: profiles without a document.
    documents_without_profile: documents without a profile.
    documents_without_text: documents without a text.
    """

    profiles: int
    train: int
    validation: int
    noise: int
    failed: int
    too_long: int
    without_document: int
    documents_without_profile: int
    documents_without_text: int


class TokenCounts(TypedDict):
    """Tokens of examples: the longest one, all of them, and the most that one may have.

    longest: tokens of the longest example.
    total: tokens of all examples.
    bound: most tokens that an example may have.
    """

    longest: int
    total: int
    bound: int


class DistillSummary(TrainingFigures):
    """Figures of a training.

    base: model that was trained.
    teachers: who wrote how many of the examples.
    merged: whether the adapter was merged into the model.
    """

    base: str
    examples: ExampleCounts
    teachers: dict[str, int]
    tokens: TokenCounts
    merged: bool


def headline(summary: DistillSummary) -> Iterator[str]:
    """Yield the result of the training, and its cost."""
    counts = summary["examples"]
    noise = f", {counts['noise']:,} of them noise" if counts["noise"] else ""
    yield (
        f"{counts['train']:,} documents to train on, {counts['validation']:,} to validate "
        f"with{noise}; {_left_out(counts)}"
    )
    yield from training_lines(summary, "epoch")


def _left_out(counts: ExampleCounts) -> str:
    kinds = {
        "documents without profile": counts["documents_without_profile"],
        "profiles without document": counts["without_document"],
        "failed profiles": counts["failed"],
        "documents without text": counts["documents_without_text"],
        "too long": counts["too_long"],
    }
    parts = [f"{n:,} {kind}" for kind, n in kinds.items() if n]
    return f"left out: {', '.join(parts)}" if parts else "none left out"
