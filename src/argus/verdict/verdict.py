"""Read the verdict of a folder of results: four counts, and the commands to run next.

Rules look at the results and yield actions. Gains were measured on other collections: they are an
expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.commands import command
from argus.measures.coverage import coverage_words
from argus.stores.spec import BLENDED
from argus.verdict import counts as c
from argus.verdict.counts import KINDS, SHORT, Results, VerdictCount, VerdictLevel
from argus.verdict.places import PARENT

MAX_ACTIONS = 5
CHANGES = ("blend", "adapt", "scenarios", "ablation", "remedy", "index")
"""Jobs that change an index, or measure a change of it."""
BLENDING = frozenset(("blend", "repair", "adapt", "written"))
"""Jobs after which no blend is proposed."""
COMPARED = frozenset(
    ("audit", "exposure", "evaluation", "questions", "needs", "needs_served", "authority")
)
"""Jobs that argus gate compares with a baseline."""
MAX_UNREAD = 0.05
"""Share of tokens that the model may leave unread before splitting is proposed."""
BLEND_GAIN = 0.051
"""nDCG@10 that the blend gained in the mean of the collections where it was measured."""
BLEND_MEASURED = (
    "On nine judged collections it gained nDCG@10 +0.051 (+0.043 to +0.060) in the mean, "
    "min-max 0.3 +0.040, 0.5 +0.045, RRF (60) +0.034, DBSF +0.043, "
    "the best fixed fusion of each +0.053 (docs/results/blend.md)"
)
"""Gain of the blend where it was measured, beside its rivals on the same vectors."""
VIEWS_GAIN = 0.022
"""Gain of its sentences and hubs there, which a store serves by itself."""
FOUND_BY = {
    "argus research scenarios needs": "come back for something that they are needed for",
    "argus check": "bring what replaced them",
}
"""Words for the items that are found, in place of their kind's, by the command that counted."""


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
    explanations: notes on figures that seem to contradict each other.
    """

    answer: str
    counts: tuple[VerdictCount, ...]
    explanations: tuple[str, ...]
    actions: tuple[VerdictAction, ...]

    @property
    def is_measured(self) -> bool:
        """Tell whether any count was measured, or there is an action."""
        return bool(self.actions) or any(count.total for count in self.counts)


def read_verdict(folder: Path | str) -> FolderVerdict:
    """Return the verdict of a folder of results, and at most five actions, best first.

    A folder without results has four counts that are not measured, each with the command that
    measures it. Raises InputError for a summary.json or manifest.json that is damaged.
    """
    results = Results.of(Path(folder))
    with results.reading():
        counts = c.count_all(results)
        by_name = {count.name: count for count in counts}
        # In the order that breaks ties of their gains.
        actions = [one for rule in (_repair, _improve, _measure) for one in rule(results, by_name)]
        actions.sort(key=lambda action: -action.brings)
        notes = tuple(_explanations(results))
        return FolderVerdict(_answer(results, counts), counts, notes, tuple(actions[:MAX_ACTIONS]))


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
        yield f"  {count.level.upper():<12} {SHORT[count.name]}: {figures}"
        for validity in count.validity:
            yield f"  {'':<12}   {validity}"
    for text in verdict.explanations:
        yield f"  {text}"
    if verdict.actions:
        yield "next, by what it is expected to bring:"
    for number, action in enumerate(verdict.actions, 1):
        yield f"  {number}. {action.title}"
        yield f"     {action.command}"
        yield f"     {action.evidence}"


def _answer(results: Results, counts: tuple[VerdictCount, ...]) -> str:
    """Say it in plain words: the input, bad counts first, counts not measured last."""
    log = results.sections.get("traffic")
    parts = [c.describe_log(log)] if log is not None else []
    for level in (VerdictLevel.BAD, VerdictLevel.DOUBTFUL, VerdictLevel.GOOD):
        texts = []
        for kind, count in zip(KINDS, counts, strict=True):
            if count.level is not level or count.bounds is None:
                continue
            found = FOUND_BY.get(count.source, kind.found)
            text = f"{count.count:,} of {count.total:,} {count.unit} {found}"
            if level is VerdictLevel.DOUBTFUL:
                share = f"{count.low:.1%}"
                share += f" to {count.high:.1%}" if count.low < count.high else ""
                text += f", {share} of all ({count.bounds.words})"
            texts.append(text)
        parts += [f"{level.capitalize()}: {'; '.join(texts)}."] if texts else []
    missing = [SHORT[one.name] for one in counts if one.level is VerdictLevel.NOT_MEASURED]
    if missing:
        parts.append(f"Not measured: {', '.join(missing)}.")
    return " ".join(parts)


def _explanations(results: Results) -> Iterator[str]:
    """Yield notes on figures that seem to contradict each other."""
    audit, exposure = results.sections.get("audit", {}), results.sections.get("exposure", {})
    has_rps = audit.get("mean_rps") is not None
    if has_rps and exposure:
        low = audit["share_below_0.33"] or 0.0
        documents = exposure["documents"]
        counted = documents["measured" if "sample" in exposure else "total"]
        yield (
            f"“{exposure['never_retrieved']:,} of {counted:,} never come "
            f"back” and “{low:.1%} blind spots” are two questions. The first counts documents that "
            f"none of all queries brought into the top {exposure['k']}: one lucky query is enough "
            f"to leave it. The second counts entities that fewer than a third of their related "
            f"entities bring into the top {audit['k']} of {audit['pool']:,}. A document can come "
            "back for something and still not for what it is related to."
        )
    if has_rps and (here := c.validity_of_rps(results)) is not None:
        yield f"RPS, {here}."
    if audit or exposure:
        both = "Both measure" if audit and exposure else "This measures"
        yield (
            f"{both} reachability, and cannot tell which real questions fail: AUC 0.50 to 0.52 on "
            "16 judged collections, where 0.50 is chance."
        )


Counts = Mapping[str, VerdictCount]


def _repair(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield harm to undo, records to write again, rules to serve by, and questions to ask again."""
    places, sections, manifest = results.places, results.sections, results.places.manifest
    evaluation = sections.get("evaluation", {})
    change = (evaluation.get("comparison") or {}).get(evaluation.get("headline"), {})
    if change.get("verdict") == "worse" and places.index is not None and not results.undone:
        yield VerdictAction(
            "Undo the last repair: judged questions say that it harms",
            command("tune", "list", "--index", places.index),
            f"measured here: {evaluation['headline']} {change['mean_difference']:+.3f}; "
            "argus tune undo ID takes it out",
            abs(change["mean_difference"]),
        )
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
        concerned = 1.0  # share of all documents that are superseded. Queries count as they are
        documents = sections.get("authority", {}).get("documents", {})
        if "lint" not in sections and documents.get("total"):
            concerned = documents["superseded"] / documents["total"]
        yield VerdictAction(
            "Serve what is in force: resolve results by the rules",
            command("authority", "search", "QUESTION", "--records", places.records, *places.rules),
            "159 security advisories: 26% served what is in force in the top 5, 94% with the "
            "second stage (docs/results.md, Superseded documents)",
            (1 - (served.share or 0.0)) * concerned * (0.94 - 0.26) / (1 - 0.26),
        )
    if "evaluation" not in manifest or places.index is None:
        return
    evaluated, written = manifest["evaluation"]["finished"], list(manifest)
    since = written[written.index("evaluation") :]  # a clock may be set back
    later = [name for name in CHANGES if name in since and manifest[name]["finished"] > evaluated]
    later += [f"undo of {remedy}" for remedy in results.undone]
    evidence = (
        f"the count above is from before what was done to the index since ({', '.join(later)})"
    )
    is_tried, gain = "ablation" in later and "ablation" in sections, 0.0
    if is_tried and (change := _gain_of_scenarios(results)):
        section, gain = sections["ablation"], change["mean_difference"]
        covered = coverage_words(section["coverage"])
        evidence += f"; measured here since: {section['headline']} {gain:+.3f} by scenarios"
        evidence += f", a gain where {covered}" if covered else ""
    if later:
        title = "Measure again: ask the judged questions of the index as it is now"
        yield VerdictAction(title, places.evaluating, evidence, gain)


def _improve(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield scenarios, blends and corrections of queries that are not there, and blends to judge.

    Gains of a blend on other collections are no proof for the records of a store.
    """
    places, sections, was_searched = results.places, results.sections, _was_searched(results)
    change = _gain_of_scenarios(results)
    if was_searched and "scenarios" not in sections and "ablation" not in sections:
        yield VerdictAction(
            "Index what documents are needed for (a language model writes it; first the cost)",
            places.estimating_scenarios,
            "nDCG@10 +0.072 (+0.046 to +0.101) on one collection, Python's documentation "
            "(docs/results.md, Scenarios)",
            0.072,
        )
    elif was_searched and "scenarios" not in sections and change:
        section = sections["ablation"]
        coverage = section["coverage"]
        if rest := coverage["documents"] - coverage["with_remedy"]:
            yield VerdictAction(
                f"Write what the other {rest:,} documents are needed for (first the cost)",
                places.estimating_scenarios,
                f"measured here: {section['headline']} {change['mean_difference']:+.3f} "
                f"({change['low']:+.3f} to {change['high']:+.3f}) on judged questions, a gain "
                f"where {coverage_words(coverage)}; what it brings to questions about the others "
                "is not known",
                change["mean_difference"],
            )
    has_blend = (places.retriever or "").startswith(BLENDED)
    if was_searched and not has_blend and sections.keys().isdisjoint(BLENDING):
        title = "Blend sentences, a hub correction and BM25 into the search (no labels, no model)"
        yield VerdictAction(title, places.blending, BLEND_MEASURED, BLEND_GAIN)
    if (section := sections.get("written")) is not None:
        yield VerdictAction(
            f"Judge the store's own search against that with {section['remedy']}",
            places.evaluating_blend(section["store"], section["collection"]),
            "what it gains on your questions is not known; sentences and hubs, which a store "
            "serves by itself, gained +0.022 nDCG@10 in the mean of nine others "
            "(docs/results/blend.md)",
            VIEWS_GAIN,
        )
    count = counts["by_need"]
    if count.source == c.JUDGE and count.level is not VerdictLevel.GOOD and not was_searched:
        yield VerdictAction(
            "Try a search that blends sentences, a hub correction and BM25 (no labels, no model)",
            places.blending_beside,
            f"{BLEND_MEASURED}; what your retriever gains is not known: judge again",
            BLEND_GAIN,
        )
    written = (results.folder / "scenarios", results.folder / "corpus" / "profiles.jsonl")
    profiles = next((path for path in written if path.exists()), None)
    is_tried = "ablation" in sections and "adapt" not in sections
    if places.index == str(results.folder) and is_tried and profiles is not None:
        yield VerdictAction(
            "Learn from the needs of some documents how to correct all queries",
            command("tune", "apply", "adapt", "--index", places.index, "--profiles", profiles),
            "nDCG@10 +0.030 (+0.009 to +0.051) on one collection: a lead, not a proof; it "
            "abstains where held-out needs do not improve",
            0.030,
        )


def _gain_of_scenarios(results: Results) -> dict[str, Any] | None:
    """Return the change by scenarios in the usual cell. None unless it is surely a gain."""
    whole = results.sections.get("ablation", {}).get("whole", {"rows": ()})
    for row in whole["rows"]:
        usual, change = whole["usual"], row["comparison"]
        cell = (row["system"], row["component"], row["lambda"])
        if cell == ("scenarios", usual["component"], usual["lambda"]) and change is not None:
            return change if change["low"] is not None and change["low"] > 0 else None
    return None


def _measure(results: Results, counts: Counts) -> Iterator[VerdictAction]:
    """Yield questions to judge or to look at, documents to split, and bounds to hold."""
    places, sections, was_searched = results.places, results.sections, _was_searched(results)
    needed, by_words = counts["by_need"], counts["by_its_words"]
    traffic = sections.get("traffic", {})
    if traffic and not traffic["log"]["hash_only"] and needed.source != c.JUDGE:
        if traffic["results"]["logged"] + traffic["results"]["answered"]:
            yield VerdictAction(
                "Judge 50 real questions: how often they fail, with an interval",
                places.judging_traffic,
                "the interval held the truth in 97% of 500 draws on each of 4 judged collections, "
                "in the worst in 95% (docs/results.md, Traffic)",
            )
        else:
            yield VerdictAction(
                "Ask what answers: the log does not say what came",
                places.auditing_traffic,
                "what came is judged, and tells which questions nobody met",
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
    if was_searched and all(v.kind != "measured here" for v in needed.validity):
        yield VerdictAction(
            "Ask judged questions: nothing else here tells which real questions fail",
            places.evaluating,
            "reachability has AUC 0.50 to 0.52 for that, chance; what documents are needed for "
            "0.66",
        )
    window = sections.get("exposure", {}).get("text_window")
    if window and window["tokens_unread"] >= MAX_UNREAD * window["tokens"]:
        options = places.options_of("check", "Input", "Encoder")
        options += [] if places.parent_field else [PARENT, "FIELD"]
        yield VerdictAction(
            f"Split the {window['texts_cut']:,} documents that are longer than the model reads",
            command("check", "--corpus", "CHUNKS", *options, "--out", f"{places.out}-chunks"),
            f"measured here: {window['tokens_unread'] / window['tokens']:.1%} of all tokens are in "
            "no vector. What splitting gains was not measured",
        )
    if was_searched and not by_words.total:
        yield VerdictAction(
            "Measure which documents are not found by their own sentences",
            by_words.command,
            "needs nothing but the documents; names hubs and what came back instead",
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
