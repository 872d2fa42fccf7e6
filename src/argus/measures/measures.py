"""Score rankings against relevance judgements (nDCG, recall, ...), by ir-measures.

`evaluate`: run and judgements -> each measure, per query and in the mean, for `argus evaluate` and
remedies. Three further figures of an evaluation are here. `cover` counts the relevant documents
that have a remedy. `rps_association` compares the reachability (RPS) of found and missed documents
(ARGUS Table 4). `is_implicit` is true for a question that shares no word with the title of a
relevant document.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
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


@cache
def parse_measure(name: str) -> Measure:
    """Return ir-measures' measure of a name such as "nDCG(dcg='exp-log2')@10".

    ir-measures' own parser (0.4.3) reads `ast.Num`, which Python 3.14 no longer has. Raises
    InputError for an unknown name, a cutoff that is no whole number from 1 (trec_eval ends the
    process on "nDCG@0"), a least grade below 1, a gain that is no whole number from 0 (trec_eval
    leaves its memory), a missing cutoff or parameter ("R"), and a measure that nothing installed
    can compute.
    """
    import ir_measures
    from ir_measures.measures import registry

    match = _NAME.fullmatch(name.strip())
    try:
        call = ast.parse(f"f({match[2] or ''})", mode="eval").body if match else None
        if match is None or not isinstance(call, ast.Call) or call.args:
            raise ValueError("expected a name, its parameters by name, and a cutoff: P(rel=2)@10")
        params: dict[Any, Any] = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        measure: Measure = registry[match[1]](**params)
        if match[3] is not None:
            measure @= ast.literal_eval(match[3])
    except (NameError, KeyError, ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise _no_measure(name, "is not known") from error
    params = measure.params
    limits = [("cutoff", params.get("cutoff", 1)), ("least relevant grade", params.get("rel", 1))]
    limits += [("gain", gain) for gain in (params.get("gains") or {}).values()]
    for limit, value in limits:
        least = 0 if limit == "gain" else 1
        if type(value) is not int or not least <= value <= MAX_GRADE:
            raise _no_measure(name, f"has the {limit} {value}")
    try:
        list(ir_measures.iter_calc([measure], {"1": {"d": 1}}, {"1": {"d": 1.0}}))
    except Exception as error:  # each of the libraries behind ir-measures raises its own
        lacks = re.match(r"invalid param (\w+)=<object", str(error))
        why = f"needs a {lacks[1]}" if lacks else "cannot be computed by what is installed"
        raise _no_measure(name, why) from error
    return measure


def measure_name(name: str) -> str:
    """Return the standard spelling of a measure: nDCG@10 for "NDCG@10"."""
    return str(parse_measure(name))


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
    Raises InputError for an unknown name, and if nothing is judged.
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
    # trec_eval ends an id at a NUL, keeps scores in float32 and ranks equal ones by descending id.
    # gdeval takes numbers alone. So ids become numbers, and scores fall by rank.
    names: list[str] = []  # numbers as text, shared by all queries
    judged: Qrels = {}
    lists: Run = {}
    for n, query in enumerate(queries):
        ranks = {doc: rank for rank, doc in enumerate(ranking(run.get(query, {})))}
        depth = len(ranks)
        places = {doc: ranks.setdefault(doc, len(ranks)) for doc in qrels[query]}
        names.extend(map(str, range(len(names), len(ranks))))
        judged[str(n)] = {names[places[doc]]: grade for doc, grade in qrels[query].items()}
        lists[str(n)] = {names[rank]: float(-rank) for rank in range(depth)}
    for metric in ir_measures.iter_calc(parsed, judged, lists):
        query = queries[int(metric.query_id)]
        per_query[query][str(metric.measure)] = float(metric.value)
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


TABLE_4_K = (10, 20, 50)
MIN_USABLE = 0.95  # share of the bootstrap draws that must hold both groups for an interval


def rps_association(
    run: Run,
    qrels: Qrels,
    max_rps: Mapping[str, float],
    *,
    seed: int,
    ks: Sequence[int] = TABLE_4_K,
    indexed: Collection[str] | None = None,
    resamples: int = RESAMPLES,
) -> list[dict[str, Any]]:
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
    found: list[dict[str, Any]] = []
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
                    sums[row, group : group + 2] += max_rps[doc], 1
        total = sums.sum(axis=0)
        retrieved, unretrieved = (
            float(total[i] / total[i + 1]) if total[i + 1] else None for i in (0, 2)
        )
        difference = low = high = None
        if retrieved is not None and unretrieved is not None:
            difference = retrieved - unretrieved
            low, high = _interval(sums, seed, resamples)
        found.append(
            {
                "k": k,
                "retrieved": int(total[1]),
                "unretrieved": int(total[3]),
                "not_indexed": not_indexed,
                "without_rps": without_rps,
                "mean_retrieved": retrieved,
                "mean_unretrieved": unretrieved,
                "difference": difference,
                "low": low,
                "high": high,
            }
        )
    return found


def _interval(
    sums: npt.NDArray[np.float64], seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Resample queries, whose pairs stay together. sums: (n_queries, 4)."""
    n, rng = len(sums), np.random.default_rng(seed)
    blocks = [min(1000, resamples - start) for start in range(0, resamples, 1000)]
    equal = np.full(n, 1 / n)
    drawn = np.concatenate([rng.multinomial(n, equal, size=size) @ sums for size in blocks])
    drawn = drawn[(drawn[:, [1, 3]] > 0).all(axis=1)]
    if n < 2 or len(drawn) < MIN_USABLE * resamples:
        return None, None
    differences = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)


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
