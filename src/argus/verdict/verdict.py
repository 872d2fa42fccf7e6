"""Read the verdict of a folder of results: four counts, and the commands to run next.

Each rule of `RULES` looks at the results and returns an action or None. Gains were measured on
other collections: they are an expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        found = [action for rule in RULES if (action := rule(results, by_name)) is not None]
        return FolderVerdict(
            _answer(results, counts),
            counts,
            tuple(_explanations(results)),
            tuple(sorted(found, key=lambda action: -action.brings)[:MAX_ACTIONS]),
        )


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


Counts = dict[str, VerdictCount]


def _undo(results: Results, _: Counts) -> VerdictAction | None:
    """Undo a repair that judged questions speak against."""
    index, section = results.places.index, results.sections.get("evaluation", {})
    change = (section.get("comparison") or {}).get(section.get("headline"), {})
    if change.get("verdict") != "worse" or index is None or results.undone:
        return None
    return VerdictAction(
        "Undo the last repair: judged questions say that it harms",
        command("tune", "list", "--index", index),
        f"measured here: {section['headline']} {change['mean_difference']:+.3f}; "
        "argus tune undo ID takes it out",
        abs(change["mean_difference"]),
    )


def _rewrite_lost(results: Results, counts: Counts) -> VerdictAction | None:
    count = counts["by_itself"]
    if not (lost := count.total - count.count):
        return None
    return VerdictAction(
        f"Delete and add the {lost:,} records that the store loses, then measure again",
        results.places.reaching,
        "unreached.csv names them and why. Where it was tried, deleting and adding again lost "
        "none, upserting lost 10 of 2,000: a rebuild is no proof",
        lost / count.total,
    )


def _resolve(results: Results, counts: Counts) -> VerdictAction | None:
    """Serve by the rules of supersession."""
    count, places = counts["in_force_served"], results.places
    if not count.total or count.level is VerdictLevel.GOOD:
        return None
    section = results.sections.get("authority")
    concerned = 1.0  # share of all documents that are superseded. Queries count as they are
    if section and "lint" not in results.sections and section["documents"].get("total"):
        concerned = section["documents"]["superseded"] / section["documents"]["total"]
    return VerdictAction(
        "Serve what is in force: resolve results by the rules",
        command("authority", "search", "QUESTION", "--records", places.records, *places.rules),
        "159 security advisories: 26% served what is in force in the top 5, 94% with the second "
        "stage (docs/results.md, Superseded documents)",
        (1 - (count.share or 0.0)) * concerned * (0.94 - 0.26) / (1 - 0.26),
    )


def _write_scenarios(results: Results, _: Counts) -> VerdictAction | None:
    if not _was_searched(results) or "scenarios" in results.sections:
        return None
    writing = results.places.estimating_scenarios
    section = results.sections.get("ablation", {})
    if not section:
        return VerdictAction(
            "Index what documents are needed for (a language model writes it; first the cost)",
            writing,
            "nDCG@10 +0.072 (+0.046 to +0.101) on one collection, Python's documentation "
            "(docs/results.md, Scenarios)",
            0.072,
        )
    change, coverage = _gain_of_scenarios(results), section["coverage"]
    rest = coverage["documents"] - coverage["with_remedy"]
    if not rest or change is None:
        return None
    return VerdictAction(
        f"Write what the other {rest:,} documents are needed for (first the cost)",
        writing,
        f"measured here: {section['headline']} {change['mean_difference']:+.3f} "
        f"({change['low']:+.3f} to {change['high']:+.3f}) on judged questions, a gain where "
        f"{coverage_words(coverage)}; what it brings to questions about the others is not known",
        change["mean_difference"],
    )


def _gain_of_scenarios(results: Results) -> dict[str, Any] | None:
    """Return the change by scenarios in the usual cell. None unless it is surely a gain."""
    whole = results.sections["ablation"]["whole"]
    for row in whole["rows"]:
        usual, change = whole["usual"], row["comparison"]
        cell = (row["system"], row["component"], row["lambda"])
        if cell == ("scenarios", usual["component"], usual["lambda"]) and change is not None:
            return change if change["low"] is not None and change["low"] > 0 else None
    return None


def _blend(results: Results, _: Counts) -> VerdictAction | None:
    """Mix sentences and words into the search."""
    places, done = results.places, {"blend", "repair", "adapt", "written"} & results.sections.keys()
    if done or (places.retriever or "").startswith(BLENDED) or not _was_searched(results):
        return None
    title = "Blend sentences, a hub correction and BM25 into the search (no labels, no model)"
    return VerdictAction(title, places.blending, BLEND_MEASURED, BLEND_GAIN)


def _judge_written(results: Results, _: Counts) -> VerdictAction | None:
    """Judge records written into a store: gains on other collections are no proof of them."""
    section = results.sections.get("written")
    if section is None:
        return None
    return VerdictAction(
        f"Judge the store's own search against that with {section['remedy']}",
        results.places.evaluating_blend(section["store"], section["collection"]),
        "what it gains on your questions is not known; sentences and hubs, which a store serves by "
        "itself, gained +0.022 nDCG@10 in the mean of nine others (docs/results/blend.md)",
        VIEWS_GAIN,
    )


def _adapt(results: Results, _: Counts) -> VerdictAction | None:
    """Learn from scenarios how to correct queries."""
    index, has = results.places.index, results.sections.keys()
    if index != str(results.folder) or "ablation" not in has or "adapt" in has:
        return None
    written = (results.folder / "scenarios", results.folder / "corpus" / "profiles.jsonl")
    profiles = next((path for path in written if path.exists()), None)
    if profiles is None:
        return None
    return VerdictAction(
        "Learn from the needs of some documents how to correct all queries",
        command("tune", "apply", "adapt", "--index", index, "--profiles", profiles),
        "nDCG@10 +0.030 (+0.009 to +0.051) on one collection: a lead, not a proof; it abstains "
        "where held-out needs do not improve",
        0.030,
    )


def _split(results: Results, _: Counts) -> VerdictAction | None:
    """Split documents that the model does not read to the end."""
    window = results.sections.get("exposure", {}).get("text_window")
    if not window or window["tokens_unread"] < MAX_UNREAD * window["tokens"]:
        return None
    share, places = window["tokens_unread"] / window["tokens"], results.places
    options = places.options_of("check", "Input", "Encoder")
    options += [] if places.parent_field else [PARENT, "FIELD"]
    return VerdictAction(
        f"Split the {window['texts_cut']:,} documents that are longer than the model reads",
        command("check", "--corpus", "CHUNKS", *options, "--out", f"{places.out}-chunks"),
        f"measured here: {share:.1%} of all tokens are in no vector. What splitting gains was not "
        "measured",
    )


def _measure_again(results: Results, _: Counts) -> VerdictAction | None:
    """Ask the questions from before the change of the index again."""
    places, manifest = results.places, results.places.manifest
    if "evaluation" not in manifest or places.index is None:
        return None
    evaluated, written = manifest["evaluation"]["finished"], list(manifest)
    since = written[written.index("evaluation") :]  # a clock may be set back
    later = [name for name in CHANGES if name in since and manifest[name]["finished"] > evaluated]
    later += [f"undo of {remedy}" for remedy in results.undone]
    if not later:
        return None
    evidence = (
        f"the count above is from before what was done to the index since ({', '.join(later)})"
    )
    is_tried = "ablation" in later and "ablation" in results.sections
    change, gain = _gain_of_scenarios(results) if is_tried else None, 0.0
    if change is not None:
        section, gain = results.sections["ablation"], change["mean_difference"]
        covered = coverage_words(section["coverage"])
        evidence += f"; measured here since: {section['headline']} {gain:+.3f} by scenarios"
        evidence += f", a gain where {covered}" if covered else ""
    title = "Measure again: ask the judged questions of the index as it is now"
    return VerdictAction(title, places.evaluating, evidence, gain)


def _ask_questions(results: Results, counts: Counts) -> VerdictAction | None:
    """Ask judged questions, which alone show the questions that fail."""
    is_here = any(v.kind == "measured here" for v in counts["by_need"].validity)
    if not _was_searched(results) or is_here:
        return None
    return VerdictAction(
        "Ask judged questions: nothing else here tells which real questions fail",
        results.places.evaluating,
        "reachability has AUC 0.50 to 0.52 for that, chance; what documents are needed for 0.66",
    )


def _judge_log(results: Results, counts: Counts) -> VerdictAction | None:
    """Judge a few real questions of a log, which has no rate of failure itself."""
    section, places = results.sections.get("traffic"), results.places
    if not section or section["log"]["hash_only"] or counts["by_need"].source == c.JUDGE:
        return None
    if not section["results"]["logged"] + section["results"]["answered"]:
        return VerdictAction(
            "Ask what answers: the log does not say what came",
            places.auditing_traffic,
            "what came is judged, and tells which questions nobody met",
        )
    return VerdictAction(
        "Judge 50 real questions: how often they fail, with an interval",
        places.judging_traffic,
        "the interval held the truth in 97% of 500 draws on each of 4 judged collections, "
        "in the worst in 95% (docs/results.md, Traffic)",
    )


def _blend_beside(results: Results, counts: Counts) -> VerdictAction | None:
    """Blend the search of a log whose judged questions fail."""
    count = counts["by_need"]
    if count.source != c.JUDGE or count.level is VerdictLevel.GOOD or _was_searched(results):
        return None
    return VerdictAction(
        "Try a search that blends sentences, a hub correction and BM25 (no labels, no model)",
        results.places.blending_beside,
        f"{BLEND_MEASURED}; what your retriever gains is not known: judge again",
        BLEND_GAIN,
    )


def _see_unmet(results: Results, _: Counts) -> VerdictAction | None:
    """Look at the largest cluster of questions that nobody met."""
    unmet, places = results.sections.get("traffic", {}).get("unmet"), results.places
    if not unmet or not unmet["largest"] or not unmet["largest"][0]["examples"]:
        return None
    first = unmet["largest"][0]
    return VerdictAction(
        f"See what the corpus has for “{first['words']}”, the largest demand that nobody met",
        f"{places.indexing} && "
        + command("explain", first["examples"][0], "--index", places.beside),
        f"{first['questions']:,} of {unmet['questions']:,} unmet questions ({first['asks']:,} "
        "asks); unmet.csv has the others. Either the corpus lacks the answer, or hides it",
    )


def _measure_exposure(results: Results, counts: Counts) -> VerdictAction | None:
    if counts["by_its_words"].total or not _was_searched(results):
        return None
    return VerdictAction(
        "Measure which documents are not found by their own sentences",
        counts["by_its_words"].command,
        "needs nothing but the documents; names hubs and what came back instead",
    )


def _gate(results: Results, _: Counts) -> VerdictAction | None:
    """Keep it from getting worse."""
    if not COMPARED & results.sections.keys():
        return None
    return VerdictAction(
        "Keep it from getting worse: compare each later run with this one",
        command("gate", "NEW", "--against", results.places.out),
        "a paired test over the same documents and questions; exit code 1 where it is worse",
    )


def _was_searched(results: Results) -> bool:
    """Return whether a corpus was searched here, not only a store or a run read."""
    return bool({"audit", "exposure", "evaluation", "needs"} & results.sections.keys())


RULES = (
    _undo, _rewrite_lost, _resolve, _measure_again, _write_scenarios, _blend, _judge_written,
    _blend_beside, _adapt, _judge_log, _see_unmet, _ask_questions, _split, _measure_exposure, _gate,
)  # fmt: skip
"""Rules in the order that breaks ties of their gains."""
