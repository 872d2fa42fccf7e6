"""Make the tables of one system: the thesis' (named by their number, t04_), and those Argus adds.

tables.toml declares them: section, inputs, and words on the page. `figures` makes them of the rows
of failures.parquet, as plain JSON: numbers of 8 significant digits, None if a figure does not
apply.

    {"questions": rows, "judged": rows with judgements, "k": k,
     SECTION: {TABLE: table, ...}, ...}

All sections are always there, with all their tables, whose names are unique. A table is one of

* `{"n": ..., "columns": [...], "rows": [[...], ...]}`. n: the questions it is made of. Some have
  further single figures beside n: decile tables have `indicator` and its mean, sigma, median, min
  and max over the same questions.
* `{"n": ..., "mean": ..., ...}`: single figures.
* `{"not_applicable": "why, and what to give"}`.

Shares and rates are between 0 and 1. X_low, X_high (or low, high) are the ends of the 95% interval
of X: Wilson's for shares and means of values in [0, 1], else the bootstrap's. sigma is the
population's (divided by n). Nothing depends on the order of the rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.generative.failures.aggregates import (
    Floats,
    Mask,
    Rows,
    Table,
    Value,
    counted,
    grid,
    hits_by_decile,
    hits_by_presence,
    hits_by_value,
    known,
    mean,
    not_applicable,
    plain,
    proportion,
    spread,
)
from argus.generative.failures.judging import FAILED, PARTIAL, VERDICTS, YES
from argus.generative.failures.measures import (
    ABSENT,
    HIT,
    LENGTHS,
    NEGLIGIBLE,
    SWITCHED_OFF,
    UNANNOTATED,
)
from argus.measures.intervals import spearman
from argus.measures.significance import paired_difference

if TYPE_CHECKING:
    import pyarrow as pa

RESAMPLES = 2_000
"""Resamples of every test of an ablation. Gives p-values down to 0.001 in seconds."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A table of figures as tables.toml declares it, with its words on the page."""

    section: str
    name: str
    heading: str
    text: str
    needs: Sequence[str] = ()
    group: str = ""
    deciles: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    by_rank: bool = False
    spread: str = ""
    values: str = ""
    presence: Mapping[str, str] = field(default_factory=dict)


@cache
def declared() -> dict[str, Any]:
    """Return the contents of tables.toml, tables as `Shown`, in the order of the page."""
    text = files("argus.generative.failures").joinpath("tables.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    return {**content, "table": [Shown(**entry) for entry in content["table"]]}


def figures(rows: pa.Table, *, k: int, seed: int, strict: bool = False) -> dict[str, Any]:
    """Return every table of one system. Its shape is described at the top of this module.

    rows: one per question, with the columns of `failures.measures`. Those that were not measured
    may be missing. k: of hit_k, as it was measured. seed: of the bootstraps.
    strict: deciles are those of the thesis.
    """
    ordered = Rows.of(rows, k=k, seed=seed, strict=strict)
    judged = int(known(ordered.number("hit_1")).sum())
    whole: dict[str, Any] = {"questions": len(ordered), "judged": judged, "k": k}
    for shown in declared()["table"]:
        table = _gap(ordered, *shown.needs) or _made(shown, ordered)
        if table.get("n") == 0:
            table = not_applicable("No question has this figure.")
        whole.setdefault(shown.section, {})[shown.name] = plain(table)
    return whole


def _gap(rows: Rows, *needs: str) -> Table | None:
    """Return the reason for a missing table that needs these inputs. None if they are there."""
    for need in needs:
        of_input = declared()["needs"][need]
        if not rows.has(of_input["column"]):
            return not_applicable(of_input["why"])
    return None


def _made(shown: Shown, rows: Rows) -> Table:
    if shown.deciles:
        return hits_by_decile(rows, shown.deciles, list(shown.extra), by_rank=shown.by_rank)
    if shown.spread:
        return spread(rows.number(shown.spread))
    if shown.values:
        return hits_by_value(rows, shown.values)
    if shown.presence:
        return hits_by_presence(rows, "passages", shown.presence)
    return _FUNCTIONS[shown.name](rows)


def lacking(systems: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return why tables of some system lack an input, each reason once. systems: of `figures`."""
    inputs = {need["why"] for need in declared()["needs"].values()}
    found = dict.fromkeys(
        of_system[shown.section][shown.name].get("not_applicable")
        for of_system in systems
        for shown in declared()["table"]
    )
    return [why for why in found if why in inputs]


def is_missing(table: Table) -> bool:
    """Whether there is no table, but why there is none."""
    return "not_applicable" in table


def has_rows(table: Table) -> bool:
    """Whether a table has columns and rows, not single figures."""
    return "columns" in table


def csv_tables(
    figures: Mapping[str, Any],
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[object]]]]:
    """Yield name, columns and rows of every table that applies.

    A table of single figures is one row. The single figures of a table of rows (n, mean) are in
    summary.json, and of indicators in the table `indicators`.
    """
    for shown in declared()["table"]:
        table = figures[shown.section][shown.name]
        if has_rows(table):
            yield shown.name, table["columns"], table["rows"]
        elif not is_missing(table):
            yield shown.name, list(table), [list(table.values())]


def _quality(rows: Rows) -> Table:
    gap = _gap(rows, "correctness")
    if gap is not None and not rows.has("answer_hit_1"):
        return gap
    means: list[list[Value]] = []
    for name in ("r_precision", "hit_1", "hit_k", "answer_hit_1", "answer_hit_k"):
        values = rows.number(name)
        if n := int(known(values).sum()):
            means.append([name, n, *proportion(mean(values), n)])
    return grid(len(rows), "measure n mean low high", means)


def _outcomes(rows: Rows) -> Table:
    outcomes = rows.text("outcome")
    return counted("outcome questions", {o: outcomes.count(o) for o in ("PP", "PN", "NP", "NN")})


def _divides(whole: Floats, part: Floats) -> Mask:
    """Which questions have both, and a whole that is above 0 and not as good as 0 to its part."""
    divides: Mask = known(whole, part) & (whole > 0) & (whole >= NEGLIGIBLE * np.abs(part))
    return divides


def _score_shares(rows: Rows, which: str) -> Table:
    """Share of titles and pseudo-queries, over all passages ("all") or correct ones."""
    whole = rows.number(f"score_{which}")
    end = "" if which == "all" else f"_{which}"
    parts = {
        name: rows.number(f"{column}{end}")
        for name, column in (("titles", "score_title"), ("pseudo_queries", "score_query"))
    }
    divides = np.logical_and.reduce([_divides(whole, np.nan_to_num(v)) for v in parts.values()])
    if not divides.any():
        return not_applicable("No question has a score of such passages that is above 0.")
    whole = whole[divides]
    shares: list[list[Value]] = []
    for name, part in parts.items():
        pooled = float(np.nansum(part[divides]) / whole.sum())
        shares.append([name, pooled, mean(part[divides] / whole)])
    return grid(int(divides.sum()), "identifiers pooled mean", shares)


def _answer_title_gain(rows: Rows) -> Table:
    gains: dict[str, Table] = {
        "all": spread(rows.number("answer_title_gain")),
        "correct": spread(rows.number("answer_title_gain_correct")),
    }
    if gains["all"]["n"] == 0:
        return not_applicable("In no passage is an answer both a title n-gram and another n-gram.")
    columns = ("n", "mean", "sigma", "median")
    cells = ([name, *(gain[column] for column in columns)] for name, gain in gains.items())
    return grid(gains["all"]["n"], f"passages {' '.join(columns)}", cells)


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


def _count_and_score(rows: Rows) -> Table:
    """Share of the n-grams against share of the score, pooled over all passages."""
    ngrams, titles, queries, score, of_titles, of_queries = (
        float(np.nansum(rows.number(name)))
        for name in (
            "ngrams_all", "title_ngrams_all", "query_ngrams_all",
            "score_all", "score_title", "score_query",
        )
    )  # fmt: skip
    parts = (
        ("titles", titles, of_titles),
        ("pseudo_queries", queries, of_queries),
        ("body", ngrams - titles - queries, score - of_titles - of_queries),
    )
    shares = [
        [name, int(n), n / ngrams if ngrams else None, part, part / score if score else None]
        for name, n, part in parts
    ]
    columns = "identifiers ngrams share_of_ngrams score share_of_score"
    n = int(known(rows.number("score_all")).sum())
    return grid(n, columns, shares, ngrams=int(ngrams), score=score)


def _query_ngrams(rows: Rows) -> Table:
    if not np.nansum(rows.number("query_ngrams_all")):
        return not_applicable(
            "No n-gram is a pseudo-query: they are MINDER's, and of indexes with pseudo-queries."
        )
    gap = _gap(rows, "correctness")
    return gap or hits_by_presence(rows, "passages", {"first": "query_ngrams_first"})


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
    return grid(n, "in_passages mean_share questions mean_weight sigma_weight", groups)


def _answer_outcomes(rows: Rows) -> Table:
    outcomes = rows.text("answer_outcome")
    counts = {name: outcomes.count(name) for name in (HIT, UNANNOTATED, ABSENT)}
    return counted("outcome questions", counts)


def _cases(rows: Rows) -> tuple[dict[str, int], Table | None]:
    """Verdicts over the unannotated cases and how many have each, or why there are none."""
    pairs = zip(rows.text("answer_outcome"), rows.text("judged"), strict=True)
    verdicts = [verdict for outcome, verdict in pairs if outcome == UNANNOTATED]
    if not verdicts:
        why = f"No question has its answer in a passage among the first {rows.k} without a hit"
        return {}, not_applicable(f"{why}: there is nothing to judge.")
    counts = {verdict: verdicts.count(verdict) for verdict in (*VERDICTS, FAILED)}
    if without := verdicts.count(None):
        counts["not_judged"] = without  # no judge was shown them
    return counts, _gap(rows, "judge")


def _verdicts(rows: Rows) -> Table:
    counts, gap = _cases(rows)
    return gap or counted("verdict cases", counts)


def _adjusted_hits(rows: Rows) -> Table:
    """Hits when judged passages count. n: questions with positives and answers, as in Table 9.

    at_most: when every passage without a verdict counts, too.
    """
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    n = sum(outcome is not None for outcome in outcomes)
    cases = zip(outcomes, rows.text("judged"), rows.number("judged_open"), strict=True)
    undecided = [
        verdict
        for outcome, verdict, left in cases
        if outcome == UNANNOTATED and (verdict in (None, FAILED) or left > 0)
    ]
    cells: list[list[Value]] = []
    criteria = {"hit_k": (), "yes": (YES,), "yes_and_partial": (YES, PARTIAL)}
    for criterion, counting in criteria.items():
        hits = most = outcomes.count(HIT) + sum(counts[verdict] for verdict in counting)
        if counting:
            most += sum(verdict not in counting for verdict in undecided)
        cells.append([criterion, hits, *proportion(hits / n, n), most, most / n])
    return grid(n, "criterion hits share low high at_most at_most_share", cells)


def _lengths(rows: Rows) -> Table:
    """Show by weight per number of tokens whether short identifiers are preferred."""
    ngrams = rows.lists("length_ngrams")
    total = int(ngrams.sum())
    if total == 0:
        return not_applicable(f"No passage among the first {rows.k} has n-grams.")
    names = ("ngrams", "weight", "counted", "log_frequency")
    sums = zip(*(rows.lists(f"length_{name}").sum(axis=0).tolist() for name in names), strict=True)
    cells: list[list[Value]] = []
    for tokens, (n, weight, counted_ngrams, log) in enumerate(sums, 1):
        average = weight / n if n else None
        per_token = None if tokens == LENGTHS or average is None else average / tokens
        label = f"{LENGTHS}+" if tokens == LENGTHS else str(tokens)
        logs = log / counted_ngrams if counted_ngrams else None
        cells.append([label, int(n), n / total, average, per_token, logs])
    columns = "tokens ngrams share mean_weight weight_per_token mean_log10_frequency"
    return grid(int((ngrams.sum(axis=1) > 0).sum()), columns, cells, ngrams=total)


def _coverage(rows: Rows) -> Table:
    values = rows.number("coverage")
    values = values[known(values)]
    return {**spread(values), "share_at_least_0.7": float((values >= 0.7).mean())}


def _pruned(rows: Rows) -> Table:
    """Questions that lost n-grams of their positives, and n-grams per replayed question."""
    values = rows.number("pruned")
    values = values[known(values)]
    lost, n = int((values > 0).sum()), len(values)
    share, low, high = proportion(lost / n, n)
    return {"questions": lost, "share": share, "low": low, "high": high, **spread(values)}


def _replay_ranks(rows: Rows) -> Table:
    """Share of replayed questions of which a positive ranks first, among the first k, at all."""
    replayed = known(rows.number("pruned"))
    n = int(replayed.sum())
    ranks: list[list[Value]] = []
    switched = {"without_titles": "title_ngrams_all", "without_queries": "query_ngrams_all"}
    for variant in ("now", "unpruned", *(f"without_{what}" for what in SWITCHED_OFF)):
        ngrams = switched.get(variant)  # where no question has any, there is nothing to leave out
        if ngrams and not rows.has(f"rank_{variant}") and not (rows.number(ngrams) > 0).any():
            continue
        rank = rows.number(f"rank_{variant}")[replayed]
        ranked = rank[~np.isnan(rank)]
        hits = [proportion(float((rank <= most).mean()), n) for most in (1, rows.k)]
        middle = float(np.median(ranked)) if len(ranked) else None
        ranks.append([variant, *hits[0], *hits[1], len(ranked), middle])
    columns = "search hit_1 hit_1_low hit_1_high hit_k hit_k_low hit_k_high ranked median_rank"
    return grid(n, columns, ranks)


def _ablations(rows: Rows) -> Table:
    """Paired over questions. difference: without them, minus as it is."""
    cells: list[list[Value]] = []
    for what in SWITCHED_OFF:
        for figure in ("r_precision", "hit_1", "hit_k"):
            before, after = rows.number(figure), rows.number(f"{figure}_without_{what}")
            both = np.flatnonzero(known(before, after))
            if not len(both):
                continue
            # Rows are ordered by id; their places stand for ids, which a file may hold twice.
            places = [f"{place:012d}" for place in both]
            sides = (dict(zip(places, side[both], strict=True)) for side in (before, after))
            c = paired_difference(*sides, seed=rows.seed, resamples=RESAMPLES)
            cells.append(
                [
                    what, figure, c.queries, c.mean_before, c.mean_after, c.mean_difference,
                    c.low, c.high, c.p_value, c.improved, c.harmed, c.no_interval,
                ]
            )  # fmt: skip
    columns = (
        "without figure n as_is changed difference low high p_value improved harmed no_interval"
    )
    return grid(max((int(row[2] or 0) for row in cells), default=0), columns, cells)


INDICATORS = (
    "frequency_top", "frequency_all", "rarest_top", "unigram_share", "ngram_words", "overlap",
    "answer_ngram_1", "answer_ngram_k", "dominance", "ngrams_all", "ngrams_first",
    "query_ngrams_first", "unigram_score_share", "title_score_share", "query_score_share",
    "diversity", "title_repetition", "positives", "gold_holds_answer", "gold_terms",
    "gold_adjacent", "coverage", "pieces", "pruned",
)  # fmt: skip
"""Columns of measures.py that may go together with success and are not made of it."""


def _correlations(rows: Rows) -> Table:
    cells: list[list[Value]] = []
    for name in filter(rows.has, INDICATORS):
        for outcome, hits in rows.hits.items():
            r = spearman(rows.number(name), hits, seed=rows.seed)
            cells.append([name, outcome, r.n, r.rho, r.p_value, r.low, r.high, r.why_not])
    return grid(len(rows), "indicator outcome n rho p_value low high why_not", cells)


_FUNCTIONS: dict[str, Callable[[Rows], Table]] = {
    "quality": _quality,
    "t16_outcomes": _outcomes,
    "score_shares_all": lambda rows: _score_shares(rows, "all"),
    "score_shares_correct": lambda rows: _score_shares(rows, "correct"),
    "answer_title_gain": _answer_title_gain,
    "title_score_difference": _title_score_difference,
    "count_and_score": _count_and_score,
    "query_ngrams": _query_ngrams,
    "t17_keys": _keys,
    "t09_outcomes": _answer_outcomes,
    "t10_verdicts": _verdicts,
    "t11_adjusted_hits": _adjusted_hits,
    "lengths": _lengths,
    "coverage": _coverage,
    "pruned": _pruned,
    "replay_ranks": _replay_ranks,
    "ablations": _ablations,
    "correlations": _correlations,
}
"""Tables that are not made of one column."""
