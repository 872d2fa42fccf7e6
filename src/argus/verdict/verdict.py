"""From a folder of results to its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from argus.verdict import counts as c
from argus.verdict.actions import actions
from argus.verdict.reading import Results
from argus.verdict.sections import AuditSection, ExposureSection, TrafficSection, describe_log
from argus.verdict.summary import FolderVerdict, VerdictCount, VerdictLevel
from argus.verdict.validity import of_rps

SHORT = {
    c.BY_ITSELF: "reachable by its own vector",
    c.BY_ITS_WORDS: "found by its own sentences",
    c.BY_NEED: "found by what is asked or needed",
    c.SUPERSEDED: "served what is in force",
}
"""The counts in a few words."""
FOUND = {
    c.BY_ITSELF: "come back for their own vector",
    c.BY_ITS_WORDS: "find their own document",
    c.BY_NEED: "have something relevant in the first results",
    c.SUPERSEDED: "were served nothing superseded",
}
"""What is said of those that are found."""
BY_SOURCE = {
    "argus scenarios needs": "come back for something that they are needed for",
    "argus authority audit": "bring what replaced them",
}
"""What is said of them in its place, by the command that counted."""


def read_verdict(folder: Path | str) -> FolderVerdict:
    """Return what the results in a folder come to, and what to do next.

    A folder without results has four counts that are not measured, and says by which commands they
    are. Raises InputError for a summary.json or manifest.json that is damaged.
    """
    results = Results.of(Path(folder))
    counts = c.all_counts(results)
    return FolderVerdict(
        _answer(results, counts), counts, tuple(_explanations(results)), actions(results, counts)
    )


def _answer(results: Results, counts: tuple[VerdictCount, ...]) -> str:
    """Return it in plain words: what was read, what is bad first, what was not measured last."""
    order = (VerdictLevel.BAD, VerdictLevel.DOUBTFUL, VerdictLevel.GOOD)
    log = results.section("traffic", TrafficSection)
    parts = [describe_log(log)] if log is not None else []
    parts += [
        f"{level.capitalize()}: {'; '.join(of_level)}."
        for level in order
        if (of_level := [_plain(count) for count in counts if count.level is level])
    ]
    missing = [SHORT[n.name] for n in counts if n.level is VerdictLevel.NOT_MEASURED]
    if missing:
        parts.append(f"Not measured: {', '.join(missing)}.")
    return " ".join(parts)


def _plain(count: VerdictCount) -> str:
    """Return a count as a person would say it: what is found, of how many, why that is doubt."""
    what = BY_SOURCE.get(count.source, FOUND[count.name])
    text = f"{count.count:,} of {count.total:,} {count.unit} {what}"
    if count.level is not VerdictLevel.DOUBTFUL or count.bounds is None:
        return text
    share = f"{count.low:.1%}" + (f" to {count.high:.1%}" if count.low < count.high else "")
    return f"{text}, {share} of all ({count.bounds.words})"


def _explanations(results: Results) -> Iterator[str]:
    """Yield what must stand beside figures that seem to contradict each other."""
    audit = results.section("audit", AuditSection)
    exposure = results.section("exposure", ExposureSection)
    if audit is not None and audit["mean_rps"] is not None and exposure is not None:
        low = audit["share_below_0.33"] or 0.0
        yield (
            f"“{exposure['never_retrieved']:,} of {_counted(exposure):,} never come "
            f"back” and “{low:.1%} blind spots” are two questions. The first counts documents that "
            f"none of all queries brought into the top {exposure['k']}: one lucky query is enough "
            f"to leave it. The second counts entities that fewer than a third of their related "
            f"entities bring into the top {audit['k']} of {audit['pool']:,}. A document can come "
            "back for something and still not for what it is related to."
        )
    if audit is not None and audit["mean_rps"] is not None:
        yield from (f"RPS, {text}." for text in of_rps(results) if text.kind == "measured here")
    if audit is not None or exposure is not None:
        both = "Both measure" if audit is not None and exposure is not None else "This measures"
        yield (
            f"{both} reachability, and cannot tell which real questions fail: AUC 0.50 to 0.52 on "
            "16 judged collections, where 0.50 is chance."
        )


def _counted(exposure: ExposureSection) -> int:
    """Return of how many documents it is told whether they come back: of a sample, the drawn."""
    counts = exposure["documents"]
    return counts["measured"] if "sample" in exposure else counts["total"]
