"""Score a run against judgements, by ir-measures, and tell what questions and documents share.

Coverage counts the documents that have a remedy. The association is that of ARGUS' Table 4.
Implicit questions share no word with the title of a relevant document. Digits are words ("747").
Scripts without spaces are compared by pairs of characters.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from argus.data.runs import MAX_GRADE, ranking
from argus.data.texts import stream_safe
from argus.data.types import Qrels, Run
from argus.errors import InputError
from argus.measures import RESAMPLES

if TYPE_CHECKING:
    from ir_measures import Measure

_NAME = re.compile(r"(\w+)(?:\(([^()]*)\))?\s*(?:@\s*([^()]+))?")
DEFAULT_MEASURES = ("nDCG@10", "R@10", "R@50", "RR")


@dataclass(frozen=True)
class Evaluation:
    """Every measure in aggregate and per query."""

    aggregate: dict[str, float]
    per_query: dict[str, dict[str, float]]
    """query_id -> measure -> value. Every judged query is there, at 0 where nothing was found."""


def parse_measure(name: str) -> Measure:
    """Return ir-measures' measure of that name.

    Raises InputError for an unknown name, a cutoff that is no whole number from 1 (trec_eval ends
    the process on "nDCG@0"), a least grade below 1, a gain that is no whole number from 0, a
    missing cutoff or parameter ("R"), and a measure that nothing installed can compute.
    """
    return _computable(_known(name))


def measure_name(name: str) -> str:
    """Return the standard spelling of a measure: nDCG@10 for "NDCG@10".

    Raises InputError for an unknown name and for an impossible cutoff.
    """
    return str(_known(name))


def _known(name: str) -> Measure:
    try:
        measure = _parsed(name.strip())
    except (NameError, KeyError, ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise _no_measure(name, "is not known") from error
    for what, parameter in (("cutoff", "cutoff"), ("least relevant grade", "rel")):
        if not _is_whole(value := measure.params.get(parameter, 1), least=1):
            raise _no_measure(name, f"has the {what} {value}")
    gains = measure.params.get("gains") or {}
    if not all(map(_is_whole, gains.values())):  # trec_eval leaves its memory at others
        raise _no_measure(name, f"has the gains {gains}")
    return measure


def _is_whole(value: object, least: int = 0) -> bool:
    """Return whether it is a whole number that a grade can be."""
    return type(value) is int and least <= value <= MAX_GRADE


def _parsed(text: str) -> Measure:
    """Return the measure of a text such as "nDCG(dcg='exp-log2')@10".

    ir-measures' own parser (0.4.3) reads `ast.Num`, which Python 3.14 no longer has.
    """
    from ir_measures.measures import registry

    match = _NAME.fullmatch(text)
    call = ast.parse(f"f({match[2] or ''})", mode="eval").body if match else None
    if match is None or not isinstance(call, ast.Call) or call.args:
        raise ValueError("expected a name, its parameters by name, and a cutoff: P(rel=2)@10")
    params: dict[Any, Any] = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    measure: Measure = registry[match[1]](**params)
    return measure if match[3] is None else measure @ ast.literal_eval(match[3])


@cache
def _computable(measure: Measure) -> Measure:
    """Compute a measure for one query with one result, to find out whether it can be."""
    import ir_measures

    try:
        list(ir_measures.iter_calc([measure], {"1": {"d": 1}}, {"1": {"d": 1.0}}))
    except Exception as error:  # each of the libraries behind ir-measures raises its own
        lacks = re.match(r"invalid param (\w+)=<object", str(error))
        why = f"needs a {lacks[1]}" if lacks else "cannot be computed by what is installed"
        raise _no_measure(str(measure), why) from error
    return measure


def _no_measure(name: str, problem: str) -> InputError:
    return InputError(
        f"measure {name!r} {problem}",
        expected='a name such as "nDCG@10", "R@50", "RR", "AP"',
        fix="See https://ir-measur.es for the names; cutoffs and grades are whole numbers from 1, "
        "gains from 0.",
    )


def cutoff(name: str) -> int | None:
    """Return the depth that a measure reads. None if it reads the whole list."""
    depth: int | None = parse_measure(name).params.get("cutoff")
    return depth


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """Score `run` on the queries that `qrels` judges.

    Measures are named as papers write them ("nDCG@10", "R@50", "RR"). Equal scores rank by id.
    Raises InputError for an unknown name, if nothing is judged, and if a measure cannot be computed
    (gdeval needs Perl).
    """
    import ir_measures

    parsed = list(dict.fromkeys(parse_measure(name) for name in measures))
    if not qrels or not parsed:
        got = f"{len(qrels)} judged queries and {len(parsed)} measures"
        fix = "Check the judgements: a mean over nothing is no figure."
        raise InputError(got, expected="at least one of each", fix=fix)
    # ir-measures leaves judged queries without results out of the iteration: they score 0.
    queries = list(qrels)
    per_query: dict[str, dict[str, float]] = {
        query: dict.fromkeys(map(str, parsed), 0.0) for query in queries
    }
    try:
        for metric in ir_measures.iter_calc(parsed, *_numbered(run, qrels)):
            query = queries[int(metric.query_id)]
            per_query[query][str(metric.measure)] = float(metric.value)
    except (ValueError, RuntimeError, OSError, SubprocessError) as error:
        got = f"one of {', '.join(map(str, parsed))} cannot be computed ({error})"
        expected = "measures that the installed libraries compute for these queries"
        fix = "Leave out the measures that are not nDCG, R, P, RR or AP, one by one."
        raise InputError(got, expected=expected, fix=fix) from error
    aggregate = {
        str(measure): math.fsum(v[str(measure)] for v in per_query.values()) / len(per_query)
        for measure in parsed
    }
    return Evaluation(aggregate, per_query)


def _numbered(run: Run, qrels: Qrels) -> tuple[Qrels, Run]:
    """Return judgements and lists whose ids are numbers, and whose scores fall by rank.

    trec_eval ends an id at a NUL, and gdeval takes numbers alone. trec_eval keeps scores in
    float32 and ranks equal ones by descending id. The whole of Argus ranks float64 scores and
    breaks ties by ascending id.
    """
    names: list[str] = []
    """Numbers as text, shared by all queries."""
    judged: Qrels = {}
    lists: Run = {}
    for n, (query, grades) in enumerate(qrels.items()):
        ranks = {doc: rank for rank, doc in enumerate(ranking(run.get(query, {})))}
        depth = len(ranks)
        places = {doc: ranks.setdefault(doc, len(ranks)) for doc in grades}
        names.extend(map(str, range(len(names), len(ranks))))
        judged[str(n)] = {names[places[doc]]: grade for doc, grade in grades.items()}
        lists[str(n)] = {names[rank]: float(-rank) for rank in range(depth)}
    return judged, lists


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


TABLE_4_K = (10, 20, 50)
MIN_USABLE = 0.95  # share of the bootstrap draws that must hold both groups for an interval


AssociationFigures = dict[str, Any]
"""The statistic of Table 4 at one k, see `rps_association`."""


def rps_association(
    run: Run,
    qrels: Qrels,
    max_rps: Mapping[str, float],
    *,
    seed: int,
    ks: Sequence[int] = TABLE_4_K,
    indexed: Collection[str] | None = None,
    resamples: int = RESAMPLES,
) -> list[AssociationFigures]:
    """Compare the highest RPS in retrieved and in unretrieved gold documents, for each k.

    Pairs are (query, relevant document).

    k: depth.
    retrieved: pairs with a predicted RPS whose document is in the top k.
    unretrieved: pairs with a predicted RPS whose document is not.
    not_indexed: pairs whose document the index does not hold.
    without_rps: pairs whose document has no predicted RPS.
    mean_retrieved: mean of the documents' highest predicted RPS. None without a pair.
    mean_unretrieved: the same of the pairs that are not retrieved.
    difference: retrieved less unretrieved. None without both.
    low, high: 95% bootstrap interval over queries. None if too few draws hold both groups.

    max_rps: doc_id -> highest predicted RPS of its entities, only documents that have one.
    indexed: documents of the index. None if they are not known, so that every gold document counts.
    """
    found: list[AssociationFigures] = []
    for k in ks:
        not_indexed = without_rps = 0
        sums = np.zeros((len(qrels), 4))  # by query: sum and number of retrieved, then unretrieved
        for row, query in enumerate(sorted(qrels)):
            top = set(ranking(run.get(query, {}))[:k])
            for doc in (doc for doc, grade in qrels[query].items() if grade > 0):
                if indexed is not None and doc not in indexed:
                    not_indexed += 1
                elif doc not in max_rps:
                    without_rps += 1
                else:
                    group = 0 if doc in top else 2
                    sums[row, group] += max_rps[doc]
                    sums[row, group + 1] += 1
        total = sums.sum(axis=0)
        means = [float(total[i] / total[i + 1]) if total[i + 1] else None for i in (0, 2)]
        low, high = _interval(sums, seed=seed, resamples=resamples)
        figures: AssociationFigures = {
            "k": k,
            "retrieved": int(total[1]),
            "unretrieved": int(total[3]),
            "not_indexed": not_indexed,
            "without_rps": without_rps,
            "mean_retrieved": means[0],
            "mean_unretrieved": means[1],
            "difference": None,
            "low": low,
            "high": high,
        }
        if means[0] is not None and means[1] is not None:
            figures["difference"] = means[0] - means[1]
        found.append(figures)
    return found


def _interval(
    sums: npt.NDArray[np.float64], *, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Resample queries, whose pairs stay together. sums: (n_queries, 4)."""
    n = len(sums)
    if n < 2 or not (sums[:, [1, 3]].sum(axis=0) > 0).all():
        return None, None
    rng = np.random.default_rng(seed)
    draws = []
    for start in range(0, resamples, 1000):
        size = min(1000, resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size)  # (size, n)
        draws.append(weights @ sums)  # (size, 4)
    drawn = np.concatenate(draws)
    drawn = drawn[(drawn[:, [1, 3]] > 0).all(axis=1)]
    if len(drawn) < MIN_USABLE * resamples:
        return None, None
    values = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # Kana, Han
)
_VOWEL = re.compile("[aeiouy]")
_HISSED = ("ses", "xes", "zes", "ches", "shes")
MIN_STEM = 3  # letters of a word without its ending, one of them a vowel

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
    words = (w.casefold() for w in _words(_HUMP.sub(" ", _UNSPACED.sub(" ", plain))))
    return pairs | {w for w in words if len(w) > 1 or w.isdigit()} - STOP_WORDS


def is_implicit(question: str, names: Sequence[str]) -> bool | None:
    """Return whether a question shares no content word with any of these names.

    Such a question does not name its entity. None if no name has a content word. Words are compared
    whole, in their plain forms (plural, -ing, -ed of English).
    """
    named = {word for name in names for word in content_words(name)}
    if not named:
        return None
    return _all_forms(content_words(question)).isdisjoint(_all_forms(named))


def forms(word: str) -> set[str]:
    """Return a word and the words of which it may be the plural, -ing or -ed form.

    Two words match if they have a form in common ("sorting" and "sorted").
    """
    alike = {word}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > MIN_STEM:
        alike.add(word[:-1])
        if word.endswith("ies"):
            alike.add(word[:-3] + "y")
        elif word.endswith(_HISSED):
            alike.add(word[:-2])
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < MIN_STEM or not _VOWEL.search(stem):
            continue
        alike |= {stem, stem + "e"}
        if stem[-1] == stem[-2]:
            alike.add(stem[:-1])
        if ending == "ed" and stem.endswith("i"):
            alike.add(stem[:-1] + "y")
    return alike


def _all_forms(words: set[str]) -> set[str]:
    return {form for word in words for form in forms(word)}


def _words(text: str) -> Iterator[str]:
    """Yield runs of letters, digits and the marks that belong to them (Devanagari has some)."""
    for inside, run in groupby(text, lambda c: c.isalnum() or unicodedata.category(c)[0] == "M"):
        if inside:
            yield "".join(run)
