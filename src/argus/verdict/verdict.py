"""Read the verdict of a folder of results: four counts, and the commands to run next.

Four questions are counted, each from the first of its sources that ran: the store, the sentences of
documents, the questions that people ask, and superseded documents. To add a source, add its job and
a function from the job's section to a count to `KINDS`. It returns None if it cannot count.
Rules then look at the results and yield actions. Gains were measured on other collections: they are
an expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

from argus.commands import command
from argus.data.folders import SUMMARY, ArtifactFolder, read_manifest, torn_jobs
from argus.data.reading import WRITTEN, reading
from argus.measures.intervals import Discrimination, wilson
from argus.stores.spec import BLENDED
from argus.verdict.places import Places, Project

DEPTH = 10
"""Results of a question that are read: it fails where none of them is wanted."""
JUDGE = "argus traffic judge"
"""Source of a count that is estimated from judged questions of a log."""
STUDY = "16 judged collections of 11 families (docs/results.md, What reachability tells)"
MAX_ACTIONS = 5
CHANGES = ("blend", "adapt", "scenarios", "remedy", "index")
"""Jobs that change an index."""
BLENDING = frozenset(("blend", "repair", "adapt", "written"))
"""Jobs after which no blend is proposed."""
COMPARED = frozenset(("audit", "exposure", "evaluation", "questions", "needs", "authority"))
"""Jobs that argus gate compares with a baseline."""
BLEND_GAIN = 0.051
"""nDCG@10 that the blend gained in the mean of the collections where it was measured."""
BLEND_MEASURED = (
    "On nine judged collections it gained nDCG@10 +0.051 (+0.043 to +0.060) in the mean, "
    "min-max 0.3 +0.040, 0.5 +0.045, RRF (60) +0.034, DBSF +0.043, "
    "the best fixed fusion of each +0.053 (docs/results/blend.md)"
)
"""Gain of the blend where it was measured, beside its rivals on the same vectors."""


class VerdictLevel(StrEnum):
    """Grade of a count."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True, slots=True)
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

    name: by_itself, by_its_words, by_need or in_force_served.
    short: the count in a few words.
    total: items that it is of, 0 where it is not measured.
    count: how many of them are found.
    unit: unit of the items.
    low, high: 95% interval of the share.
    level: good, doubtful, bad or not measured.
    source: command that counted it.
    meaning: meaning of the count, in words.
    validity: evidence that it predicts failures of real questions.
    command: command that measures it, where it is not measured.
    """

    name: str
    short: str
    total: int = 0
    count: int = 0
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
    "reach": CountBounds(
        good=0.999,
        bad=0.99,
        why="An exact search brings every record back for its own vector. A store that lost 22 of "
        "2,000 after deletions (98.9%) was seen to be broken.",
    ),
    "held out": CountBounds(
        good=0.63,
        bad=0.47,
        why="By comparison alone: all-MiniLM-L6-v2 finds 63.0% on wiki2, 55.2% on cranfield and "
        "47.2% on Python's documentation (docs/results.md, Exposure).",
    ),
    "left in": CountBounds(
        good=0.95,
        bad=0.8,
        why="A convention: the sentence stands in the document word for word, so that nearly every "
        "one should find it.",
    ),
    "needed": CountBounds(
        good=0.9,
        bad=0.7,
        why="A convention: at most one in ten without an answer is good, three in ten are bad. "
        "MiniLM on Python's documentation: 82.3% of 504 documents come back for some need of "
        "theirs (docs/results.md, Scenarios).",
    ),
    "answered": CountBounds(
        good=0.9,
        bad=0.7,
        why="A convention: one question in ten without an answer is good, three in ten are bad.",
    ),
    "superseded": CountBounds(
        good=0.94,
        bad=0.75,
        why="The second stage of argus authority search brings 94% to what controls them, plain "
        "MiniLM 26% (docs/results.md, Superseded documents). Three in four is bad by convention.",
    ),
    "stale": CountBounds(
        good=1.0,
        bad=0.95,
        why="Nothing superseded has to be served at all: filtering by the rules removes it.",
    ),
}
"""Shares at which each count is good or bad: declared here, once, with the reason."""

EXPOSURE = Validity(
    "measured elsewhere", f"AUC 0.50 to 0.52 for the failure of real questions, chance, on {STUDY}"
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


Fields = dict[str, Any]
"""Fields of a count, with the name of its bounds and, unless it is Wilson's, its interval."""


@dataclass(frozen=True)
class Results:
    """The sections of a folder's summary.json, its tables, and the inputs of its jobs."""

    folder: Path
    sections: dict[str, Any]
    places: Places

    @classmethod
    def of(cls, folder: Path) -> Results:
        """Read a folder, without the jobs that were stopped while they wrote.

        A folder without results has no sections. Raises InputError where a file is damaged.
        """
        files, torn = ArtifactFolder(folder), torn_jobs(folder)
        sections = {j: s for j, s in files.read_json(SUMMARY).items() if j not in torn}
        return cls(folder, sections, Places(folder, read_manifest(folder), Project.of()))

    def reading(self) -> AbstractContextManager[None]:
        """Raise InputError for figures that are not as their job wrote them."""
        return reading(
            self.folder / SUMMARY, "its figures cannot be read",
            expected="the file as Argus wrote it", fix="Run the job again.",
        )  # fmt: skip

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return rows of these columns. None are there if the table, or a column, is not.

        Raises InputError for a table that is damaged.
        """
        from argus.data.tables import open_parquet, read_table

        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            return []
        if not set(columns) <= set(open_parquet(path, fix=WRITTEN).schema_arrow.names):
            return []
        table = read_table(path, columns)
        return list(zip(*(column.to_pylist() for column in table), strict=True))


def read_verdict(folder: Path | str) -> FolderVerdict:
    """Return the verdict of a folder of results, and at most five actions, best first.

    A folder without results has four counts that are not measured, each with the command that
    measures it. Raises InputError for a summary.json or manifest.json that is damaged.
    """
    results = Results.of(Path(folder))
    with results.reading():
        counts = _count_all(results)
        by_name = {count.name: count for count in counts}
        # In the order that breaks ties of their gains.
        actions = [one for rule in (_repair, _improve, _measure) for one in rule(results, by_name)]
        actions.sort(key=lambda action: -action.brings)
        return FolderVerdict(_answer(results, counts), counts, tuple(actions[:MAX_ACTIONS]))


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


def _answer(results: Results, counts: tuple[VerdictCount, ...]) -> str:
    """Say it in plain words: the input, bad counts first, counts not measured last."""
    log = results.sections.get("traffic")
    parts = [describe_log(log)] if log is not None else []
    for level in (VerdictLevel.BAD, VerdictLevel.DOUBTFUL, VerdictLevel.GOOD):
        texts = [
            f"{one.short} ({one.count:,} of {one.total:,} {one.unit})"
            for one in counts
            if one.level is level
        ]
        parts += [f"{level.capitalize()}: {', '.join(texts)}."] if texts else []
    missing = [one.short for one in counts if one.level is VerdictLevel.NOT_MEASURED]
    if missing:
        parts.append(f"Not measured: {', '.join(missing)}.")
    return " ".join(parts)


def _count_all(results: Results) -> tuple[VerdictCount, ...]:
    """Return the four counts. One that nothing measured names the command that does."""
    counts, sections = [], results.sections
    for kind in KINDS:
        ran = (f(results, sections[job]) for job, f in kind.sources.items() if job in sections)
        fields = next((fields for fields in ran if fields and fields["total"]), None)
        count = VerdictCount(name=kind.name, short=kind.short)
        if fields is None:
            counts.append(replace(count, command=getattr(results.places, kind.measured_by)))
            continue
        bounds, share = BOUNDS[fields.pop("bounds")], fields["count"] / fields["total"]
        interval = fields.pop("interval", None)  # by default Wilson's of a sample
        low, high = map(float, interval or wilson(share, fields["total"]))
        level = bounds.level(low, high)
        counts.append(replace(count, low=low, high=high, level=level, bounds=bounds, **fields))
    return tuple(counts)


def _count_reach(results: Results, section: Any) -> Fields | None:
    reached, broken = section["reached"], sum(section["broken"].values())
    total, count = reached["asked"] + broken, reached["reached"]
    is_whole = reached["asked"] >= section["reachable"] and total > 0
    return {
        "count": count, "total": total, "bounds": "reach",
        "interval": (count / total, count / total) if is_whole else None,
        "unit": "records", "source": "argus check",
        "meaning": f"come back in the top {section['k']}, asked for by their own vectors"
        + (f"; {broken:,} have no whole vector" if broken else ""),
        "validity": (REACH,),
    }  # fmt: skip


def _count_exposure(results: Results, section: Any) -> Fields | None:
    figures = section.get("parents") or section
    kind, left_in = figures["sentence"], "retriever" in section
    return {
        "count": round((kind["success_at_k"] or 0.0) * kind["probes"]), "total": kind["probes"],
        "bounds": "left in" if left_in else "held out",
        "interval": (kind["low"], kind["high"]) if "low" in kind and "high" in kind else None,
        "unit": "sentences", "source": "argus check",
        "meaning": f"bring their own {'document' if 'parents' in section else 'text'} into the top "
        f"{figures['k']}; "
        + ("the sentence stays in it" if left_in else "it is searched without the sentence"),
        "validity": (EXPOSURE,),
    }  # fmt: skip


def _count_traffic(results: Results, section: Any) -> Fields | None:
    asks = (section["superseded"] or {}).get("asks")
    return asks and _served(asks["n"], asks, section, "asks", "argus traffic", "asks")


def _count_lint(results: Results, section: Any) -> Fields | None:
    rate = section["rates"].get("stale_queries")
    of, source = "queries of the run", "argus authority lint"
    return rate and _served(rate["queries"], rate, section, "queries", source, of)


def _served(n: int, stale: Any, section: Any, unit: str, source: str, of: str) -> Fields:
    return {
        "count": n - round(stale["share"] * n), "total": n, "bounds": "stale",
        "unit": unit, "source": source,
        "meaning": f"were served nothing superseded in the top {section['k']}",
        "validity": (_real_questions(n, of),),
    }  # fmt: skip


def _count_judging(results: Results, section: Any) -> Fields | None:
    hit = next((one for one in section["estimates"] if one["measure"] == "hits@k"), None)
    return hit and {
        "count": round(hit["mean"] * section["asked"]), "total": section["asked"],
        "bounds": "answered", "interval": (hit["low"], hit["high"]),
        "unit": "real questions", "source": JUDGE,
        "meaning": f"have something relevant in the top {section['k']}, estimated",
        "validity": (_real_questions(hit["judged"], "judged questions"),),
    }  # fmt: skip


def _count_evaluation(results: Results, section: Any) -> Fields | None:
    for column in ("R@10", "R@10 after"):
        if rows := results.rows("per_query", "state", column):
            values = [value for _, value in rows if value is not None]
            return _answered([value > 0 for value in values], "argus evaluate")
    return None


def _count_questions(results: Results, section: Any) -> Fields | None:
    ranks = [rank for (rank,) in results.rows("questions", "rank")]
    return _answered([rank is not None and rank <= DEPTH for rank in ranks], "argus demo")


def _answered(hits: Sequence[bool], source: str) -> Fields:
    return {
        "count": sum(hits), "total": len(hits), "bounds": "answered", "unit": "judged questions",
        "source": source, "meaning": f"have something relevant in the top {DEPTH}",
        "validity": (_real_questions(len(hits), "judged questions"),),
    }  # fmt: skip


def _count_needs(results: Results, section: Any) -> Fields | None:
    risk = section["risk"]
    return {
        "count": risk["reached"], "total": risk["measured"], "bounds": "needed",
        "unit": "documents", "source": "argus research scenarios needs",
        "meaning": f"come back in the top {section['k']} for one at least of what they are needed "
        "for",
        "validity": validity_of_needs(risk["judged"]["area"] if risk["judged"] else None),
    }  # fmt: skip


def _count_authority(results: Results, section: Any) -> Fields | None:
    proxies = section["proxies"]
    proxy = next((p for p in ("text", "title") if proxies.get(p, {}).get("documents")), None)
    if proxy is None:
        return None
    n = proxies[proxy]["documents"]
    return {
        "count": round(proxies[proxy].get("reachable", 0.0) * n), "total": n,
        "bounds": "superseded", "unit": "superseded documents", "source": "argus check",
        "meaning": f"asked with their {proxy}, bring what controls them into the top "
        f"{section['k']}; the others answer a question in their words themselves",
        "validity": (AUTHORITY,),
    }  # fmt: skip


def validity_of_needs(area: Discrimination | None) -> tuple[Validity, ...]:
    """Return how well needs predict failures of judged questions: here, and elsewhere."""
    if area is None:
        return (NEEDS,)
    what = "the typical rank under a document's own needs"
    return (_describe_area(area, what, "pairs of question and relevant document"), NEEDS)


def _real_questions(n: int, what: str) -> Validity:
    return Validity("measured here", f"{n:,} {what} themselves: no prediction")


def _describe_area(area: Discrimination, what: str, of: str) -> Validity:
    reading = "no better than chance" if area["low"] <= 0.5 <= area["high"] else "not chance"
    return Validity(
        "measured here",
        f"AUC {area['auc']:.2f} ({area['low']:.2f} to {area['high']:.2f}) of {what} for the "
        f"failure of {area['n']:,} {of}: {reading}",
    )


class Kind(NamedTuple):
    """One of the four questions.

    short: the count in a few words. sources: functions that count, by the job whose section they
    read, real questions first. measured_by: attribute of Places with the command that measures it.
    """

    name: str
    short: str
    sources: Mapping[str, Callable[[Results, Any], Fields | None]]
    measured_by: str


KINDS = (
    Kind("by_itself", "reachable by its own vector", {"reach": _count_reach}, "reaching"),
    Kind("by_its_words", "found by its own sentences", {"exposure": _count_exposure}, "exposing"),
    Kind(
        "by_need",
        "found by what is asked or needed",
        {
            "judging": _count_judging,
            "evaluation": _count_evaluation,
            "questions": _count_questions,
            "needs": _count_needs,
        },
        "evaluating",
    ),
    Kind(
        "in_force_served",
        "served what is in force",
        {"traffic": _count_traffic, "lint": _count_lint, "authority": _count_authority},
        "auditing_authority",
    ),
)
"""The four questions, in the order of the verdict."""


def describe_log(section: Mapping[str, Any]) -> str:
    """Describe a log that was read: how much, from when, from where, and whose results are known.

    section: `argus traffic`'s part of summary.json.

    >>> log = {"asks": 3, "files": {"log.jsonl": "plain"}, "fields": {"results": {"served": 2}},
    ...        "first": None, "last": None, "hash_only": False}
    >>> known = {"logged": 2, "answered": 0, "unknown": 1}
    >>> describe_log({"log": log, "questions": {"different": 2}, "results": known,
    ...               "retriever": None})
    '3 asks of 2 different questions, without times, read from log.jsonl (plain). \
What came is known for 2: 2 from the log (served), and not for 1.'
    """
    log, results, retriever = section["log"], section["results"], section["retriever"]
    when = f"{log['first']} to {log['last']}" if log["first"] else "without times"
    files = [f"{name} ({kind})" for name, kind in log["files"].items()]
    more = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
    sources = []
    if results["logged"]:
        names = ", ".join(log["fields"].get("results", {}))
        sources.append(f"{results['logged']:,} from the log ({names})")
    if results["answered"] and retriever is not None:
        sources.append(f"{results['answered']:,} from {retriever['name']}")
    known = results["logged"] + results["answered"]
    origin = f": {', '.join(sources)}" if sources else ""
    unknown = f", and not for {results['unknown']:,}" if results["unknown"] else ""
    return (
        f"{log['asks']:,} asks of {section['questions']['different']:,} different questions, "
        f"{when}, read from {files[0]}{more}. What came is known for {known:,}{origin}{unknown}."
    )


Counts = Mapping[str, VerdictCount]


def _repair(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield harm to undo, records to write again, rules to serve by, and questions to ask again."""
    places, sections, manifest = results.places, results.sections, results.places.manifest
    reached, served = counts["by_itself"], counts["in_force_served"]
    if lost := reached.total - reached.count:
        yield VerdictAction(
            f"Delete and add the {lost:,} records that the store loses, then measure again",
            places.reaching,
            "unreached.csv names them and why. Where it was tried, deleting and adding again lost "
            "none, upserting lost 10 of 2,000: a rebuild is no proof",
            lost / reached.total,
        )
    if served.total and served.level is not VerdictLevel.GOOD:
        yield VerdictAction(
            "Serve what is in force: resolve results by the rules",
            command("authority", "search", "QUESTION", "--records", places.records, *places.rules),
            "159 security advisories: 26% served what is in force in the top 5, 94% with the "
            "second stage (docs/results.md, Superseded documents)",
            1 - served.count / served.total,
        )
    if "evaluation" not in manifest or places.index is None:
        return
    asked, written = manifest["evaluation"]["finished"], list(manifest)
    undone = [
        note.parent.name
        for note in sorted(Path(places.index).glob("remedies/*/rolled_back.json"))
        if str(ArtifactFolder(note.parent).read_json(note.name).get("at")) >= asked
    ]
    evaluation = sections.get("evaluation", {})
    change = (evaluation.get("comparison") or {}).get(evaluation.get("headline"), {})
    if change.get("verdict") == "worse" and not undone:
        yield VerdictAction(
            "Undo the last repair: judged questions say that it harms",
            command("tune", "list", "--index", places.index),
            f"measured here: {evaluation['headline']} {change['mean_difference']:+.3f}; "
            "argus tune undo ID takes it out",
            abs(change["mean_difference"]),
        )
    since = written[written.index("evaluation") :]  # a clock may be set back
    later = [name for name in CHANGES if name in since and manifest[name]["finished"] > asked]
    later += [f"undo of {remedy}" for remedy in undone]
    if later:
        yield VerdictAction(
            "Measure again: ask the judged questions of the index as it is now",
            places.evaluating,
            f"the index was changed after they were asked ({', '.join(later)})",
        )


def _improve(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield a blend where there is none.

    Gains of a blend on other collections are no proof for the records of a store.
    """
    places, needed = results.places, counts["by_need"]
    is_failing = needed.source == JUDGE and needed.level is not VerdictLevel.GOOD
    has_blend = (places.retriever or "").startswith(BLENDED) or BLENDING & results.sections.keys()
    if (_was_searched(results) or is_failing) and not has_blend:
        title = "Blend sentences, a hub correction and BM25 into the search (no labels, no model)"
        yield VerdictAction(title, places.blending, BLEND_MEASURED, BLEND_GAIN)


def _measure(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield questions to judge or to look at, and bounds to hold."""
    places, sections = results.places, results.sections
    needed, traffic = counts["by_need"], sections.get("traffic", {})
    if traffic and not traffic["log"]["hash_only"] and needed.source != JUDGE:
        yield VerdictAction(
            "Judge 50 real questions: how often they fail, with an interval",
            places.judging_traffic,
            "the interval held the truth in 97% of 500 draws on each of 4 judged collections, "
            "in the worst in 95% (docs/results.md, Traffic)",
        )
    unmet = traffic.get("unmet") or {}
    first: dict[str, Any] = next(iter(unmet.get("largest", ())), {})
    if first.get("examples"):
        explaining = command("explain", first["examples"][0], "--index", places.beside)
        yield VerdictAction(
            f"See what the corpus has for “{first['words']}”, the largest demand that nobody met",
            f"{places.indexing} && {explaining}",
            f"{first['questions']:,} of {unmet['questions']:,} unmet questions ({first['asks']:,} "
            "asks); unmet.csv has the others. Either the corpus lacks the answer, or hides it",
        )
    if _was_searched(results) and all(v.kind != "measured here" for v in needed.validity):
        yield VerdictAction(
            "Ask judged questions: nothing else here tells which real questions fail",
            places.evaluating,
            "reachability has AUC 0.50 to 0.52 for that, chance; what documents are needed for "
            "0.66",
        )
    if COMPARED & sections.keys():
        yield VerdictAction(
            "Keep it from getting worse: compare each later run with this one",
            command("gate", "NEW", "--against", places.out),
            "a paired test over the same documents and questions; exit code 1 where it is worse",
        )


def _was_searched(results: Results) -> bool:
    """Return whether a corpus was searched here, not only a store or a run read."""
    return bool({"audit", "exposure", "evaluation", "needs"} & results.sections.keys())
