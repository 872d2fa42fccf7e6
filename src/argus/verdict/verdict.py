"""Sum up a folder of results in at most four counts, the worst first, with what to do next.

Printed at the end of most commands, and on top of reports and of `argus serve`. The counts are of
real questions that are answered, of answers that are in force, of chunks that are as their source
is, and of stored records that their own vector finds. Each comes from the first of its jobs that
ran; what no job measured is named in one line. What a search finds by a document's own words is no
count here: it does not tell which questions fail (docs/results/what-reachability-tells.md). To add
a source, add its job and a function from the job's section to a count to `KINDS`. It returns None
if it cannot count. Rules then look at the results and yield actions. Gains were measured on other
collections: they are an expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from argus.commands import command
from argus.data.folders import ArtifactFolder
from argus.measures.intervals import Discrimination, wilson
from argus.stores.spec import BLENDED
from argus.verdict.results import Results

# Source of a count that is estimated from judged questions of a log.
JUDGE, JUDGED = "argus traffic judge", "judged questions"
# Jobs that search a corpus, where others read a store or a run.
SEARCHED = frozenset(("audit", "exposure", "evaluation", "needs"))
# Jobs after which no blend is proposed.
BLENDING = frozenset(("blend", "repair", "adapt", "written"))
# Jobs that argus gate compares with a baseline.
COMPARED = frozenset(("audit", "exposure", "evaluation", "needs", "authority"))
# Gain of the blend where it was measured, beside its rivals on the same vectors.
BLEND_MEASURED = (
    "On nine judged collections it gained nDCG@10 +0.042 in the mean, from -0.004 to +0.126; "
    "min-max 0.3 +0.035, 0.5 +0.034, RRF (60) +0.019, DBSF +0.032, the best fixed fusion of each "
    "+0.050 (docs/three-lines.md)"
)


class VerdictLevel(StrEnum):
    """Grade of a count, in the order of the verdict."""

    BAD = "bad"
    DOUBTFUL = "doubtful"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class CountBounds:
    """Shares at which a count is good or bad. Between them it is doubtful.

    good: share from which it is good, inclusive.
    bad: share up to which it is bad, inclusive.
    why: where the bounds come from, in one sentence.
    """

    good: float
    bad: float
    why: str

    def level(self, low: float, high: float) -> VerdictLevel:
        """Grade the 95% interval of a share: the whole of it must lie beyond a bound.

        low, high: ends of the interval, equal where everything was counted.
        """
        if low >= self.good:
            return VerdictLevel.GOOD
        return VerdictLevel.BAD if high <= self.bad else VerdictLevel.DOUBTFUL

    @property
    def words(self) -> str:
        """The bounds as a person reads them."""
        return f"good: at least {100 * self.good:g}%; bad: at most {100 * self.bad:g}%"


@dataclass(frozen=True, slots=True)
class Validity:
    """Evidence that a figure predicts which real questions fail.

    kind: measured here, measured elsewhere, or not validated.
    text: the evidence.
    """

    kind: Literal["measured here", "measured elsewhere", "not validated"]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictCount:
    """One line of the verdict: how many of how many.

    name: by_need, in_force_served, as_its_source or by_itself.
    short: the count in a few words.
    count: how many are found.
    total: items that it is of, 0 where it is not measured.
    unit: unit of the items.
    low, high: 95% interval of the share.
    level: good, doubtful or bad.
    source: command that counted it.
    meaning: meaning of the count, in words.
    validity: evidence that it predicts failures of real questions.
    """

    name: str = ""
    short: str = ""
    count: int = 0
    total: int = 0
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    level: VerdictLevel
    bounds: CountBounds
    source: str = ""
    meaning: str = ""
    validity: tuple[Validity, ...] = ()

    @property
    def share(self) -> float:
        """The share that is found."""
        return self.count / self.total

    @property
    def words(self) -> str:
        """The count as a person reads it."""
        interval = f", {self.low:.1%} to {self.high:.1%}" if self.low < self.high else ""
        share = f"{self.share:.1%}{interval}"
        return f"{self.count:,} of {self.total:,} {self.unit} ({share}) {self.meaning}"


@dataclass(frozen=True, slots=True)
class VerdictAction:
    """A command to run next, its expected gain, and the evidence.

    title: the action.
    command: command to copy.
    evidence: evidence for it.
    brings: share of questions (gain of nDCG@10), records or documents that it is expected to mend.
    """

    title: str
    command: str
    evidence: str
    brings: float = 0.0


@dataclass(frozen=True, slots=True)
class FolderVerdict:
    """The verdict of a folder of results.

    answer: the verdict in one sentence.
    counts: what was measured, the worst first.
    actions: at most five, best first.
    missing: what was not measured, in a few words each.
    command: the one that would add most.
    """

    answer: str
    counts: tuple[VerdictCount, ...]
    actions: tuple[VerdictAction, ...]
    missing: tuple[str, ...]
    command: str

    @property
    def is_measured(self) -> bool:
        """Tell whether any count was measured, or there is an action."""
        return bool(self.actions or self.counts)


# Shares at which each count is good or bad: declared here, once, with the reason.
BOUNDS = {
    "reach": CountBounds(0.999, 0.99, "An exact search brings every record back for its own "
        "vector. A store that lost 22 of 2,000 after deletions (98.9%) was seen to be broken."),
    "needed": CountBounds(0.9, 0.7, "A convention: one need in ten without an answer is good, "
        "three in ten are bad. MiniLM on Python's documentation: 82.3%."),
    "answered": CountBounds(0.9, 0.7, "A convention: 1 in 10 unanswered is good, 3 in 10 are bad."),
    "superseded": CountBounds(0.94, 0.75, "argus authority search brings 94% to what replaced "
        "them, MiniLM 26% (docs/results/superseded-documents.md). Bad by convention: 75%."),
    "stale": CountBounds(1.0, 0.95, "Filtering by the rules removes all that is superseded."),
    "drift": CountBounds(1.0, 0.95, "A convention: one outdated chunk in twenty is bad."),
}  # fmt: skip

NEEDS = Validity(
    "measured elsewhere",
    "of two documents of which one fails real questions it ranks that one lower in 66% (59% to "
    "73%), on one collection, Python's documentation (docs/results/what-reachability-tells.md)",
)


def read_verdict(folder: Path | str) -> FolderVerdict:
    """Return the verdict of a folder of results, and at most five actions, best first.

    Of a folder without results nothing is counted. Raises InputError for a summary.json or
    manifest.json that is damaged.
    """
    results = Results.of(Path(folder))
    counts: dict[str, VerdictCount] = {}
    with results.reading():
        for name, (short, _, sources) in KINDS.items():
            there = (job for job in sources if job in results.sections)
            ran = (sources[job](results, results.sections[job]) for job in there)
            if count := next((count for count in ran if count), None):
                counts[name] = replace(count, name=name, short=short)
        actions = [*_repair(results, counts), *_go_on(results, counts)]
    actions.sort(key=lambda action: -action.brings)
    ordered = sorted(counts.values(), key=lambda count: [*VerdictLevel].index(count.level))
    answer = ""
    for level, ones in groupby(ordered, key=lambda count: count.level):
        told = (f"{one.short} ({one.count:,} of {one.total:,} {one.unit})" for one in ones)
        answer += f"{' ' if answer else ''}{level.capitalize()}: {', '.join(told)}."
    missing = [kind for name, kind in KINDS.items() if name not in counts]
    command = getattr(results, missing[0][1]) if missing else ""
    shorts = tuple(kind[0] for kind in missing)
    return FolderVerdict(answer, tuple(ordered), tuple(actions[:5]), shorts, command)


def verdict_lines(verdict: FolderVerdict) -> Iterator[str]:
    """Yield the verdict as the last lines of a command. An empty one has no lines."""
    if not verdict.is_measured:
        return
    yield ""
    yield f"verdict: {verdict.answer or 'nothing is counted yet.'}"
    for count in verdict.counts:
        yield f"  {count.level.upper():<9} {count.short}: {count.words}"
    if verdict.missing:
        yield f"  not measured: {'; '.join(verdict.missing)}. What would add most:"
        yield f"  {'':<9} {verdict.command}"
    if verdict.actions:
        yield "next, by what it is expected to bring:"
    for number, action in enumerate(verdict.actions, 1):
        yield from (f"  {number}. {action.title}", f"     {action.command}")
        yield f"     {action.evidence}"


def _graded(
    bounds: str, count: int, total: int, interval: tuple[float, float] | None = None, **more: Any
) -> VerdictCount | None:
    """Return a count with its grade. interval: of the share, by default Wilson's of a sample."""
    if not total:
        return None
    low, high = map(float, interval or wilson(count / total, total))
    grade: dict[str, Any] = {"bounds": BOUNDS[bounds], "level": BOUNDS[bounds].level(low, high)}
    return VerdictCount(count=count, total=total, low=low, high=high, **grade, **more)


def _count_reach(results: Results, section: Any) -> VerdictCount | None:
    reached, broken = section["reached"], sum(section["broken"].values())
    total, count = reached["asked"] + broken, reached["reached"]
    is_whole = total > 0 and reached["asked"] >= section["reachable"]
    return _graded(
        "reach", count, total, (count / total, count / total) if is_whole else None,
        unit="records", source="argus check",
        validity=(Validity("not validated", "a fact about the store: it asks no question"),),
        meaning=f"come back in the top {section['k']} for their own vector"
        + (f"; {broken:,} have no whole vector" if broken else ""),
    )  # fmt: skip


def _count_served(results: Results, section: Any) -> VerdictCount | None:
    """Count the asks of a log, or the queries of a run, that were served nothing superseded."""
    is_log = "log" in section
    rates = (section["superseded"] or {}) if is_log else section["rates"]
    stale = rates.get("asks" if is_log else "stale_queries")
    if stale is None:
        return None
    unit, n = ("asks", stale["n"]) if is_log else ("queries", stale["queries"])
    return _graded(
        "stale", n - round(stale["share"] * n), n, unit=unit,
        source="argus traffic" if is_log else "argus authority lint",
        meaning=f"were served nothing superseded in the top {section['k']}",
        validity=_themselves(n, unit),
    )  # fmt: skip


def _count_drift(results: Results, section: Any) -> VerdictCount | None:
    """Count chunks that are as their source is, or sources that are indexed: what is worse."""
    kinds, chunks, sources = section["kinds"], section["chunks"], section["sources"]
    drifted = kinds.get("stale", 0) + kinds.get("orphan", 0)
    total, unit, meaning = chunks, "chunks", "are as their source is now"
    if kinds.get("missing", 0) * chunks > drifted * sources:
        drifted = kinds["missing"]
        total, unit, meaning = sources, "sources", "are indexed"
    share = 1 - drifted / max(1, total)
    return _graded(
        "drift", total - drifted, total, (share, share), unit=unit, meaning=meaning,
        source="argus check", validity=(Validity("not validated", "a fact: drift.csv has each"),),
    )  # fmt: skip


def _count_judging(results: Results, section: Any) -> VerdictCount | None:
    hit = next((one for one in section["estimates"] if one["measure"] == "hits@k"), None)
    return hit and _graded(
        "answered", round(hit["mean"] * section["asked"]), section["asked"],
        (hit["low"], hit["high"]), unit="real questions", source=JUDGE,
        meaning=f"have something relevant in the top {section['k']}, estimated",
        validity=_themselves(hit["judged"], JUDGED),
    )  # fmt: skip


def _count_evaluation(results: Results, section: Any) -> VerdictCount | None:
    from argus.data.tables import read_names, read_table

    path = results.folder / "per_query.parquet"
    names = read_names(path) if path.is_file() else frozenset()
    column = next((name for name in ("R@10", "R@10 after") if name in names), None)
    if column is None:
        return None
    hits = [recall > 0 for recall in read_table(path, [column])[column].drop_null().to_pylist()]
    return _graded(
        "answered", sum(hits), len(hits), unit=JUDGED, source="argus evaluate",
        meaning="have something relevant in the top 10", validity=_themselves(len(hits), JUDGED),
    )  # fmt: skip


def _count_needs(results: Results, section: Any) -> VerdictCount | None:
    risk = section["risk"]
    return _graded(
        "needed", risk["reached"], risk["measured"], unit="documents",
        source="argus research scenarios needs",
        meaning=f"come back in the top {section['k']} for a need of theirs",
        validity=validity_of_needs(risk["judged"]["area"] if risk["judged"] else None),
    )  # fmt: skip


def _count_authority(results: Results, section: Any) -> VerdictCount | None:
    proxies = section["proxies"]
    proxy = next((p for p in ("text", "title") if proxies.get(p, {}).get("documents")), None)
    if proxy is None:
        return None
    n, share = proxies[proxy]["documents"], proxies[proxy].get("reachable", 0.0)
    return _graded(
        "superseded", round(share * n), n, unit="superseded documents", source="argus check",
        meaning=f"bring what replaced them into the top {section['k']}, asked with their {proxy}",
        validity=(Validity("not validated", "they ask with their own words; people may not"),),
    )  # fmt: skip


def _themselves(n: int, questions: str) -> tuple[Validity, ...]:
    """Return the worth of a count of real questions."""
    return (Validity("measured here", f"{n:,} {questions} themselves: no prediction"),)


def validity_of_needs(area: Discrimination | None) -> tuple[Validity, ...]:
    """Return how well needs predict failures of judged questions: here, and elsewhere."""
    if area is None:
        return (NEEDS,)
    chance = "no better than chance" if area["low"] <= 0.5 <= area["high"] else "not chance"
    here = (
        f"of {area['n']:,} pairs of question and relevant document, of two of which one fails it "
        f"ranks that lower in {area['auc']:.0%} ({area['low']:.0%} to {area['high']:.0%}): {chance}"
    )
    return (Validity("measured here", here), NEEDS)


# The questions by name, what adds most first: each in a few words, the attribute of Results with
# the command that measures it, and the functions that count, by the job whose section they read,
# real questions first.
KINDS: dict[str, tuple[str, str, dict[str, Callable[[Results, Any], VerdictCount | None]]]] = {
    "by_need": ("what people ask is answered", "evaluating", {
        "judging": _count_judging, "evaluation": _count_evaluation, "needs": _count_needs,
    }),
    "as_its_source": ("the index is as its sources are", "comparing", {"drift": _count_drift}),
    "by_itself": ("the store finds its own records", "reaching", {"reach": _count_reach}),
    "in_force_served": ("what is served is in force", "auditing_authority", {
        "traffic": _count_served, "lint": _count_served, "authority": _count_authority,
    }),
}  # fmt: skip


def _repair(results: Results, counts: Mapping[str, VerdictCount]) -> Iterator[VerdictAction]:
    """Yield records to write again, rules to serve by, and harm to undo."""
    reached, served = counts.get("by_itself"), counts.get("in_force_served")
    if reached is not None and (lost := reached.total - reached.count):
        yield VerdictAction(
            f"Delete and add the {lost:,} records that the store loses, then measure again",
            results.reaching,
            "unreached.csv names them. Where it was tried, deleting and adding lost none of 2,000",
            lost / reached.total,
        )
    if served is not None and served.level is not VerdictLevel.GOOD:
        yield VerdictAction(
            "Serve what is in force: resolve results by the rules",
            command("authority", "search", "QUESTION", *results.records),
            "on 159 advisories this served what is in force for 94%, not 26% "
            "(docs/results/superseded-documents.md)",
            1 - served.count / served.total,
        )
    drift = results.sections.get("drift")
    if drift and drift["kinds"]:
        ways = {"stale": "re-ingest", "orphan": "delete", "missing": "ingest"}
        kinds = {kind: drift["kinds"][kind] for kind in ways if kind in drift["kinds"]}
        what = ", ".join(f"{ways[kind]} {n:,} {kind}" for kind, n in kinds.items())
        yield VerdictAction(
            f"Work through drift.csv ({what or 'copies and places'}), then compare again",
            results.comparing,
            "what is served first stands on top, each with its reason",
            1 - counts["as_its_source"].share,
        )
    evaluation, index = results.sections.get("evaluation", {}), results.index
    if index is None or "evaluation" not in results.manifest:
        return
    is_undone = any(
        str(ArtifactFolder(note.parent).read_json(note.name).get("at"))
        >= results.manifest["evaluation"]["finished"]
        for note in Path(index).glob("remedies/*/rolled_back.json")
    )
    change = (evaluation.get("comparison") or {}).get(evaluation.get("headline"), {})
    if change.get("verdict") == "worse" and not is_undone:
        yield VerdictAction(
            "Undo the last repair: judged questions say that it harms",
            command("tune", "list", "--index", index),
            f"measured here: {evaluation['headline']} {change['mean_difference']:+.3f}; "
            "argus tune undo ID takes it out",
            abs(change["mean_difference"]),
        )


def _go_on(results: Results, counts: Mapping[str, VerdictCount]) -> Iterator[VerdictAction]:
    """Yield a blend where there is none, questions to judge, and bounds to hold.

    Gains of a blend on other collections are no proof for the records of a store.
    """
    sections, traffic = results.sections, results.sections.get("traffic", {})
    needed, was_searched = counts.get("by_need"), SEARCHED & sections.keys()
    is_judged = needed is not None and needed.source == JUDGE
    is_failing = needed is not None and is_judged and needed.level is not VerdictLevel.GOOD
    has_blend = (results.retriever or "").startswith(BLENDED) or BLENDING & sections.keys()
    if (was_searched or is_failing) and not has_blend:
        title, evidence = "Blend sentences and BM25 into the search", BLEND_MEASURED
        if "tune try" in results.blending:
            title = "Try what finds more, on an index that stays as it is"
            evidence = "each change is measured on your judged questions, with an interval"
        yield VerdictAction(title, results.blending, evidence, 0.042)
    if traffic and not traffic["log"]["hash_only"] and not is_judged:
        yield VerdictAction(
            "Judge 50 real questions: how often they fail, with an interval",
            results.judging_traffic,
            "the interval held the truth in 95% of 500 draws at least "
            "(docs/results/what-reachability-tells.md, Traffic)",
        )
    is_real = needed is None or any(v.kind == "measured here" for v in needed.validity)
    if was_searched and not is_real:  # else the line of what is not measured says so
        yield VerdictAction(
            "Ask judged questions: nothing else here tells which real questions fail",
            results.evaluating,
            "what a document's own words find says no more about that than a coin",
        )
    if COMPARED & sections.keys():
        yield VerdictAction(
            "Keep it from getting worse: compare each later run with this one",
            command("gate", "NEW", "--against", results.out),
            "a paired test over the same documents and questions; exit code 1 where it is worse",
        )
    elif "by_itself" in counts and counts["by_itself"].level is VerdictLevel.GOOD:
        most = ["--max-unreachable-share", f"{1 - BOUNDS['reach'].good:g}"]
        yield VerdictAction(
            "Hold the store to it: check it again after each load, then",
            command("gate", results.out, *most), "exit code 1 if it loses more")  # fmt: skip
