"""The four counts, each from the first of its sources that was measured.

A source that is to come is one more entry in SOURCES: the name that its job has in summary.json,
and a function from the results to a count, None where the job did not run or measured nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from argus.measures.intervals import wilson
from argus.verdict import bounds, validity
from argus.verdict.places import Places
from argus.verdict.reading import Results
from argus.verdict.sections import (
    AuthoritySection,
    EvaluationSection,
    ExposureSection,
    JudgingSection,
    LintSection,
    NeedsSection,
    QuestionsSection,
    ReachSection,
    ServedNeedsSection,
    TrafficSection,
)
from argus.verdict.summary import CountBounds, Validity, VerdictCount

BY_ITSELF, BY_ITS_WORDS, BY_NEED = "by_itself", "by_its_words", "by_need"
SUPERSEDED = "in_force_served"
QUESTIONS = {
    BY_ITSELF: "Does the store bring every record back for its own vector?",
    BY_ITS_WORDS: "Is a document found by its own sentences?",
    BY_NEED: "Is found what people ask, or what documents are needed for?",
    SUPERSEDED: "Is what is in force served, and not what it superseded?",
}
"""The four counts, in their order."""
JUDGE = "argus traffic judge"
"""The source of a count that judged questions of a log estimate."""
Source = Callable[[Results], VerdictCount | None]


def all_counts(results: Results) -> tuple[VerdictCount, ...]:
    """Return the four counts; one that nothing measured says what would."""
    return tuple(_count(name, results) for name in QUESTIONS)


def _count(name: str, results: Results) -> VerdictCount:
    for source in SOURCES[name]:
        count = source(results)
        if count is not None and count.total:
            return replace(count, command="")
    measuring = MEASURED_BY[name](results.places)
    return VerdictCount(name=name, question=QUESTIONS[name], command=measuring)


def _counted(
    name: str,
    count: int,
    total: int,
    limits: CountBounds,
    *,
    is_sample: bool = True,
    unit: str,
    source: str,
    meaning: str,
    of: tuple[Validity, ...],
    interval: tuple[float, float] | None = None,
) -> VerdictCount | None:
    """Return a count with its level. is_sample: else all there is was counted, without an error.

    interval: of the share, where what measured it tells one.
    """
    if not total:
        return None
    share = count / total
    low, high = (float(end) for end in wilson(share, total)) if is_sample else (share, share)
    low, high = interval or (low, high)
    return VerdictCount(
        name=name, question=QUESTIONS[name], total=total, count=count, unit=unit, low=low,
        high=high, level=limits.level(low, high), bounds=limits, source=source, meaning=meaning,
        validity=of,
    )  # fmt: skip


def _reach(results: Results) -> VerdictCount | None:
    section = results.section("reach", ReachSection)
    if section is None:
        return None
    reached, broken = section["reached"], sum(section["broken"].values())
    return _counted(
        BY_ITSELF, reached["reached"], reached["asked"] + broken, bounds.BY_ITSELF,
        is_sample=reached["asked"] < section["reachable"],
        unit="records", source="argus reach",
        meaning=f"come back in the top {section['k']}, asked for by their own vectors"
        + (f"; {broken:,} have no whole vector" if broken else ""),
        of=(validity.REACH,),
    )  # fmt: skip


def _exposure(results: Results) -> VerdictCount | None:
    section = results.section("exposure", ExposureSection)
    if section is None:
        return None
    figures = section.get("parents") or section
    kind, left_in = figures["sentence"], "retriever" in section
    meaning = f"bring their own {'document' if 'parents' in section else 'text'} into the top "
    meaning += f"{figures['k']}; "
    meaning += "the sentence stays in it" if left_in else "it is searched without the sentence"
    return _counted(
        BY_ITS_WORDS, round((kind["success_at_k"] or 0.0) * kind["probes"]), kind["probes"],
        bounds.LEFT_IN if left_in else bounds.HELD_OUT,
        unit="sentences", source="argus exposure", meaning=meaning,
        of=validity.of_exposure(results),
        interval=(kind["low"], kind["high"]) if "low" in kind and "high" in kind else None,
    )  # fmt: skip


def _traffic(results: Results) -> VerdictCount | None:
    """Return how many asks were served nothing superseded."""
    section = results.section("traffic", TrafficSection)
    stale = section["superseded"] if section else None
    if section is None or stale is None or stale["asks"] is None:
        return None
    asks = stale["asks"]
    return _counted(
        SUPERSEDED, asks["n"] - round(asks["share"] * asks["n"]), asks["n"], bounds.STALE,
        unit="asks", source="argus traffic",
        meaning=f"were served nothing superseded in the top {section['k']}",
        of=(validity.real_questions(asks["n"], "asks"),),
    )  # fmt: skip


def _judging(results: Results) -> VerdictCount | None:
    """Return how many real questions are answered, as few judged ones estimate it."""
    section = results.section("judging", JudgingSection)
    hits = [one for one in section["estimates"] if one["measure"] == "hits@k"] if section else []
    if section is None or not hits:
        return None
    hit, asked = hits[0], section["asked"]
    return VerdictCount(
        name=BY_NEED, question=QUESTIONS[BY_NEED], total=asked, count=round(hit["mean"] * asked),
        unit="real questions", low=hit["low"], high=hit["high"],
        level=bounds.ANSWERED.level(hit["low"], hit["high"]), bounds=bounds.ANSWERED,
        source=JUDGE,
        meaning=f"have something relevant in the top {section['k']}, estimated",
        validity=(validity.real_questions(hit["judged"], "judged questions"),),
    )  # fmt: skip


def _judged(results: Results) -> VerdictCount | None:
    """Return how many judged questions the last system answered."""
    if results.section("evaluation", EvaluationSection) is None:
        return None
    for column in ("R@10", "R@10 after"):
        table = results.table("per_query", ["state", column])
        if table is not None:
            values = [v for v in table[column].to_pylist() if v is not None]
            return _answered(sum(v > 0 for v in values), len(values), "argus evaluate")
    return None


def _sample_questions(results: Results) -> VerdictCount | None:
    if results.section("questions", QuestionsSection) is None:
        return None
    table = results.table("questions", ["rank"])
    if table is None:
        return None
    ranks = table["rank"].to_pylist()
    hits = sum(rank is not None and rank <= validity.DEPTH for rank in ranks)
    return _answered(hits, len(ranks), "argus demo")


def _answered(count: int, total: int, source: str) -> VerdictCount | None:
    return _counted(
        BY_NEED, count, total, bounds.ANSWERED, unit="judged questions", source=source,
        meaning=f"have something relevant in the top {validity.DEPTH}",
        of=(validity.real_questions(total, "judged questions"),),
    )  # fmt: skip


def _needs(results: Results) -> VerdictCount | None:
    section = results.section("needs", NeedsSection)
    if section is None:
        return None
    return _needed(section, section["alone"]["unreached"])


def _needs_served(results: Results) -> VerdictCount | None:
    section = results.section("needs_served", ServedNeedsSection)
    if section is None:
        return None
    return _needed(section, section["unreached"])


def _needed(section: NeedsSection | ServedNeedsSection, unreached: int) -> VerdictCount | None:
    measured, area = section["documents"]["measured"], None
    reached = measured - unreached
    if (risk := section.get("risk")) is not None:
        reached, measured = risk["reached"], risk["measured"]
        area = risk["judged"]["area"] if risk["judged"] else None
    return _counted(
        BY_NEED, reached, measured, bounds.NEEDED, unit="documents",
        source="argus scenarios needs",
        meaning=f"come back in the top {section['k']} for one at least of what they are needed for",
        of=validity.of_needs(area),
    )  # fmt: skip


def _lint(results: Results) -> VerdictCount | None:
    section = results.section("lint", LintSection)
    rate = section["rates"].get("stale_queries") if section else None
    if section is None or rate is None:
        return None
    n = rate["queries"]
    return _counted(
        SUPERSEDED, n - round(rate["share"] * n), n, bounds.STALE,
        unit="queries", source="argus authority lint",
        meaning=f"were served nothing superseded in the top {section['k']}",
        of=(validity.real_questions(n, "queries of the run"),),
    )  # fmt: skip


def _authority(results: Results) -> VerdictCount | None:
    section = results.section("authority", AuthoritySection)
    if section is None:
        return None
    for proxy in ("text", "title"):
        figures = section["proxies"].get(proxy)
        if figures and figures["documents"]:
            n = figures["documents"]
            return _counted(
                SUPERSEDED, round(figures.get("reachable", 0.0) * n), n, bounds.SUPERSEDED,
                unit="superseded documents", source="argus authority audit",
                meaning=f"asked with their {proxy}, bring what controls them into the top "
                f"{section['k']}; the others answer a question in their words themselves",
                of=(validity.AUTHORITY,),
            )  # fmt: skip
    return None


SOURCES: dict[str, tuple[Source, ...]] = {
    BY_ITSELF: (_reach,),
    BY_ITS_WORDS: (_exposure,),
    BY_NEED: (
        _judging,
        _judged,
        _sample_questions,
        _needs_served,
        _needs,
    ),
    SUPERSEDED: (_traffic, _lint, _authority),
}
"""By count, what may measure it; the first that did is shown: real questions before others."""
MEASURED_BY: dict[str, Callable[[Places], str]] = {
    BY_ITSELF: lambda p: p.reaching,
    BY_ITS_WORDS: lambda p: p.exposing,
    BY_NEED: lambda p: p.evaluating,
    SUPERSEDED: lambda p: p.auditing_authority,
}
"""By count, the command that measures it."""
