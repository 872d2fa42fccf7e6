"""The section of summary.json that a correction of queries writes, key by key."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.indexes.views import BEFORE
from argus.measures.significance import DifferenceFigures


class NeedCounts(TypedDict):
    """Sources of the correction.

    source: profiles, needs, titles or sentences.
    used: texts with a vector.
    failed: texts that the encoder rejected.
    documents: documents of the index that have some.
    elsewhere: documents with some that the index does not hold.
    """

    source: str
    used: int
    failed: int
    documents: int
    elsewhere: int


class LearntCorrection(TypedDict):
    """Learnt correction.

    alpha: strength α of the correction. 0 where nothing was prescribed.
    rank: rank of the correction's matrix.
    epoch: epoch that was kept.
    held_out: mean reciprocal rank over documents, by a learning that saw none of their needs.
    """

    alpha: float
    rank: int
    epoch: int
    held_out: DifferenceFigures
    seconds: float


class JudgedNeeds(TypedDict):
    """Judged questions of the receipt.

    questions: judged questions.
    with_needs: questions that want a document it was learnt from.
    """

    questions: int
    with_needs: int


class AdaptSummary(TypedDict):
    """The receipt of a correction.

    file: file of the correction. None where nothing was prescribed.
    prescribed: whether the index is searched with it.
    added: false where it was so already.
    documents: documents of the index.
    bytes: bytes of the file.
    multiplications: multiplications that a query costs more.
    others: other corrections in the index, which count no more.
    judged: judged questions of the receipt. None without.
    """

    remedy: str
    index: str
    file: str | None
    prescribed: bool
    added: bool
    documents: int
    needs: NeedCounts
    learnt: LearntCorrection
    bytes: int
    multiplications: int
    others: list[str]
    judged: JudgedNeeds | None


UNLABELLED = ("titles", "sentences")


def headline(summary: AdaptSummary) -> Iterator[str]:
    """Yield the sources, the result on held-out needs, and the advice."""
    needs, learnt = summary["needs"], summary["learnt"]
    if summary["prescribed"] and not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    what = needs["source"] if needs["source"] in UNLABELLED else "needs"
    yield (
        f"{summary['remedy']}: learnt from {needs['used']:,} {what} of {needs['documents']:,} of "
        f"{summary['documents']:,} documents in {learnt['seconds']:.0f} s"
    )
    if needs["elsewhere"]:
        yield f"needs of {needs['elsewhere']:,} documents that the index does not hold: left out"
    if needs["failed"]:
        yield f"{needs['failed']:,} {what} could not be embedded and are left out"
    yield _held_out(learnt, what)
    yield from _kept(summary) if summary["prescribed"] else _abstained(summary)


def _held_out(learnt: LearntCorrection, what: str) -> str:
    held = learnt["held_out"]
    interval = (
        f"no interval: {held['no_interval']}"
        if held["low"] is None
        else f"95% {held['low']:+.3f} to {held['high']:+.3f}"
    )
    return (
        f"{what} held out, mean reciprocal rank of their documents among all: "
        f"{held['mean_before']:.3f} → {held['mean_after']:.3f} "
        f"({held['mean_difference']:+.3f}, {interval}); {held['improved']:,} documents improved, "
        f"{held['harmed']:,} harmed"
    )


def _kept(summary: AdaptSummary) -> Iterator[str]:
    learnt, remedy, index = summary["learnt"], summary["remedy"], summary["index"]
    yield (
        f"rank {learnt['rank']}, α = {learnt['alpha']:g}: {summary['bytes'] / 1024:.0f} KiB, "
        f"{summary['multiplications']:,} multiplications more per query, no view"
    )
    if summary["others"]:
        yield f"in place of {', '.join(summary['others'])}: the latest correction counts"
    judged = summary["judged"]
    if judged is not None and judged["with_needs"]:
        yield (
            f"{judged['with_needs']:,} of the {judged['questions']:,} judged questions want a "
            "document that it was learnt from; what it does for others is told by the rest"
        )
    if summary["needs"]["source"] in UNLABELLED:
        yield (
            f"WARNING: learnt from {summary['needs']['source']}, which did not carry over to "
            "questions where that was measured (docs/results.md): judge it before you serve it"
        )
    if judged is None:
        yield (
            "what it does to real questions was not measured: with --queries and --qrels the same "
            "command says so"
        )
    yield (
        f"every query of {index} is corrected from now on; {index}@{BEFORE}{remedy} is as before. "
        f"A store with the same vectors is asked with --correction {summary['file']}"
    )


def _abstained(summary: AdaptSummary) -> Iterator[str]:
    yield (
        f"nothing was prescribed: held out, {summary['needs']['source']} do not improve beyond "
        f"chance; {summary['index']} is searched as before"
    )
    yield "Needs of more documents may tell more (argus tune apply scenarios writes them)."
