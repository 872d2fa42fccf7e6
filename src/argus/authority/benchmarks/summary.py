"""What a scoring tells: a benchmark, and what every system is worth on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from argus.authority.coverage import UnruledType, unruled_lines

ShareName = Literal[
    "tca", "answer_correct", "no_ignored_superseder", "controlling_hit",
    "controlling_hit_equivalent", "provenance_recall", "recall", "anchor_recall",
]  # fmt: skip
"""What `Shares` has."""


class BenchmarkCounts(TypedDict):
    """A benchmark, and how many of what it holds.

    name: name of the benchmark.
    records: documents of the benchmark.
    questions: questions of the benchmark.
    edges: supersessions that the benchmark gives.
    rules: rules that make supersessions of the records.
    gold_superseded: questions with gold that the edges supersede: it controls nothing.
    answers_without_scope: questions with an answer that is not derived for want of a scope: judged
    by Theorem 4.
    unruled_types: types of records that no rule names, of records that no edge names.
    """

    name: str
    records: int
    questions: int
    edges: int
    rules: int
    gold_superseded: int
    answers_without_scope: int
    unruled_types: list[UnruledType]


class CeilingFigures(TypedDict):
    """The most that controlling-hit@k can be, as a share of all questions; see `ceilings`.

    duplicate_questions bounds whoever answers by the question's text; equal_gold_texts, and both,
    whoever ranks by the documents' texts.

    duplicate_questions: ceiling of hit@k for whoever answers by the question's text, 0 to 1.
    equal_gold_texts: ceiling for whoever ranks by the documents' texts, 0 to 1.
    both: ceiling for whoever does both, 0 to 1.
    questions_with_duplicates: questions whose text another question has, too.
    questions_with_equal_gold: questions with a gold document whose text another document has, too.
    decidable: questions that neither bounds.
    """

    duplicate_questions: float
    equal_gold_texts: float
    both: float
    questions_with_duplicates: int
    questions_with_equal_gold: int
    decidable: int


class ShareFigures(TypedDict):
    """A mean of values in [0, 1] over n questions with its 95% Wilson interval.

    value: the mean, from 0 to 1.
    n: questions that it is of.
    """

    value: float
    low: float
    high: float
    n: int


class Shares(TypedDict):
    """What is averaged over questions, all at k; None where it applies to none.

    tca: served as Def. 7 wants it: a correct answer without an ignored superseder, or Theorem 4.
    answer_correct: the derived answer is the gold answer.
    no_ignored_superseder: every superseded document comes with a superseder.
    controlling_hit: a gold document is in the list.
    controlling_hit_equivalent: the same, or a document that says the same to the letter.
    provenance_recall: share of the gold chain in the list.
    recall: share of the gold documents in the list.
    anchor_recall: the list has a gold anchor.
    """

    tca: ShareFigures | None
    answer_correct: ShareFigures | None
    no_ignored_superseder: ShareFigures | None
    controlling_hit: ShareFigures | None
    controlling_hit_equivalent: ShareFigures | None
    provenance_recall: ShareFigures | None
    recall: ShareFigures | None
    anchor_recall: ShareFigures | None


class QuestionCounts(TypedDict):
    """Questions by what became of them, and why some failed.

    total: questions of the benchmark.
    measured: questions that were answered.
    failed: questions that a system could not answer.
    reasons: why questions failed, to how many.
    longer: answered with more than k documents, of which the first k count.
    """

    total: int
    measured: int
    failed: int
    reasons: dict[str, int]
    longer: NotRequired[int]


class FactorFigures(TypedDict):
    """Proposition 1 measured, as `argus.authority.benchmarks.metrics.Factors`.

    anchor: share of questions whose first stage has a gold anchor (E1).
    chain: of these, share whose closure has the gold documents (E2).
    frontier: of these, share with TCA 1 (E3).
    product: product of the three, which bounds TCA.
    tca_without: share of the questions that have TCA 1 without an anchor.
    """

    anchor: ShareFigures | None
    chain: ShareFigures | None
    frontier: ShareFigures | None
    product: float
    tca_without: float


class SystemShares(TypedDict):
    """What the outcomes of one system are worth.

    overall: shares over all questions.
    hops: shares by hop type, where questions have one.
    anchor_recall_at: share whose first stage has a gold anchor, by depth; empty without stages.
    factors: factors of Proposition 1; None without stages.
    """

    questions: QuestionCounts
    overall: Shares
    hops: dict[str, Shares]
    anchor_recall_at: dict[str, ShareFigures | None]
    factors: FactorFigures | None


class SystemFigures(SystemShares):
    """One system, scored.

    name: name of the system.
    about: what the system does, in words.
    decidable: shares over the decidable questions alone (`CeilingFigures`).
    """

    name: str
    about: str
    decidable: Shares


class ScoringSummary(TypedDict):
    """The figures of a scoring.

    tca_by: questions by how TCA is judged: by answers, or by Theorem 4.
    encoder: fingerprint of the encoder, or what stands in its place.
    """

    benchmark: BenchmarkCounts
    k: int
    tca_by: dict[str, int]
    ceilings: CeilingFigures
    encoder: str
    systems: list[SystemFigures]


def headline(summary: ScoringSummary) -> Iterator[str]:
    """Yield one line per system, then TCA by hop type, ceilings, and who failed."""
    about, k, systems = summary["benchmark"], summary["k"], summary["systems"]
    yield (
        f"{about['name']}: {about['questions']:,} questions over {about['records']:,} documents, "
        f"k={k}; TCA by {' and '.join(summary['tca_by'])}"
    )
    if n := about["answers_without_scope"]:
        yield f"questions with an answer and no scope to derive it in: {n:,}, judged by theorem 4"
    yield from unruled_lines(about["unruled_types"])
    width = max(len(system["name"]) for system in systems)
    names: dict[ShareName, str] = {
        "tca": "TCA",
        "answer_correct": "answer",
        "no_ignored_superseder": "none ignored",
        "controlling_hit": f"hit@{k}",
        "controlling_hit_equivalent": f"hit@{k} (equal text)",
        "provenance_recall": "ProvRec",
        "recall": f"R@{k}",
        "anchor_recall": f"anchor@{k}",
    }
    yield _row("", list(names.values()), width)
    for system in systems:
        yield _row(system["name"], [_share(system["overall"][name]) for name in names], width)
    yield from _by_hop(systems, width)
    yield from ("", _ceilings(summary["ceilings"], about["questions"], k))
    yield from _decidable(summary, width)
    yield from _by_question(systems, k)


def _ceilings(ceilings: CeilingFigures, n: int, k: int) -> str:
    """Return what can be reached at all, and why no more."""
    if ceilings["decidable"] == n:
        return (
            f"ceiling of hit@{k}: 1.000, no duplicate question or equal gold text stands against it"
        )
    return (
        f"ceilings of hit@{k}: {ceilings['duplicate_questions']:.3f} by duplicate questions "
        f"({ceilings['questions_with_duplicates']:,} share their text), "
        f"{ceilings['equal_gold_texts']:.3f} by equal gold texts for who ranks by text "
        f"({ceilings['questions_with_equal_gold']:,} have such), {ceilings['both']:.3f} by both; "
        f"{ceilings['decidable']:,} of {n:,} questions are decidable"
    )


def _decidable(summary: ScoringSummary, width: int) -> Iterator[str]:
    """Yield what systems are worth where the benchmark allows all, if that is not everywhere."""
    n, systems = summary["ceilings"]["decidable"], summary["systems"]
    if n in (0, summary["benchmark"]["questions"]):
        return
    names: dict[ShareName, str] = {"tca": "TCA", "controlling_hit": f"hit@{summary['k']}"}
    yield from (f"on the {n:,} decidable questions", _row("", list(names.values()), width))
    for system in systems:
        yield _row(system["name"], [_share(system["decidable"][name]) for name in names], width)


def _by_question(systems: list[SystemFigures], k: int) -> Iterator[str]:
    """Yield how many questions failed, and how many were answered with longer lists."""
    for system in systems:
        counts = system["questions"]
        if longer := counts.get("longer"):
            yield f"{system['name']}: {longer:,} lists were longer than k={k}: the first {k} count"
        if counts["failed"]:
            reason, n = next(iter(counts["reasons"].items()))
            yield (
                f"{system['name']}: {counts['failed']:,} of {counts['total']:,} questions failed, "
                f"{n:,} because: {reason}"
            )


def _by_hop(systems: list[SystemFigures], width: int) -> Iterator[str]:
    hops = list(dict.fromkeys(hop for system in systems for hop in system["hops"]))
    if hops:
        yield from ("", "TCA by hop type", _row("", hops, width))
        for system in systems:
            shares = [system["hops"].get(hop) for hop in hops]
            cells = [_share(of and of["tca"]) for of in shares]
            yield _row(system["name"], cells, width)


def _row(name: str, cells: list[str], width: int) -> str:
    return f"{name:<{width}}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()


def _share(mean: ShareFigures | None) -> str:
    if mean is None:
        return "-"
    return f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]"
