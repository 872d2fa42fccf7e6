"""Tables of the failure analysis: each figure once, with the systems side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from argus.generative.failures.tables.rows import Table, Value, has_rows, is_deciles, is_missing
from argus.reports.section import Table as PageTable
from argus.reports.section import table

NAMES = {
    "r_precision": "R-precision", "hit_1": "hits@1", "hit_k": "hits@{k}",
    "answer_hit_1": "an answer in the first text",
    "answer_hit_k": "an answer in the first {k} texts",
    "frequency_top": "frequency of the five heaviest n-grams",
    "frequency_all": "frequency of all n-grams", "rarest_top": "rarest of the five heaviest",
    "unigram_share": "share of unigrams", "ngram_words": "words per n-gram",
    "overlap": "question tokens in n-grams", "answer_ngram_1": "answer in an n-gram, first passage",
    "answer_ngram_k": "answer in an n-gram, first {k}", "dominance": "share of the heaviest n-gram",
    "ngrams_all": "n-grams, all passages", "ngrams_first": "n-grams, first passage",
    "query_ngrams_first": "pseudo-queries, first passage",
    "unigram_score_share": "score share of unigrams", "title_score_share": "score share of titles",
    "query_score_share": "score share of pseudo-queries", "diversity": "different tokens",
    "title_repetition": "passages of one title", "positives": "annotated positives",
    "gold_holds_answer": "a positive holds an answer", "gold_terms": "question terms in a positive",
    "gold_adjacent": "terms side by side in a positive", "coverage": "question words in the corpus",
    "pieces": "tokens of the most split word", "pruned": "n-grams pruned",
    "share_at_least_0.7": "share of at least 0.7", "sigma": "σ", "n": "questions", "min": "least",
    "max": "greatest", "extreme_id": "greatest: question", "extreme_question": "its text",
    "PP": "PP: first and second correct", "PN": "PN: only the first", "NP": "NP: only the second",
    "NN": "NN: neither", "hit": "a correct passage in the first {k}",
    "unannotated": "only unannotated ones hold an answer", "absent": "no answer in the first {k}",
    "not_judged": "not asked", "yes": "and those judged YES",
    "yes_and_partial": "and those judged PARTIAL", "pseudo_queries": "pseudo-queries",
    "queries": "pseudo-queries", "first": "first", "first_k": "first {k}",
    "now": "as it is", "unpruned": "with pruned n-grams",
    "without_titles": "without titles", "without_queries": "without pseudo-queries",
    "without_unigrams": "without unigrams", "questions": "questions that lost some",
    "share": "share of questions", "low": "95% from", "high": "95% to",
    "cut": "cut in two", "whole": "whole",
}  # fmt: skip
"""Labels of names in the figures. {k} is the number of first passages."""


def named(name: Value, k: int) -> str:
    """Return how something in the figures is called. Its own name where it has no other."""
    return NAMES.get(name, str(name)).format(k=k) if isinstance(name, str) else str(name)


@dataclass(frozen=True)
class Cell:
    """A column per system.

    columns: of the figure's table. Two are the ends of a range, or of the interval of a share or of
    a difference. Three a difference and its interval. kind: as in tables of the report, where there
    is one of that name.
    """

    heading: str
    columns: tuple[str, ...]
    kind: Literal["count", "share", "range", "interval", "signed", "change", "both", "p"] = "count"


def _count(heading: str, column: str) -> Cell:
    return Cell(heading, (column,))


def _share(heading: str, column: str) -> Cell:
    return Cell(heading, (column,), "share")


def _range(heading: str, low: str, high: str) -> Cell:
    return Cell(heading, (low, high), "range")


def _interval(heading: str, low: str, high: str) -> Cell:
    return Cell(heading, (low, high), "interval")


_INTERVAL = _interval("95%", "low", "high")
_DIFFERENCE = Cell("95%", ("low", "high"), "signed")
_P = Cell("p", ("p_value",), "p")
_HITS = (
    _count("n", "n"), _share("hits@1", "hit_1"), _interval("95% (@1)", "hit_1_low", "hit_1_high"),
    _share("hits@{k}", "hit_k"), _interval("95% (@{k})", "hit_k_low", "hit_k_high"),
)  # fmt: skip
_DECILES = (_range("range", "low", "high"), _share("hits@1", "hit_1"), _share("hits@{k}", "hit_k"))
_SPREAD = ("mean", "sigma", "median")


@dataclass(frozen=True)
class Shown:
    """A table of the figures as the page shows it.

    part: of the figures. group: of the page. keys: columns that all systems share -> heading.
    cells: columns of each system. Empty for a table of single figures. chart: its kind.
    The one of positives stands alone, and the one of values is over the only key. small: half of
    the page is enough.
    """

    part: str
    name: str
    group: str
    heading: str
    text: str
    keys: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    chart: Literal["", "deciles", "values", "positives", "lengths"] = ""
    small: bool = False


def _of_deciles(part: str, name: str, heading: str, text: str, *more: Cell) -> Shown:
    cells = (*_DECILES, *more)
    return Shown(part, name, part, heading, text, {"decile": "decile"}, cells, "deciles", True)


def _counted(part: str, name: str, heading: str, text: str, key: str, count: str) -> Shown:
    cells = (_count(count, count), _share("share", "share"), _INTERVAL)
    return Shown(part, name, part, heading, text, {key: key}, cells)


def _flat(part: str, name: str, heading: str, text: str) -> Shown:
    return Shown(part, name, part, heading, text, small=True)


SHOWN = (
    Shown("quality", "quality", "quality", "Hits and R-precision",
          "Means over questions, with 95% intervals.",
          {"measure": "measure"}, (_count("n", "n"), _share("mean", "mean"), _INTERVAL)),
    Shown("quality", "positives_histogram", "quality", "Annotated positives",
          "Questions by how many passages are annotated as correct.", chart="positives",
          small=True),
    _flat("quality", "positives", "Positives per question", "Passages annotated as correct."),
    _counted("quality", "t16_outcomes", "The first two passages (Table 16)",
             "P: correct, N: not.", "outcome", "questions"),
    Shown("metadata", "score_shares_all", "metadata", "Share of the score, all passages",
          "Of titles and pseudo-queries: pooled over questions, and the mean of questions.",
          {"identifiers": "identifiers"}, (_share("pooled", "pooled"), _share("mean", "mean")),
          small=True),
    Shown("metadata", "score_shares_correct", "metadata", "Share of the score, correct passages",
          "The same over correct passages alone.",
          {"identifiers": "identifiers"}, (_share("pooled", "pooled"), _share("mean", "mean")),
          small=True),
    Shown("metadata", "answer_title_gain", "metadata", "An answer as title and as other n-gram",
          "How much more it weighs as a title: 1 is twice as much. Over questions that have both.",
          {"passages": "passages"},
          (_count("mean", "mean"), _count("median", "median")), small=True),
    _flat("metadata", "title_score_difference", "Titles of correct and of other passages",
          "Weight of titles in correct passages / in others - 1, per question."),
    _of_deciles("generation", "t04_frequency_top_deciles", "Low lexical specificity (Table 4)",
                "Mean corpus frequency of the five heaviest n-grams of the first passage."),
    _of_deciles("generation", "t04_frequency_all_deciles", "Frequency of all n-grams (Table 4)",
                "The same over all n-grams of the first passage."),
    _of_deciles("generation", "t05_unigram_share_deciles", "Preference for unigrams (Table 5)",
                "Share of the first passage's n-grams that are single tokens."),
    _flat("generation", "t05_ngram_words", "Words per n-gram", "Over the first passage's n-grams."),
    _of_deciles("generation", "t06_overlap_deciles", "Overlap with the question (Table 6)",
                "Share of the question's tokens that are in an n-gram of the first passage."),
    Shown("generation", "t07_answer_ngram", "generation", "Answer as n-gram (Table 7)",
          "Hit rates where an n-gram of the first passages holds an answer, and where none does.",
          {"passages": "passages", "is": "holds it"}, _HITS),
    _of_deciles("scoring", "t08_dominance_deciles", "One n-gram decides (Table 8)",
                "Heaviest n-gram / score of the first passage."),
    Shown("scoring", "count_and_score", "scoring", "Number of n-grams and share of the score",
          "Over all passages.", {"identifiers": "identifiers"},
          (_count("n-grams", "ngrams"), _share("of n-grams", "share_of_ngrams"),
           _share("of the score", "share_of_score"))),
    Shown("scoring", "query_ngrams", "scoring", "Pseudo-queries",
          "Hit rates with and without a pseudo-query among the first passage's n-grams.",
          {"passages": "passages", "is": "has one"}, _HITS),
    _of_deciles("scoring", "t13_ngrams_first_deciles", "Number of n-grams (Table 13)",
                "N-grams of the first passage.", _count("frequency", "frequency_all")),
    _of_deciles("scoring", "t14_diversity_deciles", "Diversity of tokens (Table 14)",
                "Different tokens / tokens over the n-grams of the first passage."),
    Shown("scoring", "t15_title_repetition", "scoring", "Title repetition (Table 15)",
          "Hit rates by how many of the first {k} passages bear the commonest title.",
          {"title_repetition": "passages"}, _HITS, "values"),
    Shown("scoring", "t17_keys", "scoring", "N-grams of correct and of other passages (Table 17)",
          "The different n-grams of the first {k} passages, by which of these they are in.",
          {"in_passages": "in passages"},
          (_share("share", "mean_share"), _count("questions", "questions"),
           _count("mean weight", "mean_weight"), _count("σ", "sigma_weight"))),
    _counted("annotation", "t09_outcomes", "Answers in unannotated passages (Table 9)",
             "Where no correct passage is in the first {k}, one may hold an answer all the same.",
             "outcome", "questions"),
    _counted("annotation", "t10_verdicts", "What the judge says (Table 10)",
             "The best verdict over the question's passages that hold an answer.",
             "verdict", "cases"),
    Shown("annotation", "t11_adjusted_hits", "annotation", "Adjusted hits@{k} (Table 11)",
          "Hits when judged passages count. At most: if every passage without a verdict counted.",
          {"criterion": "counted"},
          (_count("hits", "hits"), _share("share", "share"), _INTERVAL,
           _share("at most", "at_most_share"))),
    Shown("texts", "gold_holds_answer", "annotation", "Positives that hold an answer",
          "Hit rates where the text of some positive holds an answer, and where none does.",
          {"is": "holds one"}, _HITS),
    Shown("texts", "gold_terms", "annotation", "Question terms in a positive",
          "Content words of the question in the positive that has most of them.", small=True),
    Shown("texts", "gold_adjacent", "annotation", "Terms side by side (contiguity)",
          "Hit rates where two of the question's terms stand next to each other in a positive.",
          {"is": "side by side"}, _HITS),
    Shown("generation", "lengths", "lengths", "Weight by length",
          "All n-grams of the first {k} passages, by number of tokens.", {"tokens": "tokens"},
          (_count("n-grams", "ngrams"), _share("share", "share"),
           _count("mean weight", "mean_weight"), _count("per token", "weight_per_token"),
           _count("log10 frequency", "mean_log10_frequency")), "lengths"),
    _of_deciles("corpus", "t12_coverage_deciles", "Coverage (Table 12)",
                "Share of the question's words that the corpus has."),
    _flat("corpus", "coverage", "Coverage of the question's words", "Over all questions."),
    Shown("corpus", "most_split_words", "corpus", "Most split words",
          "Words of the answers, titles or questions, and the tokens that they are split into.",
          {"word": "word"}, (_count("tokens", "pieces"), _count("questions", "questions")),
          small=True),
    Shown("corpus", "pieces", "corpus", "Split names",
          "Hit rates by the most tokens into which a word that matters is split.",
          {"pieces": "tokens"}, _HITS),
    Shown("corpus", "cut_answers", "corpus", "Cut answers",
          "Hit rates where the border of two passages cuts an answer, and where none does.",
          {"answer": "answer"}, _HITS),
    Shown("corpus", "positives_indexed", "corpus", "Positives in the index",
          "Hit rates by how many of a question's positives the index holds.",
          {"indexed": "indexed"}, _HITS),
    Shown("replay", "pruned", "replay", "False pruning",
          "N-grams of the positives that weigh more than 0 and that the beam dropped."),
    Shown("replay", "pruned_at", "replay", "Where n-grams left the beam",
          "Token, from 1, of the heaviest of them.",
          {"token": "token"}, (_count("questions", "questions"),), small=True),
    Shown("replay", "pruned_kept_by", "replay", "The beam that keeps them",
          "The least beam size that writes it; doubled, up to 240 were tried.",
          {"beam": "beams"}, (_count("questions", "questions"),), small=True),
    Shown("replay", "replay_ranks", "replay", "The replayed search",
          "With the pruned n-grams as keys, and with some identifiers switched off.",
          {"search": "search"},
          (_HITS[1], *_HITS[3:],
           _count("ranked", "ranked"), _count("median rank", "median_rank"))),
    Shown("ablations", "ablations", "ablations", "Identifiers switched off",
          "The list ranked anew without these identifiers; paired over questions, with 95% "
          "intervals of the change. Improved, harmed: questions.",
          {"without": "without", "figure": "measure"},
          (_share("as it is", "as_is"), _share("ranked anew", "changed"),
           Cell("change", ("difference", "low", "high"), "change"), _P,
           Cell("improved / harmed", ("improved", "harmed"), "both"))),
    Shown("correlations", "correlations", "correlations", "Correlation with success",
          "Spearman's ρ over n questions, its two-sided p, and a 95% bootstrap interval; none "
          "where either is constant.",
          {"indicator": "indicator", "outcome": "with"},
          (_count("n", "n"), Cell("ρ", ("rho",), "signed"), _DIFFERENCE, _P)),
    Shown("correlations", "indicators", "correlations", "Mean and spread of every indicator",
          "Over the n questions of which it is known.",
          {"indicator": "indicator"},
          (_count("n", "n"), *(_count(NAMES.get(name, name), name) for name in _SPREAD),
           _range("range", "min", "max"))),
)  # fmt: skip
"""Tables in the order of the page."""


_NONE = "–"
_DASH, _TO = "–\u2060", "\u00a0to\u00a0"  # lines do not break there
_SHORT = 40
"""Characters of a text that needs no wide column (see report.js)."""
_OF_COLUMN = {
    "is": {"present": "yes", "absent": "no"},
    "in_passages": {"correct": "correct alone", "wrong": "others alone", "shared": "both"},
    "verdict": {"failed": "no verdict"},
}
"""Names in columns that differ from those in the rest."""
_SWITCHED_OFF: dict[Value, tuple[str, str, str]] = {
    "titles": ("scoring", "count_and_score", "titles"),
    "queries": ("scoring", "count_and_score", "pseudo_queries"),
    "unigrams": ("generation", "lengths", "1"),
}
"""Part, table and row where the n-grams are counted that an ablation leaves out."""
_NOTHING_OFF = "no such n-gram"
_TESTS = 20
"""P-values of which one is below 0.05 by chance."""


def side_by_side(shown: Shown, figures: Mapping[str, dict[str, Any]], k: int) -> PageTable | None:
    """Return one table of all systems. None if it applies to none of them.

    figures: by the system's label, "" for one alone.
    """
    tables = {label: _marked(shown, of_system) for label, of_system in figures.items()}
    grids = {label: t for label, t in tables.items() if has_rows(t)}
    singles = {label: t for label, t in tables.items() if not (is_missing(t) or has_rows(t))}
    if not grids and not singles:
        return None
    if shown.chart == "positives":
        page = table({}, [])
    else:
        page = _keyed(shown, grids, k) if shown.cells else _flat_table(singles, k)
    fits = len(figures) == 1 or (
        shown.chart != "deciles"
        and all(len(str(cell)) <= _SHORT for row in page["rows"] for cell in row)
    )
    return {
        **page,
        "group": shown.group,
        "heading": shown.heading.format(k=k),
        "text": _text(shown, grids, page, k),
        "chart": "" if shown.chart == "values" and len(page["rows"]) < 2 else shown.chart,
        "small": shown.small and fits,
    }


def _marked(shown: Shown, figures: dict[str, Any]) -> Table:
    """Return a system's table. An ablation that left out nothing says so in place of numbers."""
    whole: Table = figures[shown.part][shown.name]
    if shown.name != "ablations" or not has_rows(whole):
        return whole
    columns = whole["columns"]
    changed = [columns.index(name) for name in ("improved", "harmed")]
    blank = [columns.index(name) for name in ("difference", "low", "high", "p_value")] + changed
    rows = []
    for row in whole["rows"]:
        same = not any(row[place] for place in changed)
        if same and _ngrams(figures, *_SWITCHED_OFF[row[columns.index("without")]]) == 0:
            row = [None if place in blank else value for place, value in enumerate(row)]
            row[columns.index("difference")] = _NOTHING_OFF
        rows.append(row)
    return whole | {"rows": rows}


def _ngrams(figures: dict[str, Any], part: str, name: str, key: str) -> Value:
    """Return how many n-grams a row of a table counts. None if the table does not apply."""
    counts = figures[part][name]
    if not has_rows(counts):
        return None
    place = counts["columns"].index("ngrams")
    return next((row[place] for row in counts["rows"] if row[0] == key), None)


def _text(shown: Shown, grids: Mapping[str, Table], page: PageTable, k: int) -> str:
    """Return the text under the heading, with the table's single figures."""
    sentences = [shown.text.format(k=k)]
    sentences += [
        f"{label + ': mean' if label else 'Mean'} {in_words(grid['mean'])}, "
        f"σ {in_words(grid['sigma'])}."
        for label, grid in grids.items()
        if is_deciles(grid)
    ]
    if shown.name == "correlations":
        places = [i for i, column in enumerate(page["columns"]) if column["name"].split()[0] == "p"]
        shown_here = sum(row[i] not in (None, _NONE) for row in page["rows"] for i in places)
        sentences += by_chance(shown_here)
    return " ".join(sentences)


def by_chance(tests: int) -> list[str]:
    """Return a sentence about a number of p-values. None if it is too small to matter."""
    expected = round(tests / _TESTS)
    if not expected:
        return []
    of_them = "one of them" if expected == 1 else f"{expected} of them"
    return [f"{tests} p-values are shown; about {of_them} would be below 0.05 by chance alone."]


def missing(figures: Mapping[str, dict[str, Any]], k: int) -> list[list[str]]:
    """Return [figures, of which systems, why] of all that does not apply, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for shown in SHOWN:
        whys: dict[str, list[str]] = {}
        for label, of_system in figures.items():
            absent = of_system[shown.part][shown.name]
            if is_missing(absent):
                whys.setdefault(absent["not_applicable"], []).append(label)
        for why, labels in whys.items():
            systems = ", ".join(labels)
            reasons.setdefault((why, systems), []).append(shown.heading.format(k=k))
    return [["; ".join(names), systems, why] for (why, systems), names in reasons.items()]


def _keyed(shown: Shown, grids: Mapping[str, Table], k: int) -> PageTable:
    """Return key columns, and every system's cells beside them. Rows that one lacks are empty."""
    columns = dict.fromkeys((heading.format(k=k) for heading in shown.keys.values()), "text")
    rows: dict[tuple[Value, ...], list[list[object]]] = {}
    for i, (label, grid) in enumerate(grids.items()):
        for cell in shown.cells:
            heading = f"{cell.heading.format(k=k)} {label}".strip()
            columns[heading] = cell.kind if cell.kind in ("count", "share") else "text"
        for values in grid["rows"]:
            row = dict(zip(grid["columns"], values, strict=True))
            key = tuple(row[name] for name in shown.keys)
            line = rows.setdefault(key, [[None] * len(shown.cells) for _ in grids])
            line[i] = [value(row, cell) for cell in shown.cells]
    keys = list(rows)
    if all(isinstance(key[0], int | None) for key in keys):
        keys.sort(key=_by_number)
    page = [
        [*map(partial(_key, k=k), shown.keys, key), *(v for cells in rows[key] for v in cells)]
        for key in keys
    ]
    return table(columns, page)


def _by_number(key: tuple[Value, ...]) -> tuple[bool, float]:
    first = key[0]
    return first is None, first if isinstance(first, int | float) else 0


def _key(column: str, key: Value, k: int) -> str:
    if key is None:
        return "none of those tried"
    return _OF_COLUMN.get(column, {}).get(str(key)) or named(key, k)


def value(row: Mapping[str, Value], cell: Cell) -> Value:
    """Return the text of a cell. "–" for missing words."""
    values = [row[name] for name in cell.columns]
    words = _IN_WORDS.get(cell.kind)
    if words is None:
        return rounded(values[0])
    if None in values and cell.kind != "change":
        return _NONE
    return words(*values)


def _flat_table(singles: Mapping[str, Table], k: int) -> PageTable:
    columns = {"": "text"} | {label or "value": "text" for label in singles}
    names = list(dict.fromkeys(name for single in singles.values() for name in single))
    rows = [
        [named(name, k), *(in_words(figure(single, name)) for single in singles.values())]
        for name in names
    ]
    return table(columns, rows)


def figure(single: Table, name: str) -> Value:
    """Return a single figure. None if the table has none of that name."""
    value = single.get(name)
    return value if isinstance(value, str | int | float) else None


def rounded(number: Value) -> Value:
    """Return a number with 4 significant digits, whole ones as they are."""
    return number if not isinstance(number, float) else float(f"{number:.4g}")


def alike(*numbers: float | None) -> list[list[Value] | None]:
    """Return numbers of one row in words with equally many decimals, for columns to sort by."""
    most = max((abs(number) for number in numbers if number is not None), default=0.0)
    decimals = next(places for places, above in enumerate((1000, 100, 10, 0)) if most >= above)
    return [None if n is None else [f"{n:,.{decimals}f}", n] for n in numbers]


def part_of(share: float | None, n: int) -> list[Value]:
    """Return a share of n questions in words, for a column to sort by."""
    if share is None:
        return [_NONE, None]
    return [f"{share:.0%} ({round(share * n):,}\u00a0of\u00a0{n:,})", share]


def in_words(number: Value) -> str:
    """Return a number in words. "–" for None."""
    if number is None:
        return _NONE
    if isinstance(number, str):
        return number
    if float(number).is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1 else f"{number:.3f}"


def span(low: float, high: float) -> str:
    """Return a range in words."""
    return (_DASH if low >= 0 else _TO).join((in_words(low), in_words(high)))


def interval(low: float, high: float) -> str:
    """Return the interval of a share in words."""
    return f"{low:.3f}{_DASH}{high:.3f}"


def signed(*values: float) -> str:
    """Return a difference, or its interval, in words."""
    return _TO.join(
        f"{value:+,.0f}" if abs(value) >= 1000 else f"{round(value, 3) + 0.0:+.3f}"
        for value in values
    )


def change(difference: float | str | None, low: float | None, high: float | None) -> str:
    """Return a difference and its interval, which may stand on the next line. A word stays."""
    if difference is None:
        return _NONE
    if isinstance(difference, str):
        return difference
    return signed(difference) + ("" if low is None or high is None else f" ({signed(low, high)})")


def both(first: int, second: int) -> str:
    """Return two counts in words."""
    return f"{first:,}\u00a0/\u00a0{second:,}"


def p_value(p: float | None) -> str:
    """Return a p in words."""
    if p is None:
        return _NONE
    return "<\u00a00.001" if p < 0.001 else f"{p:.3f}"


_IN_WORDS: dict[str, Callable[..., str]] = {
    "change": change,
    "range": span,
    "interval": interval,
    "signed": signed,
    "both": both,
    "p": p_value,
}


def labels_of(names: Sequence[str], longest: int = 6) -> list[str]:
    """Return the labels of systems in the tables: their names where short, else letters.

    Tables of two systems fill the page. One system alone needs none.
    """
    if len(names) == 1:
        return [""]
    short = len(set(names)) == len(names) and all(len(name) <= longest for name in names)
    return list(names) if short else [chr(ord("A") + i) for i in range(len(names))]
