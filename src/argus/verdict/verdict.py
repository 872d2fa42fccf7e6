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
    c.SUPERSEDED: "superseded but served",
}
"""The counts in a few words."""
LACKING = {
    c.BY_ITSELF: "do not come back for their own vector",
    c.BY_ITS_WORDS: "do not find their own document",
    c.BY_NEED: "have nothing relevant in the first results",
    c.SUPERSEDED: "were served",
}
"""What is said of those that are lacking."""
BY_SOURCE = {
    "argus scenarios needs": "come back for none of what they are needed for",
    "argus authority audit": "answer in place of what replaced them",
    "argus authority lint": "were served something superseded",
    "argus traffic": "were served something superseded by then",
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
    """Return a count as a person would say it: what is lacking, of how many, why that is doubt."""
    lacking = count.count if count.name == c.SUPERSEDED else count.total - count.count
    what = BY_SOURCE.get(count.source, LACKING[count.name])
    text = f"{lacking:,} of {count.total:,} {count.unit} {what}"
    if count.level is not VerdictLevel.DOUBTFUL or count.bounds is None:
        return text
    ends, limits = (count.low, count.high), (count.bounds.good, count.bounds.bad)
    if count.bounds.high_is_good:
        ends, limits = (1 - count.high, 1 - count.low), (1 - limits[0], 1 - limits[1])
    share = f"{ends[0]:.1%}" + (f" to {ends[1]:.1%}" if ends[0] < ends[1] else "")
    return f"{text}, {share} of all (at most {limits[0]:.1%} is good, from {limits[1]:.1%} on bad)"


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
