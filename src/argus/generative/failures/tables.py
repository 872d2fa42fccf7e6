"""Make the tables of one system from its rows of figures: those of the thesis (t04_...) and more.

`figures`: the rows of failures.parquet -> plain JSON, numbers of 8 significant digits, None if a
figure does not apply. `diagnosis` and `analyse` call it, and `report` shows it. tables.toml
declares the tables: section, inputs, and words on the page.

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

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.generative.failures.judging import FAILED, PARTIAL, VERDICTS, YES
from argus.generative.failures.measures import HIT, NEGLIGIBLE, SWITCHED_OFF, UNANNOTATED, Floats
from argus.measures.intervals import spearman, wilson

Value = str | int | float | None
"""Value of a cell. None if it does not apply."""
Table = dict[str, Any]
"""One table, as described at the top of this module."""
Mask = npt.NDArray[np.bool_]
GROUPS = 10
# Significant digits that are written.
DIGITS = 8
SPREAD = ("n", "mean", "sigma", "median", "min", "max")


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
    counts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    presence: Mapping[str, str] = field(default_factory=dict)


@cache
def declared() -> dict[str, Any]:
    """Return the contents of tables.toml, tables as `Shown`, in the order of the page."""
    text = files("argus.generative.failures").joinpath("tables.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    return {**content, "table": [Shown(**entry) for entry in content["table"]]}


@dataclass(frozen=True)
class Rows:
    """The rows of failures.parquet (docs/failures.md): (n,) questions.

    A column that is not there counts as one of which no question has a value. k: of hit_k. seed:
    of the bootstraps. strict: deciles are those of the thesis.
    """

    table: pa.Table
    k: int
    seed: int
    strict: bool = False

    @classmethod
    def of(cls, table: pa.Table, *, k: int, seed: int, strict: bool = False) -> Rows:
        """Order the rows by id, unless strict, so that no sum depends on the order of input."""
        if not strict:
            names = [n for n in ("query_id", "question") if n in table.column_names]
            table = table.sort_by([(name, "ascending") for name in names])
        return cls(table, k, seed, strict)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def number(self, name: str) -> Floats:
        """Values of a column, (n,), NaN where a question has none."""
        if name not in self.table.column_names:
            return np.full(len(self), np.nan)
        column = self.table[name].cast(pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def text(self, name: str) -> list[str | None]:
        """Values of a column of texts, None if a question has none."""
        if name not in self.table.column_names:
            return [None] * len(self)
        values: list[str | None] = self.table[name].to_pylist()
        return values

    def has(self, name: str) -> bool:
        """Whether any question has a value."""
        return name in self.table.column_names and self.table[name].null_count < len(self)

    @property
    def hits(self) -> dict[str, Floats]:
        """hit_1 and hit_k, NaN without judgements."""
        return {name: self.number(name) for name in ("hit_1", "hit_k")}


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
        table = lack(ordered, *shown.needs) or make_table(shown, ordered)
        if table.get("n") == 0:
            table = not_applicable("No question has this figure.")
        whole.setdefault(shown.section, {})[shown.name] = plain(table)
    return whole


def lack(rows: Rows, *needs: str) -> Table | None:
    """Return the reason for a missing table that needs these inputs. None if they are there."""
    for need in needs:
        of_input = declared()["needs"][need]
        if not rows.has(of_input["column"]):
            return not_applicable(of_input["why"])
    return None


def make_table(shown: Shown, rows: Rows) -> Table:
    """Return a table as it is declared: of one column, or by the function of its name."""
    if shown.deciles:
        return hits_by_decile(rows, shown.deciles, list(shown.extra), by_rank=shown.by_rank)
    if shown.spread:
        return spread(rows.number(shown.spread))
    if shown.values:
        values = rows.number(shown.values)
        judged = values[known(values, *rows.hits.values())]
        return hits_by(rows, shown.values, {(int(v),): values == v for v in np.unique(judged)})
    if shown.presence:
        return hits_by_presence(rows, "passages", shown.presence)
    for column, names in shown.counts.items():
        listed = rows.text(column)
        return counted("outcome questions", {name: listed.count(name) for name in names})
    return FUNCTIONS[shown.name](rows)


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


def not_applicable(why: str) -> Table:
    """Return the reason for a table that cannot be made."""
    return {"not_applicable": why}


def grid(n: int, columns: str, rows: Iterable[Sequence[Value]], **single: Value) -> Table:
    """Return a table of rows. n: the questions it is made of. columns: names, spaces between."""
    return {"n": n, **single, "columns": columns.split(), "rows": [list(row) for row in rows]}


def known(*columns: Floats) -> Mask:
    """Which questions have a value in all columns, each (n,)."""
    in_all: Mask = np.logical_and.reduce([~np.isnan(column) for column in columns])
    return in_all


def mean(values: Floats) -> float | None:
    """Return the mean of the values that are there. None if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def spread(values: Floats) -> Table:
    """Describe the values that are there. sigma: of the population (divided by n)."""
    values = values[~np.isnan(values)]
    if not len(values):
        return dict.fromkeys(SPREAD) | {"n": 0}
    figures = (values.mean(), values.std(), np.median(values), values.min(), values.max())
    return dict(zip(SPREAD, (len(values), *map(float, figures)), strict=True))


def proportion(share: float | None, n: int) -> list[float | None]:
    """Return a share, or a mean of values in [0, 1], with the Wilson interval's ends.

    That of 0 begins at 0 and that of 1 ends at 1, whatever rounding makes of it.
    """
    if share is None or n == 0:
        return [None, None, None]
    low, high = wilson(share, n)
    return [share, float(low) if share > 0 else 0.0, float(high) if share < 1 else 1.0]


def counted(columns: str, counts: Mapping[str, int]) -> Table:
    """Return a table of counts, their shares of all, and the shares' Wilson intervals."""
    n = sum(counts.values())
    rows = [[name, c, *proportion(c / n if n else None, n)] for name, c in counts.items()]
    return grid(n, f"{columns} share low high", rows)


def hits_by(rows: Rows, columns: str, groups: Mapping[tuple[Value, ...], Mask]) -> Table:
    """Return the hit rates of groups of questions. n: of those in any, with known hits.

    columns: names of the parts of a group's key. groups: key -> its questions, (n,).
    """
    hits = rows.hits
    judged = known(*hits.values())
    cells: list[list[Value]] = []
    in_any = np.zeros(len(rows), bool)
    for key, group in groups.items():
        mask = group & judged
        n = int(mask.sum())
        rates = [proportion(mean(hit[mask]), n) for hit in hits.values()]
        cells.append([*key, n, *(value for rate in rates for value in rate)])
        in_any |= mask
    if not in_any.any():
        return not_applicable("No question has both this figure and a known correct passage.")
    names = f"{columns} n hit_1 hit_1_low hit_1_high hit_k hit_k_low hit_k_high"
    return grid(int(in_any.sum()), names, cells)


def hits_by_presence(rows: Rows, column: str, indicators: Mapping[str, str]) -> Table:
    """Return the hit rates where each indicator (name -> column) is above 0, and where it is 0."""
    groups: dict[tuple[Value, ...], Mask] = {}
    for name, indicator in indicators.items():
        values = rows.number(indicator)
        groups |= {(name, "present"): values > 0, (name, "absent"): values == 0}
    return hits_by(rows, f"{column} is", groups)


def hits_by_decile(
    rows: Rows, indicator: str, extra: Sequence[str] = (), *, by_rank: bool = False
) -> Table:
    """Return the hit rates by decile of an indicator, and its spread over the same questions.

    extra: other indicators of which the mean is given in every decile. by_rank: where the thesis is
    followed strictly, see `published_deciles`.
    """
    hits = rows.hits
    values = np.where(known(*hits.values()), rows.number(indicator), np.nan)
    outcomes = hits | {name: rows.number(name) for name in extra}
    groups = (
        published_deciles(values, outcomes, by_rank=by_rank)
        if rows.strict
        else deciles(values, outcomes)
    )
    if not groups:
        n = int(known(values).sum())
        return not_applicable(f"Only {n} questions have this figure; deciles need {GROUPS}.")
    columns = ["decile", "low", "high", "mean", "weight", *outcomes]
    return {**spread(values), "indicator": indicator, "columns": columns, "rows": groups}


def deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], groups: int = GROUPS
) -> list[list[Value]]:
    """Part questions into `groups` of equal weight by their value. None with fewer values.

    values and every outcome: (n,), None or NaN where a question has none. A question whose value
    is tied across a border belongs to both groups in proportion: as if ties were broken at
    random, on average. Nothing depends on the order of the questions.

    Each group is a row: its number, from 1 for the lowest values, the least and the greatest value
    of the questions that belong to it, wholly or in part, the mean value, how many questions it
    counts for (n / groups), and the mean of every outcome. None where no question has it.
    """
    value = np.asarray(values, np.float64)
    there = ~np.isnan(value)
    n = int(there.sum())
    if n < groups:
        return []
    different, place = np.unique(value[there], return_inverse=True)
    counts = np.bincount(place)
    # Part of every value in every group, in groups-ths of a question, (groups, m): value v covers
    # groups * counts[v] of a line of groups * n, of which each group is a stretch of n.
    ends = np.cumsum(counts) * groups
    left = np.arange(groups)[:, None] * n
    shares = np.minimum(ends, left + n) - np.maximum(ends - counts * groups, left)
    shares = np.maximum(shares, 0)
    rates = []
    for outcome in outcomes.values():
        measured = np.asarray(outcome, np.float64)[there]
        has = ~np.isnan(measured)
        order = np.lexsort((measured[has], place[has]))  # sums must not depend on the order
        at, measured = place[has][order], measured[has][order]
        each = shares / counts
        sums = each @ np.bincount(at, weights=measured, minlength=len(counts))  # (groups,)
        weights = each @ np.bincount(at, minlength=len(counts))
        rates.append([float(s / w) if w > 0 else None for s, w in zip(sums, weights, strict=True)])
    rows: list[list[Value]] = []
    for group, share in enumerate(shares):
        members = different[np.flatnonzero(share)]
        middle = float(share @ different / n)
        of_outcomes = [rate[group] for rate in rates]
        rows.append(
            [group + 1, float(members[0]), float(members[-1]), middle, n / groups, *of_outcomes]
        )
    return rows


def published_deciles(
    values: npt.ArrayLike, outcomes: Mapping[str, npt.ArrayLike], *, by_rank: bool
) -> list[list[Value]]:
    """Part questions as the thesis does, into rows as `deciles`. None below ten values.

    Equal values stay together: a group ends at a tenth's quantile (linear between two values),
    which belongs to it, and of equal quantiles one counts. So groups differ in size (Table 13).
    by_rank: groups of n // 10 questions by value, then by order. The last takes the rest (Table
    12).
    """
    value = np.asarray(values, np.float64)
    there = np.flatnonzero(~np.isnan(value))
    n = len(there)
    if n < GROUPS:
        return []
    value = value[there]
    if by_rank:
        rank = np.empty(n, np.int64)
        rank[np.argsort(value, kind="stable")] = np.arange(n)
        group = np.minimum(rank // (n // GROUPS), GROUPS - 1)
    else:
        ends = np.unique(np.quantile(value, np.arange(1, GROUPS) / GROUPS))
        group = np.searchsorted(ends, value)
    of_outcomes = [np.asarray(outcome, np.float64)[there] for outcome in outcomes.values()]
    rows: list[list[Value]] = []
    for number, members in enumerate((group == g for g in np.unique(group)), start=1):
        mine = value[members]
        figures = (float(mine.min()), float(mine.max()), float(mine.mean()), float(len(mine)))
        rows.append([number, *figures, *(mean(outcome[members]) for outcome in of_outcomes)])
    return rows


def plain(value: Any) -> Any:
    """Make figures JSON: Python numbers of DIGITS significant digits, None for NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


# Makers of the tables that are not of one column, by table.
FUNCTIONS: dict[str, Callable[[Rows], Table]] = {}


def makes(table: str) -> Callable[[Callable[[Rows], Table]], Callable[[Rows], Table]]:
    """Name the function that makes a table."""
    return lambda function: FUNCTIONS.setdefault(table, function)


@makes("quality")
def _quality(rows: Rows) -> Table:
    gap = lack(rows, "correctness")
    if gap is not None and not rows.has("answer_hit_1"):
        return gap
    means: list[list[Value]] = []
    for name in ("r_precision", "hit_1", "hit_k", "answer_hit_1", "answer_hit_k"):
        values = rows.number(name)
        if n := int(known(values).sum()):
            means.append([name, n, *proportion(mean(values), n)])
    return grid(len(rows), "measure n mean low high", means)


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


FUNCTIONS |= {f"score_shares_{w}": partial(_score_shares, which=w) for w in ("all", "correct")}


@makes("answer_title_gain")
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


@makes("title_score_difference")
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


@makes("count_and_score")
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


@makes("query_ngrams")
def _query_ngrams(rows: Rows) -> Table:
    if not np.nansum(rows.number("query_ngrams_all")):
        return not_applicable(
            "No n-gram is a pseudo-query: they are MINDER's, and of indexes with pseudo-queries."
        )
    gap = lack(rows, "correctness")
    return gap or hits_by_presence(rows, "passages", {"first": "query_ngrams_first"})


@makes("t17_keys")
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
    return counts, lack(rows, "judge")


@makes("t10_verdicts")
def _verdicts(rows: Rows) -> Table:
    counts, gap = _cases(rows)
    return gap or counted("verdict cases", counts)


@makes("t11_adjusted_hits")
def _adjusted_hits(rows: Rows) -> Table:
    """Hits when judged passages count. n: questions with positives and answers, as in Table 9."""
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    n = sum(outcome is not None for outcome in outcomes)
    cells: list[list[Value]] = []
    criteria = {"hit_k": (), "yes": (YES,), "yes_and_partial": (YES, PARTIAL)}
    for criterion, counting in criteria.items():
        hits = outcomes.count(HIT) + sum(counts[verdict] for verdict in counting)
        cells.append([criterion, hits, *proportion(hits / n, n)])
    return grid(n, "criterion hits share low high", cells)


@makes("pruned")
def _pruned(rows: Rows) -> Table:
    """Questions that lost n-grams of their positives, and n-grams per replayed question."""
    values = rows.number("pruned")
    values = values[known(values)]
    lost, n = int((values > 0).sum()), len(values)
    share, low, high = proportion(lost / n, n)
    return {"questions": lost, "share": share, "low": low, "high": high, **spread(values)}


@makes("replay_ranks")
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


# Columns of measures.py that may go together with success and are not made of it.
INDICATORS = (
    "frequency_top", "frequency_all", "rarest_top", "unigram_share", "ngram_words", "overlap",
    "answer_ngram_1", "answer_ngram_k", "dominance", "ngrams_all", "ngrams_first",
    "query_ngrams_first", "unigram_score_share", "title_score_share", "query_score_share",
    "diversity", "title_repetition", "positives", "gold_holds_answer", "gold_terms",
    "gold_adjacent", "coverage", "pieces", "pruned",
)  # fmt: skip


@makes("correlations")
def _correlations(rows: Rows) -> Table:
    cells: list[list[Value]] = []
    for name in filter(rows.has, INDICATORS):
        for outcome, hits in rows.hits.items():
            r = spearman(rows.number(name), hits, seed=rows.seed)
            cells.append([name, outcome, r.n, r.rho, r.p_value, r.low, r.high, r.why_not])
    return grid(len(rows), "indicator outcome n rho p_value low high why_not", cells)
