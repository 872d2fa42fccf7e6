"""The risk of documents in summary.json, key by key, and in words. Shares are from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.jobs.recorded_model import Answers, spent
from argus.measures.intervals import Discrimination


class JudgedRisk(TypedDict):
    """Worth of the typical rank on judged questions.

    questions: judged questions whose documents' needs were asked.
    pairs: pairs of question and relevant document that needs asked for.
    failed: of these, pairs whose document does not come back.
    area: AUC of the typical rank for failure. None where fewer than five failed, or did not.
    """

    questions: int
    pairs: int
    failed: int
    area: Discrimination | None


class FurtherNeeds(TypedDict):
    """Needs that were written besides, and of how many documents.

    documents: documents of which needs were written besides.
    needs: needs that were written besides.
    """

    documents: int
    needs: int


class NeedRisk(TypedDict):
    """The risk of documents. Of those that chunks are of where `parent_field` says so.

    parent_field: field that names the document of a chunk. None without chunks.
    documents: documents of the corpus.
    measured: documents that were asked for.
    reached: of these, documents that a need brings into the top k.
    low, high: 95% interval of their share.
    sample: documents that were to be drawn. None for all.
    until_width: width of the interval to draw until. None for none.
    written: documents whose needs were written in this run.
    """

    k: int
    parent_field: str | None
    documents: int
    measured: int
    reached: int
    low: float
    high: float
    sample: int | None
    until_width: float | None
    written: int
    further: FurtherNeeds
    judged: JudgedRisk | None
    validity: list[str]
    """Worth of the order on real questions: measured here, and elsewhere."""


class WithRisk(TypedDict):
    """The risk beside a need audit. Folders of earlier versions lack it."""

    risk: NotRequired[NeedRisk]
    language_model: NotRequired[Answers]


def risk_lines(summary: WithRisk) -> Iterator[str]:
    """Yield the sample, its figures, and their worth for real questions."""
    risk = summary.get("risk")
    if risk is None or not risk["measured"]:
        return
    if "language_model" in summary:
        yield f"needs written for {risk['written']:,} documents: {spent(summary['language_model'])}"
    whose = f", folded by {risk['parent_field']}," if risk["parent_field"] else ""
    yield (
        f"at risk: {risk['measured'] - risk['reached']:,} of {risk['measured']:,} documents{whose} "
        f"come into the top {risk['k']} for none of their needs "
        f"({1 - risk['high']:.1%} to {1 - risk['low']:.1%}); asked for: {risk['measured']:,} of "
        f"{risk['documents']:,}"
    )
    if (width := risk["until_width"]) is not None and risk["high"] - risk["low"] > width:
        yield (
            f"the interval is {risk['high'] - risk['low']:.3f} wide, not {width:g}: no more "
            "documents with needs could be drawn"
        )
    if risk["further"]["documents"]:
        yield (
            f"{risk['further']['documents']:,} documents that only some of their needs find got "
            f"{risk['further']['needs']:,} more"
        )
    yield f"what that order tells of real questions: {'; '.join(risk['validity'])}"
    if risk["judged"] is None:
        yield "Measure it here: --queries and --qrels. The riskiest stand first in need_risk.csv."
