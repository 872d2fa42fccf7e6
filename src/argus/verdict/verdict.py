"""Sum up a folder of results in four shares, each good or bad, with the commands to run next.

Printed at the end of most commands, and on top of reports and of `argus serve`. The shares are of
stored records that their own vector finds, of document sentences that find their document, of
people's questions that are answered, and of answers that are not superseded. Each comes from the
first of its jobs that ran. To add a source, add its job and a function from the job's section to a
count to `KINDS`. It returns None if it cannot count. Rules then look at the results and yield
actions. Gains were measured on other collections: they are an expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from argus.commands import command
from argus.data.folders import ArtifactFolder
from argus.measures.intervals import Discrimination, wilson
from argus.stores.spec import BLENDED
from argus.verdict.results import Results

JUDGE, JUDGED = "argus traffic judge", "judged questions"
"""Source of a count that is estimated from judged questions of a log."""
SEARCHED = frozenset(("audit", "exposure", "evaluation", "needs"))
"""Jobs that search a corpus, where others read a store or a run."""
BLENDING = frozenset(("blend", "repair", "adapt", "written"))
"""Jobs after which no blend is proposed."""
COMPARED = frozenset(("audit", "exposure", "evaluation", "needs", "authority"))
"""Jobs that argus gate compares with a baseline."""
BLEND_MEASURED = (
    "On nine judged collections it gained nDCG@10 +0.050 (+0.042 to +0.058) in the mean, from "
    "+0.000 to +0.115; min-max 0.3 +0.040, 0.5 +0.045, RRF (60) +0.034, DBSF +0.043, "
    "the best fixed fusion of each +0.053 (docs/results/blend.md)"
)
"""Gain of the blend where it was measured, beside its rivals on the same vectors."""


class VerdictLevel(StrEnum):
    """Grade of a count, in the order of the verdict."""

    BAD = "bad"
    DOUBTFUL = "doubtful"
    GOOD = "good"
    NOT_MEASURED = "not measured"


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

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictCount:
    """One line of the verdict: how many of how many.

    name: by_itself, by_its_words, by_need, in_force_served or, of sources, as_its_source.
    short: the count in a few words.
    count: how many are found.
    total: items that it is of, 0 where it is not measured.
    unit: unit of the items.
    low, high: 95% interval of the share.
    level: good, doubtful, bad or not measured.
    source: command that counted it.
    meaning: meaning of the count, in words.
    validity: evidence that it predicts failures of real questions.
    command: command that measures it, where it is not measured.
    """

    name: str = ""
    short: str = ""
    count: int = 0
    total: int = 0
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    level: VerdictLevel = VerdictLevel.NOT_MEASURED
    bounds: CountBounds | None = None
    source: str = ""
    meaning: str = ""
    validity: tuple[Validity, ...] = ()
    command: str = ""

    @property
    def share(self) -> float | None:
        """The share that is found. None where nothing was measured."""
        return self.count / self.total if self.total else None


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
    """

    answer: str
    counts: tuple[VerdictCount, ...]
    actions: tuple[VerdictAction, ...]

    @property
    def is_measured(self) -> bool:
        """Tell whether any count was measured, or there is an action."""
        return bool(self.actions) or any(count.total for count in self.counts)


BOUNDS = {
    "reach": CountBounds(0.999, 0.99, "An exact search brings every record back for its own "
        "vector. A store that lost 22 of 2,000 after deletions (98.9%) was seen to be broken."),
    "held out": CountBounds(0.63, 0.47, "By comparison alone: all-MiniLM-L6-v2 finds 63.0% on "
        "wiki2, 55.2% on cranfield and 47.2% on Python's documentation (docs/results.md, "
        "Exposure)."),
    "left in": CountBounds(0.95, 0.8, "A convention: the sentence stands in the document word for "
        "word, so that nearly every one should find it."),
    "needed": CountBounds(0.9, 0.7, "A convention: at most one in ten without an answer is good, "
        "three in ten are bad. MiniLM on Python's documentation: 82.3%."),
    "answered": CountBounds(0.9, 0.7, "A convention: one question in ten without an answer is "
        "good, three in ten are bad."),
    "superseded": CountBounds(0.94, 0.75, "The second stage of argus authority search brings 94% "
        "to what controls them, plain MiniLM 26% (docs/results.md, Superseded documents). Three "
        "in four is bad by convention."),
    "stale": CountBounds(1.0, 0.95, "Nothing superseded has to be served at all: filtering by the "
        "rules removes it."),
    "drift": CountBounds(1.0, 0.95, "A convention: nothing outdated has to be served; one chunk in "
        "twenty is bad."),
}  # fmt: skip
"""Shares at which each count is good or bad: declared here, once, with the reason."""

EXPOSURE = Validity(
    "measured elsewhere",
    "AUC 0.50 to 0.52 for the failure of real questions, chance, on 16 judged collections of 11 "
    "families (docs/results.md, What reachability tells)",
)
NEEDS = Validity(
    "measured elsewhere",
    "AUC 0.66 (0.59 to 0.73) for the failure of real questions, on one collection, Python's "
    "documentation (docs/results.md, What reachability tells)",
)


def read_verdict(folder: Path | str) -> FolderVerdict:
    """Return the verdict of a folder of results, and at most five actions, best first.

    A folder without results has four counts that are not measured, each with the command that
    measures it. Raises InputError for a summary.json or manifest.json that is damaged.
    """
    results = Results.of(Path(folder))
    counts: dict[str, VerdictCount] = {}
    with results.reading():
        for name, (short, measured_by, sources) in KINDS.items():
            there = (job for job in sources if job in results.sections)
            ran = (sources[job](results, results.sections[job]) for job in there)
            missing = VerdictCount(command=getattr(results, measured_by))
            count = next((count for count in ran if count and count.total), missing)
            counts[name] = replace(count, name=name, short=short)
        if "drift" in results.sections:
            counts["as_its_source"] = _count_drift(results, results.sections["drift"])
        actions = [*_repair(results, counts), *_go_on(results, counts)]
    actions.sort(key=lambda action: -action.brings)
    parts = []
    for level in VerdictLevel:
        texts = [
            f"{one.short} ({one.count:,} of {one.total:,} {one.unit})" if one.total else one.short
            for one in counts.values()
            if one.level is level
        ]
        parts += [f"{level.capitalize()}: {', '.join(texts)}."] if texts else []
    return FolderVerdict(" ".join(parts), tuple(counts.values()), tuple(actions[:5]))


def verdict_lines(verdict: FolderVerdict) -> Iterator[str]:
    """Yield the verdict as the last lines of a command. An empty one has no lines."""
    if not verdict.is_measured:
        return
    yield ""
    yield f"verdict: {verdict.answer}"
    for count in verdict.counts:
        figures = f"measure it with: {count.command}"
        if count.bounds is not None:
            interval = f", {count.low:.1%} to {count.high:.1%}" if count.low < count.high else ""
            figures = (
                f"{count.count:,} of {count.total:,} {count.unit} ({count.share:.1%}{interval}) "
                f"{count.meaning} [{count.bounds.words}]"
            )
        yield f"  {count.level.upper():<12} {count.short}: {figures}"
        for validity in count.validity:
            yield f"  {'':<12}   {validity}"
    if verdict.actions:
        yield "next, by what it is expected to bring:"
    for number, action in enumerate(verdict.actions, 1):
        yield f"  {number}. {action.title}"
        yield f"     {action.command}"
        yield f"     {action.evidence}"


def _graded(
    bounds: str, count: int, total: int, interval: tuple[float, float] | None = None, **more: Any
) -> VerdictCount:
    """Return a count with its grade. interval: of the share, by default Wilson's of a sample."""
    if not total:
        return VerdictCount()
    low, high = map(float, interval or wilson(count / total, total))
    grade: dict[str, Any] = {"bounds": BOUNDS[bounds], "level": BOUNDS[bounds].level(low, high)}
    return VerdictCount(count=count, total=total, low=low, high=high, **grade, **more)


def _count_reach(results: Results, section: Any) -> VerdictCount:
    reached, broken = section["reached"], sum(section["broken"].values())
    total, count = reached["asked"] + broken, reached["reached"]
    is_whole = reached["asked"] >= section["reachable"] and total > 0
    worth = Validity("not validated", "a fact about the store; real questions are not asked")
    return _graded(
        "reach", count, total, (count / total, count / total) if is_whole else None,
        unit="records", source="argus check", validity=(worth,),
        meaning=f"come back in the top {section['k']}, asked for by their own vectors"
        + (f"; {broken:,} have no whole vector" if broken else ""),
    )  # fmt: skip


def _count_exposure(results: Results, section: Any) -> VerdictCount:
    figures = section.get("parents") or section
    kind, left_in = figures["sentence"], "retriever" in section
    whole = "document" if "parents" in section else "text"
    way = "the sentence stays in it" if left_in else "it is searched without the sentence"
    count = round((kind["success_at_k"] or 0.0) * kind["probes"])
    interval = (kind["low"], kind["high"]) if "low" in kind and "high" in kind else None
    return _graded(
        "left in" if left_in else "held out", count, kind["probes"], interval,
        unit="sentences", source="argus check", validity=(EXPOSURE,),
        meaning=f"bring their own {whole} into the top {figures['k']}; {way}",
    )  # fmt: skip


def _count_served(results: Results, section: Any) -> VerdictCount | None:
    """Count the asks of a log, or the queries of a run, that were served nothing superseded."""
    is_log = "log" in section
    rates = (section["superseded"] or {}) if is_log else section["rates"]
    stale = rates.get("asks" if is_log else "stale_queries")
    if stale is None:
        return None
    unit, source = ("asks", "argus traffic") if is_log else ("queries", "argus authority lint")
    n = stale["n" if is_log else "queries"]
    return _graded(
        "stale", n - round(stale["share"] * n), n, unit=unit, source=source,
        meaning=f"were served nothing superseded in the top {section['k']}",
        validity=_themselves(n, unit),
    )  # fmt: skip


def _count_drift(results: Results, section: Any) -> VerdictCount:
    chunks, kinds = section["chunks"], section["kinds"]
    count = chunks - kinds.get("stale", 0) - kinds.get("orphan", 0)
    return _graded(
        "drift", count, chunks, (count / chunks, count / chunks), name="as_its_source",
        short="as its source is", unit="chunks", source="argus check",
        meaning="are neither stale nor orphans",
        validity=(Validity("not validated", "a fact about the index; drift.csv names each"),),
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


def _count_needs(results: Results, section: Any) -> VerdictCount:
    risk, needs = section["risk"], "one at least of what they are needed for"
    return _graded(
        "needed", risk["reached"], risk["measured"], unit="documents",
        source="argus research scenarios needs",
        meaning=f"come back in the top {section['k']} for {needs}",
        validity=validity_of_needs(risk["judged"]["area"] if risk["judged"] else None),
    )  # fmt: skip


def _count_authority(results: Results, section: Any) -> VerdictCount | None:
    proxies = section["proxies"]
    proxy = next((p for p in ("text", "title") if proxies.get(p, {}).get("documents")), None)
    if proxy is None:
        return None
    n, share = proxies[proxy]["documents"], proxies[proxy].get("reachable", 0.0)
    asked = "superseded documents ask with their own words; whether people ask so is not known"
    return _graded(
        "superseded", round(share * n), n, unit="superseded documents", source="argus check",
        meaning=f"asked with their {proxy}, bring what controls them into the top {section['k']}; "
        "the others answer a question in their words themselves",
        validity=(Validity("not validated", asked),),
    )  # fmt: skip


def _themselves(n: int, questions: str) -> tuple[Validity, ...]:
    """Return the worth of a count of real questions."""
    return (Validity("measured here", f"{n:,} {questions} themselves: no prediction"),)


def validity_of_needs(area: Discrimination | None) -> tuple[Validity, ...]:
    """Return how well needs predict failures of judged questions: here, and elsewhere."""
    if area is None:
        return (NEEDS,)
    is_chance = area["low"] <= 0.5 <= area["high"]
    here = (
        f"AUC {area['auc']:.2f} ({area['low']:.2f} to {area['high']:.2f}) of the typical rank "
        f"under a document's own needs for the failure of {area['n']:,} pairs of question and "
        f"relevant document: {'no better than chance' if is_chance else 'not chance'}"
    )
    return (Validity("measured here", here), NEEDS)


KINDS: dict[str, tuple[str, str, dict[str, Callable[[Results, Any], VerdictCount | None]]]] = {
    "by_itself": ("reachable by its own vector", "reaching", {"reach": _count_reach}),
    "by_its_words": ("found by its own sentences", "exposing", {"exposure": _count_exposure}),
    "by_need": ("found by what is asked or needed", "evaluating", {
        "judging": _count_judging, "evaluation": _count_evaluation, "needs": _count_needs,
    }),
    "in_force_served": ("served what is in force", "auditing_authority", {
        "traffic": _count_served, "lint": _count_served, "authority": _count_authority,
    }),
}  # fmt: skip
"""The four questions by name, in the order of the verdict: each in a few words, the attribute of
Results with the command that measures it, and the functions that count, by the job whose section
they read, real questions first."""


def _repair(results: Results, counts: Mapping[str, VerdictCount]) -> Iterator[VerdictAction]:
    """Yield records to write again, rules to serve by, and harm to undo."""
    reached, served = counts["by_itself"], counts["in_force_served"]
    if lost := reached.total - reached.count:
        yield VerdictAction(
            f"Delete and add the {lost:,} records that the store loses, then measure again",
            results.reaching,
            "unreached.csv names them. Where it was tried, deleting and adding lost none of 2,000",
            lost / reached.total,
        )
    if served.total and served.level is not VerdictLevel.GOOD:
        yield VerdictAction(
            "Serve what is in force: resolve results by the rules",
            command("authority", "search", "QUESTION", *results.records),
            "on 159 advisories this served what is in force for 94% (docs/results.md), not 26%",
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
            1 - counts["as_its_source"].count / counts["as_its_source"].total,
        )
    evaluation, index = results.sections.get("evaluation", {}), results.index
    if index is None or "evaluation" not in results.manifest:
        return
    asked = results.manifest["evaluation"]["finished"]
    is_undone = any(
        str(ArtifactFolder(note.parent).read_json(note.name).get("at")) >= asked
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
    needed, was_searched = counts["by_need"], SEARCHED & sections.keys()
    is_failing = needed.source == JUDGE and needed.level is not VerdictLevel.GOOD
    has_blend = (results.retriever or "").startswith(BLENDED) or BLENDING & sections.keys()
    if (was_searched or is_failing) and not has_blend:
        title = "Blend sentences and BM25 into the search (no labels, no model)"
        yield VerdictAction(title, results.blending, BLEND_MEASURED, 0.050)
    if traffic and not traffic["log"]["hash_only"] and needed.source != JUDGE:
        yield VerdictAction(
            "Judge 50 real questions: how often they fail, with an interval",
            results.judging_traffic,
            "the interval held the truth in 95% of 500 draws at least (docs/results.md, Traffic)",
        )
    if was_searched and all(v.kind != "measured here" for v in needed.validity):
        yield VerdictAction(
            "Ask judged questions: nothing else here tells which real questions fail",
            results.evaluating,
            "reachability has AUC 0.50 to 0.52 for that, chance; needs have 0.66",
        )
    if COMPARED & sections.keys():
        yield VerdictAction(
            "Keep it from getting worse: compare each later run with this one",
            command("gate", "NEW", "--against", results.out),
            "a paired test over the same documents and questions; exit code 1 where it is worse",
        )
    elif counts["by_itself"].level is VerdictLevel.GOOD:
        most = ["--max-unreachable-share", f"{1 - BOUNDS['reach'].good:g}"]
        yield VerdictAction(
            "Hold the store to it: check it again after each load, then",
            command("gate", results.out, *most), "exit code 1 if it loses more")  # fmt: skip
