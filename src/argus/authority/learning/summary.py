"""What proposing, accepting and learning tell."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.authority.learning.model import ModelFile
from argus.authority.learning.quality import ProposalQuality, quality_lines


class ProposalSummary(TypedDict):
    """Proposals of a corpus.

    records: records that were read.
    candidates: pairs that any clue spoke for, whatever their confidence.
    proposals: pairs that are sure enough to be proposed.
    known: candidates that were left out, since the edges hold them already.
    least: least confidence of a proposal.
    kinds: proposals by what shows them first.
    model: model that gave the confidences.
    untold: clues that the model never saw in a labelled pair: their weight is a guess.
    quality: figures against labels; None without any.
    """

    records: int
    candidates: int
    proposals: int
    known: int
    least: float
    kinds: dict[str, int]
    model: str
    untold: list[str]
    quality: ProposalQuality | None


class AcceptSummary(TypedDict):
    """What became of reviewed proposals.

    accepted: proposals that were accepted.
    rejected: proposals that were rejected.
    undecided: proposals without a decision.
    edges: edges that were written: accepted, and undecided that were taken.
    """

    accepted: int
    rejected: int
    undecided: int
    edges: int


class LearntSummary(TypedDict):
    """A model learnt of reviewed proposals.

    files: files of reviewed proposals that were read.
    undecided: proposals without a decision, left out.
    """

    files: int
    undecided: int
    model: ModelFile


def proposal_lines(summary: ProposalSummary) -> Iterator[str]:
    """Yield the figures of proposing in words."""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in summary["kinds"].items())
    yield (
        f"{summary['proposals']:,} proposals of {summary['candidates']:,} candidate pairs over "
        f"{summary['records']:,} records (confidence from {summary['least']:g})"
    )
    if kinds:
        yield f"by what shows them: {kinds}"
    if summary["known"]:
        yield f"left out, since they are edges already: {summary['known']:,}"
    if summary["untold"]:
        yield f"no labelled pair told the weight of: {', '.join(summary['untold'])}"
    if summary["quality"] is not None:
        yield from quality_lines(summary["quality"])


def accept_lines(summary: AcceptSummary) -> Iterator[str]:
    """Yield the figures of accepting in words."""
    yield (
        f"{summary['edges']:,} edges: {summary['accepted']:,} accepted; "
        f"{summary['rejected']:,} rejected, {summary['undecided']:,} undecided"
    )


def learnt_lines(summary: LearntSummary) -> Iterator[str]:
    """Yield the figures of learning in words."""
    model = summary["model"]
    yield (
        f"learnt of {model['labelled']:,} decided pairs, {model['accepted']:,} of them accepted; "
        f"{summary['undecided']:,} undecided were left out"
    )
    for clue, weight in sorted(model["weights"].items(), key=lambda pair: -pair[1]):
        n = model["told_by"][clue]
        yield f"  {clue:<16} {weight:+.2f}  {f'in {n:,} pairs' if n else 'in no pair: a guess'}"
