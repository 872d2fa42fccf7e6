"""Tables of one system, as the thesis numbers them, and those that Argus adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from argus.generative.failures.columns import LENGTHS, NEGLIGIBLE, SWITCHED_OFF
from argus.generative.failures.judging import FAILED, PARTIAL, VERDICTS, YES
from argus.generative.failures.measures import ABSENT, HIT, UNANNOTATED
from argus.generative.failures.tables.rows import (
    Floats,
    Mask,
    Rows,
    Table,
    Tables,
    Value,
    by_group,
    by_presence,
    by_value,
    counted,
    decile_table,
    known,
    mean,
    not_applicable,
    proportion,
    spread,
)
from argus.measures.intervals import spearman
from argus.measures.significance import PairedDifference, paired_difference

_MEASURES = ("r_precision", "hit_1", "hit_k", "answer_hit_1", "answer_hit_k")
_OUTCOMES = ("PP", "PN", "NP", "NN")
_BINS = [*((v, v) for v in range(1, 11)), *((v, v + 9) for v in range(11, 100, 10))]
"""Bins of the histogram of positives. One more holds larger values."""


def _needs(*inputs: str) -> Callable[[Callable[[Rows], Table]], Callable[[Rows], Table]]:
    """Make a table the reason for its lack where one of its inputs is missing."""

    def decorate(make: Callable[[Rows], Table]) -> Callable[[Rows], Table]:
        return lambda rows: rows.missing(*inputs) or make(rows)

    return decorate


def quality(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "quality": _means(rows),
        "positives": _positives(rows),
        "positives_histogram": _histogram(rows),
        "t16_outcomes": _outcomes(rows),
    }


def _means(rows: Rows) -> Table:
    gap = rows.missing("correctness")
    if gap is not None and not rows.has("answer_hit_1"):
        return gap
    means: list[list[Value]] = []
    for name in _MEASURES:
        values = rows.number(name)
        n = int(known(values).sum())
        if n:
            means.append([name, n, *proportion(mean(values), n)])
    return {"n": len(rows), "columns": ["measure", "n", "mean", "low", "high"], "rows": means}


def _positives(rows: Rows) -> Table:
    return rows.missing("positives") or spread(rows.number("positives"))


@_needs("positives")
def _histogram(rows: Rows) -> Table:
    values = rows.number("positives")
    values = values[known(values)]
    bins: list[list[Value]] = [[low, high, _between(values, low, high)] for low, high in _BINS]
    above = int((values > _BINS[-1][1]).sum())
    if above:
        bins.append([_BINS[-1][1] + 1, int(values.max()), above])
    while bins and bins[-1][2] == 0:
        bins.pop()
    return {"n": len(values), "columns": ["from", "to", "questions"], "rows": bins}


def _between(values: Floats, low: int, high: int) -> int:
    return int(np.count_nonzero((values >= low) & (values <= high)))


@_needs("correctness")
def _outcomes(rows: Rows) -> Table:
    outcomes = [v for v in rows.text("outcome") if v is not None]
    return {
        "n": len(outcomes),
        "columns": ["outcome", "questions", "share", "low", "high"],
        "rows": counted(_OUTCOMES, [outcomes.count(outcome) for outcome in _OUTCOMES]),
    }


def metadata(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "score_shares_all": _score_shares(rows, ""),
        "score_shares_correct": _score_shares(rows, "_correct"),
        "answer_title_gain": _answer_title_gain(rows),
        "title_score_difference": _title_score_difference(rows),
    }


def _score_shares(rows: Rows, which: str) -> Table:
    """Share of titles and pseudo-queries, over all passages ("") or correct ones ("_correct")."""
    gap = rows.missing("keys", *(["correctness"] if which else []))
    if gap is not None:
        return gap
    whole = rows.number("score_correct" if which else "score_all")
    parts = {
        name: rows.number(f"{column}{which}")
        for name, column in (("titles", "score_title"), ("pseudo_queries", "score_query"))
    }
    divides = np.logical_and.reduce([_divides(whole, np.nan_to_num(v)) for v in parts.values()])
    n = int(divides.sum())
    if n == 0:
        return not_applicable("No question has a score of such passages that is above 0.")
    shares: list[list[Value]] = [
        [name, *_shares(part[divides], whole[divides])] for name, part in parts.items()
    ]
    return {"n": n, "columns": ["identifiers", "pooled", "mean"], "rows": shares}


def _divides(whole: Floats, part: Floats) -> Mask:
    """Which questions have both, and a whole that is above 0 and not as good as 0 to its part."""
    divides: Mask = known(whole, part) & (whole > 0) & (whole >= NEGLIGIBLE * np.abs(part))
    return divides


def _shares(part: Floats, whole: Floats) -> list[float | None]:
    """Pooled share, and mean of the questions' shares."""
    return [float(np.nansum(part) / whole.sum()), mean(part / whole)]


@_needs("keys", "answers")
def _answer_title_gain(rows: Rows) -> Table:
    everywhere = spread(rows.number("answer_title_gain"))
    if everywhere["n"] == 0:
        return not_applicable("In no passage is an answer both a title n-gram and another n-gram.")
    correct = spread(rows.number("answer_title_gain_correct"))
    gains: list[list[Value]] = [
        [passages, gain["n"], gain["mean"], gain["sigma"], gain["median"]]
        for passages, gain in (("all", everywhere), ("correct", correct))
    ]
    columns = ["passages", "n", "mean", "sigma", "median"]
    return {"n": everywhere["n"], "columns": columns, "rows": gains}


@_needs("keys", "correctness")
def _title_score_difference(rows: Rows) -> Table:
    """Title score of correct passages / that of wrong ones - 1, over questions that have both."""
    correct, wrong = rows.number("title_score_correct"), rows.number("title_score_wrong")
    both = np.flatnonzero(_divides(wrong, correct))
    if not len(both):
        return not_applicable("No question has title n-grams in both correct and wrong passages.")
    difference = correct[both] / wrong[both] - 1
    extreme = int(both[np.argmax(difference)])  # of equal ones, the least id
    return {
        **spread(difference),
        "extreme_id": rows.text("query_id")[extreme],
        "extreme_question": rows.text("question")[extreme],
    }


def generation(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    frequency = ("keys", "frequencies")
    return {
        "t04_frequency_top_deciles": decile_table(rows, "frequency_top", *frequency),
        "t04_frequency_all_deciles": decile_table(rows, "frequency_all", *frequency),
        "t05_unigram_share_deciles": decile_table(rows, "unigram_share", "keys"),
        "t05_ngram_words": rows.missing("keys") or spread(rows.number("ngram_words")),
        "t06_overlap_deciles": decile_table(rows, "overlap", "keys"),
        "t07_answer_ngram": by_presence(
            rows,
            {"first": "answer_ngram_1", "first_k": "answer_ngram_k"},
            "passages",
            "keys",
            "answers",
        ),
        "lengths": _lengths(rows),
    }


@_needs("keys")
def _lengths(rows: Rows) -> Table:
    """Show by weight per number of tokens whether short identifiers are preferred."""
    ngrams = rows.lists("length_ngrams")
    total = int(ngrams.sum())
    if total == 0:
        return not_applicable(f"No passage among the first {rows.k} has n-grams.")
    sums = [
        rows.lists(f"length_{name}").sum(axis=0)
        for name in ("ngrams", "weight", "counted", "log_frequency")
    ]
    cells: list[list[Value]] = []
    for place in range(LENGTHS):
        count, weight, counted, log = (float(column[place]) for column in sums)
        longest = place == LENGTHS - 1
        average = weight / count if count else None
        cells.append(
            [
                f"{LENGTHS}+" if longest else str(place + 1),
                int(count),
                count / total,
                average,
                None if longest or average is None else average / (place + 1),
                log / counted if counted else None,
            ]
        )
    columns = ["tokens", "ngrams", "share", "mean_weight", "weight_per_token"]
    return {
        "n": int((ngrams.sum(axis=1) > 0).sum()),
        "ngrams": total,
        "columns": [*columns, "mean_log10_frequency"],
        "rows": cells,
    }


def scoring(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "t08_dominance_deciles": decile_table(rows, "dominance", "keys"),
        "count_and_score": _count_and_score(rows),
        "query_ngrams": _query_ngrams(rows),
        "t13_ngrams_first_deciles": decile_table(
            rows, "ngrams_first", "keys", extra=("frequency_all",)
        ),
        "t14_diversity_deciles": decile_table(rows, "diversity", "keys"),
        "t15_title_repetition": _title_repetition(rows),
        "t17_keys": _keys(rows),
    }


@_needs("keys")
def _count_and_score(rows: Rows) -> Table:
    """Share of the n-grams against share of the score, pooled over all passages."""
    n = int(known(rows.number("score_all")).sum())
    ngrams, titles, queries = (
        int(np.nansum(rows.number(name)))
        for name in ("ngrams_all", "title_ngrams_all", "query_ngrams_all")
    )
    score, of_titles, of_queries = (
        float(np.nansum(rows.number(name))) for name in ("score_all", "score_title", "score_query")
    )
    parts = (
        ("titles", titles, of_titles),
        ("pseudo_queries", queries, of_queries),
        ("body", ngrams - titles - queries, score - of_titles - of_queries),
    )
    shares: list[list[Value]] = [
        [name, count, count / ngrams if ngrams else None, part, part / score if score else None]
        for name, count, part in parts
    ]
    columns = ["identifiers", "ngrams", "share_of_ngrams", "score", "share_of_score"]
    return {"n": n, "ngrams": ngrams, "score": score, "columns": columns, "rows": shares}


@_needs("keys")
def _query_ngrams(rows: Rows) -> Table:
    """Hit rates with and without a pseudo-query among the first passage's n-grams."""
    if not np.nansum(rows.number("query_ngrams_all")):
        return not_applicable(
            "No n-gram is a pseudo-query: they are MINDER's, and of indexes with pseudo-queries."
        )
    return by_presence(rows, {"first": "query_ngrams_first"}, "passages", "keys")


def _title_repetition(rows: Rows) -> Table:
    if not rows.has("title_repetition"):
        return not_applicable("The passages have no titles. Give an output with them (`title`).")
    return by_value(rows, "title_repetition")


@_needs("keys", "correctness")
def _keys(rows: Rows) -> Table:
    """Table 17. sigma: over questions, of those that have such n-grams (`questions`)."""
    groups: list[list[Value]] = []
    for name in ("correct", "wrong", "shared"):
        weight = spread(rows.number(f"weight_{name}"))
        share = mean(rows.number(f"keys_{name}"))
        groups.append([name, share, weight["n"], weight["mean"], weight["sigma"]])
    n = int(known(rows.number("keys_correct")).sum())
    if n == 0:
        return not_applicable(f"No passage among the first {rows.k} has n-grams.")
    columns = ["in_passages", "mean_share", "questions", "mean_weight", "sigma_weight"]
    return {"n": n, "columns": columns, "rows": groups}


_ANSWER_OUTCOMES = (HIT, UNANNOTATED, ABSENT)
_VERDICTS = (*VERDICTS, FAILED)
_CRITERIA = {"yes": (YES,), "yes_and_partial": (YES, PARTIAL)}
NOT_JUDGED = "not_judged"
"""Cases that no judge was shown."""


def annotation(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "t09_outcomes": _answer_outcomes(rows),
        "t10_verdicts": _verdicts(rows),
        "t11_adjusted_hits": _adjusted_hits(rows),
    }


def _answer_outcomes(rows: Rows) -> Table:
    gap = _missing(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    counts = [outcomes.count(outcome) for outcome in _ANSWER_OUTCOMES]
    return {
        "n": sum(counts),
        "columns": ["outcome", "questions", "share", "low", "high"],
        "rows": counted(_ANSWER_OUTCOMES, counts),
    }


def _missing(rows: Rows) -> Table | None:
    gap = rows.missing("positives", "answers")
    if gap is None and not rows.has("answer_outcome"):
        gap = not_applicable("No question has both positives and answers.")
    return gap


def _cases(rows: Rows) -> tuple[dict[str, int], Table | None]:
    """Verdicts over the unannotated cases and how many have each, or why there are none."""
    gap = _missing(rows)
    if gap is not None:
        return {}, gap
    pairs = zip(rows.text("answer_outcome"), rows.text("judged"), strict=True)
    verdicts = [verdict for outcome, verdict in pairs if outcome == UNANNOTATED]
    if not verdicts:
        why = f"No question has its answer in a passage among the first {rows.k} without a hit"
        return {}, not_applicable(f"{why}: there is nothing to judge.")
    counts = {verdict: verdicts.count(verdict) for verdict in _VERDICTS}
    not_judged = verdicts.count(None)
    if not_judged:
        counts[NOT_JUDGED] = not_judged
    return counts, rows.missing("judge")


def _verdicts(rows: Rows) -> Table:
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    return {
        "n": sum(counts.values()),
        "columns": ["verdict", "cases", "share", "low", "high"],
        "rows": counted(counts, list(counts.values())),
    }


def _adjusted_hits(rows: Rows) -> Table:
    """Hits when judged passages count. n: questions with positives and answers, as in Table 9.

    at_most: when every passage without a verdict counts, too.
    """
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    n = sum(outcome is not None for outcome in outcomes)
    hits = outcomes.count(HIT)
    cases = zip(outcomes, rows.text("judged"), rows.number("judged_open"), strict=True)
    undecided = [
        verdict
        for outcome, verdict, left in cases
        if outcome == UNANNOTATED and (verdict in (None, FAILED) or left > 0)
    ]
    cells: list[list[Value]] = [["hit_k", hits, *proportion(hits / n, n), hits, hits / n]]
    for criterion, counting in _CRITERIA.items():
        hits = outcomes.count(HIT) + sum(counts[verdict] for verdict in counting)
        most = hits + sum(verdict not in counting for verdict in undecided)
        cells.append([criterion, hits, *proportion(hits / n, n), most, most / n])
    columns = ["criterion", "hits", "share", "low", "high", "at_most", "at_most_share"]
    return {"n": n, "columns": columns, "rows": cells}


_NO_TEXTS = "The positives have no texts. Give an output that has them (`positive_ctxs`)."


def texts(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "gold_holds_answer": _presence(rows, "gold_holds_answer", "positives", "answers"),
        "gold_terms": _terms(rows),
        "gold_adjacent": _presence(rows, "gold_adjacent", "positives"),
    }


def _presence(rows: Rows, indicator: str, *needs: str) -> Table:
    gap = rows.missing(*needs)
    if gap is None and not rows.has(indicator):
        gap = not_applicable(_NO_TEXTS)
    return gap or by_presence(rows, {"positives": indicator}, "passages", *needs)


def _terms(rows: Rows) -> Table:
    gap = rows.missing("positives")
    if gap is None and not rows.has("gold_terms"):
        gap = not_applicable(_NO_TEXTS)
    return gap or spread(rows.number("gold_terms"))


WELL_COVERED = 0.7
"""The coverage of which the thesis gives how many questions reach it."""
MOST_SPLIT = 20
"""Words that are listed."""


def corpus(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "coverage": _coverage(rows),
        "t12_coverage_deciles": decile_table(rows, "coverage", "index", by_rank=True),
        "pieces": by_value(rows, "pieces", "index"),
        "most_split_words": _most_split(rows),
        "cut_answers": _cut_answers(rows),
        "positives_indexed": _positives_indexed(rows),
    }


@_needs("index")
def _coverage(rows: Rows) -> Table:
    values = rows.number("coverage")
    values = values[known(values)]
    return {**spread(values), "share_at_least_0.7": float((values >= WELL_COVERED).mean())}


@_needs("index")
def _most_split(rows: Rows) -> Table:
    """List the words of most pieces, and of how many questions each is the most split."""
    pairs = zip(rows.text("pieces_word"), rows.number("pieces"), strict=True)
    split = [(word, int(pieces)) for word, pieces in pairs if word and not np.isnan(pieces)]
    times = Counter(split)
    first = sorted(times.items(), key=lambda item: (-item[0][1], item[0][0]))[:MOST_SPLIT]
    cells: list[list[Value]] = [[word, pieces, questions] for (word, pieces), questions in first]
    columns = ["word", "pieces", "questions"]
    return {"n": len(split), "columns": columns, "rows": cells}


@_needs("index", "answers", "correctness")
def _cut_answers(rows: Rows) -> Table:
    """Hit rates of questions with and without an answer that is cut, over those with answers."""
    answerable = known(rows.number("answer_hit_1"))
    cut = np.array([pair is not None for pair in rows.text("cut_answer")], bool)
    return by_group(rows, "answer", {"cut": answerable & cut, "whole": answerable & ~cut})


@_needs("index", "positives")
def _positives_indexed(rows: Rows) -> Table:
    indexed, positives = rows.number("positives_indexed"), rows.number("positives")
    groups: dict[str | int, Mask] = {
        "all": indexed >= positives,
        "some": (indexed > 0) & (indexed < positives),
        "none": (indexed == 0) & (positives > 0),
    }
    return by_group(rows, "indexed", groups)


_VARIANTS = ("now", "unpruned", *(f"without_{what}" for what in SWITCHED_OFF))
_SWITCHED = {"without_titles": "title_ngrams_all", "without_queries": "query_ngrams_all"}
"""Columns with the number of n-grams that a variant switches off, if not every index has it."""


def replay(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "pruned": _pruned(rows),
        "pruned_at": _counts(rows, "pruned_at", "token"),
        "pruned_kept_by": _counts(rows, "pruned_kept_by", "beam"),
        "replay_ranks": _ranks(rows),
    }


@_needs("model")
def _pruned(rows: Rows) -> Table:
    """Questions that lost n-grams of their positives, and n-grams per replayed question."""
    values = rows.number("pruned")
    values = values[known(values)]
    lost, n = int((values > 0).sum()), len(values)
    share, low, high = proportion(lost / n, n)
    return {"questions": lost, "share": share, "low": low, "high": high, **spread(values)}


def _counts(rows: Rows, column: str, name: str) -> Table:
    """Questions per value, over those that lost n-grams. The last row: without a value."""
    gap = rows.missing("model")
    if gap is not None:
        return gap
    values = rows.number(column)[rows.number("pruned") > 0]
    if not len(values):
        return not_applicable("The search wrote all n-grams of the positives that weigh anything.")
    times = Counter(int(v) for v in values[known(values)])
    counts: list[list[Value]] = [[value, times[value]] for value in sorted(times)]
    without = len(values) - sum(times.values())
    if without:
        counts.append([None, without])
    return {"n": len(values), "columns": [name, "questions"], "rows": counts}


def _applies(rows: Rows, variant: str) -> bool:
    """Return whether there is something to switch off. A positive may rank nowhere without it."""
    ngrams = _SWITCHED.get(variant)
    if ngrams is None or rows.has(f"rank_{variant}"):
        return True
    return bool((rows.number(ngrams) > 0).any())


@_needs("model", "positives")
def _ranks(rows: Rows) -> Table:
    """Share of replayed questions of which a positive ranks first, among the first k, at all."""
    replayed = known(rows.number("pruned"))
    n = int(replayed.sum())
    ranks: list[list[Value]] = []
    for variant in _VARIANTS:
        if not _applies(rows, variant):
            continue
        rank = rows.number(f"rank_{variant}")[replayed]
        rank = np.where(np.isnan(rank), np.inf, rank)
        hits = [proportion(float((rank <= most).mean()), n) for most in (1, rows.k)]
        ranked = rank[np.isfinite(rank)]
        middle = float(np.median(ranked)) if len(ranked) else None
        ranks.append([variant, *hits[0], *hits[1], len(ranked), middle])
    columns = ["search", "hit_1", "hit_1_low", "hit_1_high", "hit_k", "hit_k_low", "hit_k_high"]
    return {"n": n, "columns": [*columns, "ranked", "median_rank"], "rows": ranks}


RESAMPLES = 2_000
"""Resamples of every test and interval. Gives p-values down to 0.001 in seconds."""
_FIGURES = ("r_precision", "hit_1", "hit_k")


def ablations(rows: Rows) -> Tables:
    """Return the table of this section by name."""
    return {"ablations": _ablations(rows)}


@_needs("keys", "correctness")
def _ablations(rows: Rows) -> Table:
    """Paired over questions. difference: without them, minus as it is."""
    cells: list[list[Value]] = []
    most = 0
    for what in SWITCHED_OFF:
        for figure in _FIGURES:
            change = _change(rows, what, figure)
            if change is not None:
                cells.append([what, figure, *_cells(change)])
                most = max(most, change.queries)
    columns = [
        "without", "figure", "n", "as_is", "changed", "difference", "low", "high", "p_value",
        "improved", "harmed", "no_interval",
    ]  # fmt: skip
    return {"n": most, "columns": columns, "rows": cells}


def _change(rows: Rows, what: str, figure: str) -> PairedDifference | None:
    before, after = rows.number(figure), rows.number(f"{figure}_without_{what}")
    both = np.flatnonzero(known(before, after))
    if not len(both):
        return None
    # Rows are ordered by id; their places stand for ids, which a file may hold twice.
    places = [f"{place:012d}" for place in both]
    return paired_difference(
        dict(zip(places, before[both], strict=True)),
        dict(zip(places, after[both], strict=True)),
        seed=rows.seed,
        resamples=RESAMPLES,
    )


def _cells(change: PairedDifference) -> list[Value]:
    return [
        change.queries, change.mean_before, change.mean_after, change.mean_difference,
        change.low, change.high, change.p_value, change.improved, change.harmed,
        change.no_interval,
    ]  # fmt: skip


INDICATORS = (
    "frequency_top", "frequency_all", "rarest_top", "unigram_share", "ngram_words", "overlap",
    "answer_ngram_1", "answer_ngram_k", "dominance", "ngrams_all", "ngrams_first",
    "query_ngrams_first", "unigram_score_share", "title_score_share", "query_score_share",
    "diversity", "title_repetition", "positives", "gold_holds_answer", "gold_terms",
    "gold_adjacent", "coverage", "pieces", "pruned",
)  # fmt: skip
"""Columns of columns.py that may go together with success and are not made of it."""


def correlations(rows: Rows) -> Tables:
    """Return the tables of this section by name. Figures that were not measured are left out."""
    present = [name for name in INDICATORS if rows.has(name)]
    return {"indicators": _indicators(rows, present), "correlations": _against_hits(rows, present)}


def _indicators(rows: Rows, present: list[str]) -> Table:
    if not present:
        return not_applicable("Nothing was measured: the file has no passages.")
    cells: list[list[Value]] = []
    for name in present:
        s = spread(rows.number(name))
        cells.append([name, s["n"], s["mean"], s["sigma"], s["median"], s["min"], s["max"]])
    columns = ["indicator", "n", "mean", "sigma", "median", "min", "max"]
    return {"n": len(rows), "columns": columns, "rows": cells}


def _against_hits(rows: Rows, present: list[str]) -> Table:
    gap = rows.missing("correctness")
    if gap is not None:
        return gap
    cells: list[list[Value]] = []
    for name in present:
        for outcome, hits in rows.hits.items():
            rho = spearman(rows.number(name), hits, seed=rows.seed)
            cells.append(
                [name, outcome, rho.n, rho.rho, rho.p_value, rho.low, rho.high, rho.why_not]
            )
    columns = ["indicator", "outcome", "n", "rho", "p_value", "low", "high", "why_not"]
    return {"n": len(rows), "columns": columns, "rows": cells}


SECTIONS = {
    make.__name__: make
    for make in (
        quality, metadata, generation, scoring, annotation, texts, corpus, replay, ablations,
        correlations,
    )
}  # fmt: skip
"""The tables of one system by section, in the order of the report."""
