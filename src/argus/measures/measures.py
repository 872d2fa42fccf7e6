"""Score rankings against relevance judgements (nDCG, recall, ...), as trec_eval defines them.

`evaluate`: run and judgements -> each measure, per query and in the mean, for `argus evaluate` and
remedies. `cover` counts the relevant documents that have a remedy. `is_implicit` is true for a
question that shares no word with the title of a relevant document.

ir-measures, which computes more, brings SciPy (145 MB); its names are kept, and tests compare both.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from argus.data.runs import MAX_GRADE, ranking
from argus.data.texts import stream_safe
from argus.data.types import Qrels, Run
from argus.errors import InputError

_NAME = re.compile(r"(\w+)(?:\(([^()]*)\))?\s*(?:@\s*([^()]+))?")
DEFAULT_MEASURES = ("nDCG@10", "R@10", "R@50", "RR")


@dataclass(frozen=True)
class Evaluation:
    """Every measure in aggregate and per query."""

    aggregate: dict[str, float]
    per_query: dict[str, dict[str, float]]
    """query_id -> measure -> value. Every judged query is there, at 0 where nothing was found."""


# Measures by each name that ir-measures has for them.
NAMES = {
    "nDCG": "nDCG", "NDCG": "nDCG", "AP": "AP", "MAP": "AP", "P": "P", "Precision": "P", "R": "R",
    "Recall": "R", "RR": "RR", "MRR": "RR", "Rprec": "Rprec", "RPrec": "Rprec",
    "Success": "Success",
}  # fmt: skip
LINEAR, DCG = "log2", ("log2", "exp-log2")
Judged = Sequence[tuple[int, int]]  # rank from 1, and grade, of each judged document of a list


@dataclass(frozen=True)
class Measure:
    """A measure of a ranked list, by the definitions of trec_eval. Its `str` is its standard name.

    cutoff: documents that are read; None for all. rel: least grade of a relevant document. dcg:
    "log2" gains the grade, "exp-log2" 2^grade - 1. gains: the gain of a grade, else the grade.
    judged_only: whether documents without a judgement leave the list first.
    """

    name: str
    cutoff: int | None = None
    rel: int = 1
    dcg: str = LINEAR
    gains: tuple[tuple[int, int], ...] = ()
    judged_only: bool = False

    def __str__(self) -> str:
        gains = ",".join(f"{grade}:{gain}" for grade, gain in self.gains if grade != gain)
        told = (
            ("rel", self.rel, 1), ("dcg", repr(self.dcg), repr(LINEAR)),
            ("gains", f"{{{gains}}}", "{}"), ("judged_only", self.judged_only, False),
        )  # fmt: skip
        words = ",".join(f"{name}={value}" for name, value, usual in told if value != usual)
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return self.name + (f"({words})" if words else "") + cutoff

    def value(self, judged: Judged, grades: Collection[int]) -> float:
        """Return the value of a list. grades: those of all judged documents of the query."""
        if self.judged_only:
            judged = [(rank, grade) for rank, (_, grade) in enumerate(judged, 1)]
        top = [(rank, grade) for rank, grade in judged if rank <= (self.cutoff or rank)]
        if self.name == "nDCG":
            best = sorted(map(self._gain, grades), reverse=True)[: self.cutoff]
            ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, 1))
            found = sum(self._gain(grade) / math.log2(rank + 1) for rank, grade in top)
            return found / ideal if ideal else 0.0
        relevant = sum(grade >= self.rel for grade in grades)
        ranks = [rank for rank, grade in top if grade >= self.rel]
        if not ranks:
            return 0.0
        if self.name == "AP":
            return sum(n / rank for n, rank in enumerate(ranks, 1)) / relevant
        return {
            "P": len(ranks) / (self.cutoff or 1),
            "R": len(ranks) / relevant,
            "RR": 1 / ranks[0],
            "Rprec": sum(rank <= relevant for rank in ranks) / relevant,
            "Success": 1.0,
        }[self.name]

    def _gain(self, grade: int) -> float:
        gain = max(0, dict(self.gains).get(grade, grade))
        return gain if self.dcg == LINEAR else 2**gain - 1


@cache
def parse_measure(name: str) -> Measure:
    """Return the measure of a name such as "nDCG(dcg='exp-log2')@10".

    Raises InputError for an unknown name or parameter, a cutoff that is no whole number from 1, a
    least grade below 1, a gain that is no whole number from 0, and a missing cutoff ("R").
    """
    match = _NAME.fullmatch(name.strip())
    try:
        call = ast.parse(f"f({match[2] or ''})", mode="eval").body if match else None
        if match is None or not isinstance(call, ast.Call) or call.args:
            raise ValueError("expected a name, its parameters by name, and a cutoff: P(rel=2)@10")
        given: dict[Any, Any] = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        short, cutoff = NAMES[match[1]], ast.literal_eval(match[3] or "None")
        gains = dict(given.pop("gains", {})) if short == "nDCG" else {}
        measure = Measure(short, cutoff, gains=tuple(sorted(gains.items())), **given)
        takes = {"dcg" if short == "nDCG" else "rel", "judged_only"}
        if given.keys() - takes or measure.dcg not in DCG or (short == "Rprec" and cutoff):
            raise ValueError("a parameter, or a value of one, that the measure does not take")
    except (KeyError, ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise _no_measure(name, "is not known") from error
    if cutoff is None and short in ("P", "R", "Success"):
        raise _no_measure(name, "needs a cutoff")
    limits = [
        ("least relevant grade", measure.rel, 1),
        ("cutoff", 1 if cutoff is None else cutoff, 1),
    ]
    limits += [("gain", gain, 0) for gain in gains.values()]
    for limit, value, least in limits:
        if type(value) is not int or not least <= value <= MAX_GRADE:
            raise _no_measure(name, f"has the {limit} {value}")
    return measure


def measure_name(name: str) -> str:
    """Return the standard spelling of a measure: nDCG@10 for "NDCG@10"."""
    return str(parse_measure(name))


def _no_measure(name: str, problem: str) -> InputError:
    return InputError(
        f"measure {name!r} {problem}",
        expected="one of nDCG, AP, P, R, RR, Rprec, Success, with a cutoff as in nDCG@10",
        fix="Cutoffs and grades are whole numbers from 1, gains from 0. ir-measures "
        "computes others of a run.",
    )


def cutoff(name: str) -> int | None:
    """Return the depth that a measure reads. None if it reads the whole list."""
    return parse_measure(name).cutoff


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """Score `run` on the queries that `qrels` judges.

    Measures are named as papers write them ("nDCG@10", "R@50", "RR"). Equal scores rank by id.
    Raises InputError for an unknown name, and if nothing is judged.
    """
    parsed = list(dict.fromkeys(parse_measure(name) for name in measures))
    if not qrels or not parsed:
        got = f"{len(qrels)} judged queries and {len(parsed)} measures"
        fix = "Check the judgements: a mean over nothing is no figure."
        raise InputError(got, expected="at least one of each", fix=fix)
    per_query = {}
    for query, grades in qrels.items():
        ranked = enumerate(ranking(run.get(query, {})), 1)
        judged = [(rank, grades[doc]) for rank, doc in ranked if doc in grades]
        values = {str(measure): measure.value(judged, grades.values()) for measure in parsed}
        per_query[query] = values
    aggregate = {
        str(measure): math.fsum(v[str(measure)] for v in per_query.values()) / len(per_query)
        for measure in parsed
    }
    return Evaluation(aggregate, per_query)


Coverage = dict[str, int]
"""Documents that have a remedy, see `cover`."""


def cover(
    documents: Collection[str], with_remedy: Collection[str], relevant: Iterable[Iterable[str]]
) -> Coverage:
    """Count documents by their ids. relevant: the relevant documents of each question.

    documents: documents of the index.
    with_remedy: of these, documents that have the remedy.
    relevant: documents that are relevant to a judged question.
    relevant_with_remedy: of these, documents that have the remedy.
    """
    judged = {doc for docs in relevant for doc in docs}
    return {
        "documents": len(documents),
        "with_remedy": len(with_remedy),
        "relevant": len(judged),
        "relevant_with_remedy": len(judged.intersection(with_remedy)),
    }


def coverage_words(coverage: Coverage | None) -> str:
    """Return the coverage in words. "" if all documents have the remedy, or it is None."""
    if coverage is None or coverage["with_remedy"] >= coverage["documents"]:
        return ""
    return (
        f"{coverage['relevant_with_remedy']:,} of {coverage['relevant']:,} relevant documents have "
        f"it, {coverage['with_remedy']:,} of all {coverage['documents']:,}"
    )


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # Kana, Han
)
_STOP = """
a about all an and any are as at be been but by can do does each for from get give had has have how
if in into is it its just like make me more most my need no not of off on one only or other our out
over own same should so some something such than that the their them then there these they thing
this those to too two up use used using want was way we what when where which who why will with
without work would you your
"""
STOP_WORDS = frozenset(_STOP.split())


def content_words(text: str) -> set[str]:
    """Return the lower-cased words of a question or a dotted, underscored or camel-case name.

    A single letter is no word, a single digit is one. Scripts without spaces give pairs of
    characters, or a single character between spaces.
    """
    plain = unicodedata.normalize("NFKC", stream_safe(text))
    pairs: set[str] = set()
    for run in _UNSPACED.findall(plain):
        pairs.update([run] if len(run) == 1 else map("".join, pairwise(run)))
    spaced = _HUMP.sub(" ", _UNSPACED.sub(" ", plain))
    # the marks that belong to letters count as these: Devanagari has some
    letters = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in spaced)
    words = {word.casefold() for word in "".join(letters).split()}
    return pairs | {w for w in words if len(w) > 1 or w.isdigit()} - STOP_WORDS


def is_implicit(question: str, names: Sequence[str]) -> bool | None:
    """Return whether a question shares no content word with any of these names.

    Such a question does not name its entity. None if no name has a content word. Words match if
    their English Snowball stems do.
    """
    import Stemmer

    stems = Stemmer.Stemmer("english").stemWords
    named = [word for name in names for word in content_words(name)]
    if not named:
        return None
    return set(stems(list(content_words(question)))).isdisjoint(stems(named))
