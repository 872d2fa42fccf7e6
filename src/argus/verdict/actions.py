"""What to do next: at most five commands, ordered by what each is expected to bring.

Each rule looks at the results and returns an action or nothing. `brings` is a share of questions
(the measured gain of nDCG@10), of records, or of superseded documents; what only measures brings 0
and comes last. Gains were measured on other collections: they are an expectation, no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from argus.commands import command
from argus.measures.coverage import coverage_words
from argus.stores.spec import BLENDED
from argus.verdict import counts as c
from argus.verdict.bounds import BLEND_GAIN, BLEND_MEASURED, VIEWS_GAIN
from argus.verdict.places import PARENT
from argus.verdict.reading import Results
from argus.verdict.sections import (
    AblationSection,
    AuthoritySection,
    EvaluationSection,
    ExposureSection,
    Interval,
    TrafficSection,
    WrittenSection,
)
from argus.verdict.summary import VerdictAction, VerdictCount, VerdictLevel

MOST = 5
"""Actions that are told."""
CHANGES = ("blend", "adapt", "scenarios", "ablation", "remedy", "index")
"""Jobs that change an index, or measure a change of it."""
COMPARED = frozenset(
    ("audit", "exposure", "evaluation", "questions", "needs", "needs_served", "authority")
)
"""Jobs that argus gate compares with a baseline."""
CUT = 0.05
"""Share of tokens that the model does not read, from which splitting is told."""
Rule = Callable[[Results, dict[str, VerdictCount]], VerdictAction | None]


def actions(results: Results, counts: Sequence[VerdictCount]) -> tuple[VerdictAction, ...]:
    """Return at most MOST actions, what is expected to bring most first."""
    by_name = {count.name: count for count in counts}
    rules = sorted(_all(results, by_name), key=lambda action: -action.brings)
    return tuple(islice(rules, MOST))


def _all(results: Results, counts: dict[str, VerdictCount]) -> Iterator[VerdictAction]:
    for rule in RULES:
        if (action := rule(results, counts)) is not None:
            yield action


def _harmed(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Undo a repair that judged questions speak against."""
    section = results.section("evaluation", EvaluationSection)
    change = (section["comparison"] or {}).get(section["headline"]) if section else None
    places = results.places
    if section is None or change is None or change["verdict"] != "worse" or places.index is None:
        return None
    if results.undone:
        return None
    return VerdictAction(
        "Undo the last repair: judged questions say that it harms",
        command("remedy", "list", "--index", places.index),
        f"measured here: {section['headline']} {change['mean_difference']:+.3f}; "
        "argus remedy rollback ID takes it out",
        abs(change["mean_difference"]),
    )


def _lost(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Write lost records again."""
    count, places = counts[c.BY_ITSELF], results.places
    if not count.total or count.count == count.total:
        return None
    lost = count.total - count.count
    return VerdictAction(
        f"Delete and add the {lost:,} records that the store loses, then measure again",
        places.reaching,
        "unreached.csv names them and why. Where it was tried, deleting and adding again lost "
        "none, upserting lost 10 of 2,000: a rebuild is no proof",
        lost / count.total,
    )


def _superseded(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Serve by the rules of supersession."""
    count, places = counts[c.SUPERSEDED], results.places
    if not count.total or count.level is VerdictLevel.GOOD:
        return None
    return VerdictAction(
        "Serve what is in force: resolve results by the rules",
        command("authority", "search", "QUESTION", "--records", places.records, *places.rules),
        "159 security advisories: 26% served what is in force in the top 5, 94% with the second "
        "stage (docs/results.md, Superseded documents)",
        (1 - (count.share or 0.0)) * _concerned(results) * (0.94 - 0.26) / (1 - 0.26),
    )


def _concerned(results: Results) -> float:
    """Return the share of all documents that are superseded; 1 where queries were counted."""
    section = results.section("authority", AuthoritySection)
    if section is None or "lint" in results.sections or not section["documents"].get("total"):
        return 1.0
    return section["documents"]["superseded"] / section["documents"]["total"]


def _scenarios(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Index what documents are needed for."""
    places = results.places
    if not _was_searched(results) or "scenarios" in results.sections:
        return None
    writing = places.estimating_scenarios
    section = results.section("ablation", AblationSection)
    if section is None:
        return VerdictAction(
            "Index what documents are needed for (a language model writes it; first the cost)",
            writing,
            "nDCG@10 +0.072 (+0.046 to +0.101) on one collection, Python's documentation "
            "(docs/results.md, Scenarios)",
            0.072,
        )
    change, coverage = _usual(section), section["coverage"]
    rest = coverage["documents"] - coverage["with_remedy"]
    if not rest or change is None or change["low"] is None or change["low"] <= 0:
        return None
    return VerdictAction(
        f"Write what the other {rest:,} documents are needed for (first the cost)",
        writing,
        f"measured here: {section['headline']} {change['mean_difference']:+.3f} "
        f"({change['low']:+.3f} to {change['high']:+.3f}) on judged questions, a gain where "
        f"{coverage_words(coverage)}; what it brings to questions about the others is not known",
        change["mean_difference"],
    )


def _usual(section: AblationSection) -> Interval | None:
    """Return what scenarios change in the usual cell."""
    usual = section["whole"]["usual"]
    for row in section["whole"]["rows"]:
        is_usual = row["component"] == usual["component"] and row["lambda"] == usual["lambda"]
        if row["system"] == "scenarios" and is_usual:
            return row["comparison"]
    return None


def _blend(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Mix sentences and words into the search."""
    places, done = results.places, {"blend", "repair", "adapt", "written"} & results.sections.keys()
    if done or (places.retriever or "").startswith(BLENDED) or not _was_searched(results):
        return None
    return VerdictAction(
        "Blend sentences, a hub correction and BM25 into the search (no labels, no model)",
        places.blending,
        BLEND_MEASURED,
        BLEND_GAIN,
    )  # fmt: skip


def _written(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Judge what was written into a store: what other collections gained is no proof of it."""
    section = results.section("written", WrittenSection)
    if section is None:
        return None
    return VerdictAction(
        f"Judge the store's own search against that with {section['remedy']}",
        results.places.evaluating_blend(section["store"], section["collection"]),
        "what it gains on your questions is not known; sentences and hubs, which a store serves by "
        "itself, gained +0.022 nDCG@10 in the mean of nine others (docs/results/blend.md)",
        VIEWS_GAIN,
    )


def _adapt(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Learn from scenarios how to correct queries."""
    places = results.places
    if not results.has_index or "ablation" not in results.sections or "adapt" in results.sections:
        return None
    profiles = results.folder / "scenarios"
    if not profiles.exists():
        profiles = results.folder / "corpus" / "profiles.jsonl"
    if not profiles.exists():
        return None
    return VerdictAction(
        "Learn from the needs of some documents how to correct all queries",
        command("remedy", "adapt", "--index", places.index, "--profiles", profiles),
        "nDCG@10 +0.030 (+0.009 to +0.051) on one collection: a lead, not a proof; it abstains "
        "where held-out needs do not improve",
        0.030,
    )


def _split(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Split what the model does not read."""
    section = results.section("exposure", ExposureSection)
    window = section.get("text_window") if section else None
    if not window or window["tokens_unread"] < CUT * window["tokens"]:
        return None
    share, places = window["tokens_unread"] / window["tokens"], results.places
    options = places.options_of("exposure", "Input", "Encoder")
    options += [] if places.parent_field else [PARENT, "FIELD"]
    return VerdictAction(
        f"Split the {window['texts_cut']:,} documents that are longer than the model reads",
        command("exposure", "--corpus", "CHUNKS", *options, "--out", f"{places.out}-chunks"),
        f"measured here: {share:.1%} of all tokens are in no vector. What splitting gains was not "
        "measured",
    )  # fmt: skip


def _changed(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Ask again what was asked before the index was changed."""
    places, manifest = results.places, results.places.manifest
    if "evaluation" not in manifest or places.index is None:
        return None
    evaluated, written = manifest["evaluation"]["finished"], list(manifest)
    since = written[written.index("evaluation") :]  # clocks alone may run back
    later = [name for name in CHANGES if name in since and manifest[name]["finished"] > evaluated]
    later += [f"undo of {remedy}" for remedy in results.undone]
    if not later:
        return None
    evidence = (
        f"the count above is from before what was done to the index since ({', '.join(later)})"
    )
    section, gain = results.section("ablation", AblationSection), 0.0
    change = _usual(section) if section and "ablation" in later else None
    if section and change and change["low"] is not None and change["low"] > 0:
        gain = change["mean_difference"]
        covered = coverage_words(section["coverage"])
        evidence += f"; measured here since: {section['headline']} {gain:+.3f} by scenarios"
        evidence += f", a gain where {covered}" if covered else ""
    return VerdictAction(
        "Measure again: ask the judged questions of the index as it is now",
        c.MEASURED_BY[c.BY_NEED](places),
        evidence,
        gain,
    )


def _questions(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Ask what people ask: nothing else tells which questions fail."""
    count = counts[c.BY_NEED]
    if not _was_searched(results) or any(v.kind == "measured here" for v in count.validity):
        return None
    return VerdictAction(
        "Ask judged questions: nothing else here tells which real questions fail",
        c.MEASURED_BY[c.BY_NEED](results.places),
        "reachability has AUC 0.50 to 0.52 for that, chance; what documents are needed for 0.66",
    )


def _judge(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Judge few real questions of a log: what it says itself is no rate of failure."""
    section, places = results.section("traffic", TrafficSection), results.places
    if section is None or section["log"]["hash_only"] or counts[c.BY_NEED].source == c.JUDGE:
        return None
    came = section["results"]
    if not came["logged"] + came["answered"]:
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
    )  # fmt: skip


def _failing(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Blend the search of a log whose judged questions fail: it was not searched here."""
    count, places = counts[c.BY_NEED], results.places
    if count.source != c.JUDGE or count.level is VerdictLevel.GOOD or _was_searched(results):
        return None
    return VerdictAction(
        "Try a search that blends sentences, a hub correction and BM25 (no labels, no model)",
        places.blending_beside,
        f"{BLEND_MEASURED}; what your retriever gains is not known: judge again",
        BLEND_GAIN,
    )


def _unmet(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Look at the largest cluster of questions that nobody met."""
    section, places = results.section("traffic", TrafficSection), results.places
    unmet = section["unmet"] if section else None
    if not unmet or not unmet["largest"] or not unmet["largest"][0]["examples"]:
        return None
    first = unmet["largest"][0]
    return VerdictAction(
        f"See what the corpus has for “{first['words']}”, the largest demand that nobody met",
        f"{places.indexing} && "
        + command("search", first["examples"][0], "--index", places.beside),
        f"{first['questions']:,} of {unmet['questions']:,} unmet questions ({first['asks']:,} "
        "asks); unmet.csv has the others. Either the corpus lacks the answer, or hides it",
    )


def _unmeasured(results: Results, counts: dict[str, VerdictCount]) -> VerdictAction | None:
    """Measure how documents are found by their words."""
    if counts[c.BY_ITS_WORDS].total or not _was_searched(results):
        return None
    return VerdictAction(
        "Measure which documents are not found by their own sentences",
        counts[c.BY_ITS_WORDS].command,
        "needs nothing but the documents; names hubs and what came back instead",
    )


def _guard(results: Results, _: dict[str, VerdictCount]) -> VerdictAction | None:
    """Keep it from getting worse."""
    if not COMPARED & results.sections.keys():
        return None
    return VerdictAction(
        "Keep it from getting worse: compare each later run with this one",
        command("gate", "NEW", "--against", results.places.out),
        "a paired test over the same documents and questions; exit code 1 where it is worse",
    )


def _was_searched(results: Results) -> bool:
    """Return whether a corpus was searched here, and not only a store or a run looked at."""
    return bool({"audit", "exposure", "evaluation", "needs"} & results.sections.keys())


RULES: tuple[Rule, ...] = (
    _harmed, _lost, _superseded, _changed, _scenarios, _blend, _written, _failing, _adapt, _judge,
    _unmet, _questions, _split, _unmeasured, _guard,
)  # fmt: skip
"""Rules in the order that breaks ties of what they bring."""
