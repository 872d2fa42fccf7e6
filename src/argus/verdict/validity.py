"""What each figure was seen to tell of real questions: here, elsewhere, or nowhere."""

from __future__ import annotations

import numpy as np

from argus.measures.intervals import Discrimination, discrimination
from argus.verdict.reading import Results
from argus.verdict.summary import Validity

DEPTH = 10
"""A question fails whose wanted document is not among so many."""
STUDY = "16 judged collections of 11 families (docs/results.md, What reachability tells)"
EXPOSURE = Validity(
    "measured elsewhere",
    f"AUC 0.50 to 0.52 for the failure of real questions, chance, on {STUDY}",
)
RPS = Validity(
    "measured elsewhere", f"AUC 0.50 for the failure of real questions, chance, on {STUDY}"
)
NEEDS = Validity(
    "measured elsewhere",
    "AUC 0.66 (0.59 to 0.73) for the failure of real questions, on one collection, Python's "
    "documentation (docs/results.md, What reachability tells)",
)
REACH = Validity("not validated", "a fact about the store; real questions are not asked")
AUTHORITY = Validity(
    "not validated",
    "superseded documents ask with their own words; whether people ask so is not known",
)


def real_questions(n: int, what: str) -> Validity:
    """Return the validity of what real questions came to."""
    return Validity("measured here", f"{n:,} {what} themselves: no prediction")


def of_exposure(results: Results) -> tuple[Validity, ...]:
    """Return what exposure tells of the folder's own judged questions, and what elsewhere."""
    targets = _targets(results)
    table = results.table("exposure", ["id", "sentence_rank"])
    if table is None or not targets:
        return (EXPOSURE,)
    ranks = dict(zip(table["id"].to_pylist(), table["sentence_rank"].to_pylist(), strict=True))
    rows = [
        (ranks[name], has_failed) for name, has_failed in targets if ranks.get(name) is not None
    ]
    return _with_here(rows, "the rank for the best of its own sentences", EXPOSURE)


def of_rps(results: Results) -> tuple[Validity, ...]:
    """Return what RPS tells of the folder's own judged questions, and what elsewhere."""
    table = results.table("questions", ["rank", "rps"])
    if table is None:
        return (RPS,)
    pairs = zip(table["rps"].to_pylist(), table["rank"].to_pylist(), strict=True)
    rows = [(-rps, rank is None or rank > DEPTH) for rps, rank in pairs if rps is not None]
    return _with_here(rows, "the RPS of what is wanted", RPS)


def of_needs(area: Discrimination | None) -> tuple[Validity, ...]:
    """Return what needs tell of judged questions here, if any were asked, and what elsewhere."""
    if area is None:
        return (NEEDS,)
    return (_here(area, "the typical rank under a document's own needs", "pairs of question and "
                  "relevant document"), NEEDS)  # fmt: skip


def _targets(results: Results) -> list[tuple[str, bool]]:
    """Return the one document that each judged question wants, and whether the question failed."""
    table = results.table("questions", ["wanted", "rank"])
    if table is None:
        return []
    rows = zip(table["wanted"].to_pylist(), table["rank"].to_pylist(), strict=True)
    return [(name, rank is None or rank > DEPTH) for name, rank in rows if ", " not in name]


def _with_here(
    rows: list[tuple[float, bool]], what: str, elsewhere: Validity
) -> tuple[Validity, ...]:
    scores = np.array([score for score, _ in rows], float)
    area = discrimination(scores, [has_failed for _, has_failed in rows]) if rows else None
    return (elsewhere,) if area is None else (_here(area, what), elsewhere)


def _here(area: Discrimination, what: str, of: str = "judged questions") -> Validity:
    reading = "no better than chance" if area["low"] <= 0.5 <= area["high"] else "not chance"
    return Validity(
        "measured here",
        f"AUC {area['auc']:.2f} ({area['low']:.2f} to {area['high']:.2f}) of {what} for the "
        f"failure of {area['n']:,} {of}: {reading}",
    )
