"""Repeat a search to measure losses of the beam: false pruning, and rankings without some keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from argus.data.types import FloatArray
from argus.errors import InputError
from argus.generative.decode.beams import Search
from argus.generative.decode.model import Sources
from argus.generative.decode.rescore import Targets, score_all
from argus.generative.evidence import aggregate
from argus.generative.failures.diagnosis import FAILED, outcome
from argus.generative.failures.measures import SWITCHED_OFF, Row
from argus.generative.failures.measuring import Measurements
from argus.generative.failures.outputs import Output
from argus.generative.index import NgramIndex
from argus.generative.passage_scores import Key, key_weights, merged
from argus.generative.search import identity, open_searcher
from argus.generative.searcher import TITLE, GenerativeSearcher, KeyView
from argus.generative.settings import Decoding, Mode, NgramSearchConfig, ReplayConfig, Scoring
from argus.llm.weights import model_hash
from argus.progress import progress

Ngram = tuple[int, ...]
Places = dict[str | None, int]
S = TypeVar("S", Decoding, Scoring)


def gold_ngrams(
    index: NgramIndex, documents: Sequence[int], view: KeyView, *, partial: bool = False
) -> list[Ngram]:
    """Return the n-grams a view's search could write of passages, each once, with prefixes.

    Texts give every n-gram up to the longest that the search writes. Titles and pseudo-queries
    give the whole one with its closing token, if it is not longer. With `partial` they give all
    beginnings. N-grams with a barred token are left out. So are the question's own words, which
    are not written.
    """
    search = view.search
    if search is None:
        return []
    ngrams: dict[Ngram, None] = {}
    n = len(search.prefix)
    for document in documents:
        tokens = index.tokens_of(np.array([document]))[1].tolist()
        if search.last is None:
            begin, end = index.splits(np.array([document]))[0].tolist()
            of_document = _windows(tokens[begin:end], search)
        else:
            of_document = _closed(tokens, search, partial)
        allowed = (ngram for ngram in of_document if search.barred.isdisjoint(ngram[n:]))
        ngrams.update(dict.fromkeys(allowed))
    return list(ngrams)


def _windows(text: Sequence[int], search: Search) -> Iterator[Ngram]:
    for start in range(len(text)):
        for end in range(start + 1, min(start + search.longest, len(text)) + 1):
            yield (*search.prefix, *text[start:end])


def _closed(tokens: Sequence[int], search: Search, partial: bool) -> Iterator[Ngram]:
    """Yield beginnings after the prefix up to the closing token. That token alone is nothing."""
    n, prefix = len(search.prefix), list(search.prefix)
    for at in range(len(tokens) - n + 1):
        if tokens[at : at + n] != prefix or search.last not in tokens[at + n :]:
            continue
        end = tokens.index(search.last, at + n) + 1
        for stop in range(at + n + 2, min(end, at + n + search.longest) + 1):
            if partial or stop == end:
                yield tuple(tokens[at:stop])


def scored(
    searcher: GenerativeSearcher,
    view: KeyView,
    ngrams: Sequence[Ngram],
    sources: Sources,
    places: Places,
) -> list[Key]:
    """Return n-grams as keys with the scores that the search would give them.

    sources, places: of one question, as `GenerativeSearcher.encode` gives them. Teacher-forced by
    the view's rules, or with the sums of its beam search where it does not score again.
    """
    if searcher.decoding.rescore:
        keys = [Key(ngram, 0.0, view.name) for ngram in ngrams]
        return searcher.rescored(view, [keys], sources, places[view.rescored_by])[0]
    assert view.search is not None
    opening, n = view.search.opening, len(view.search.prefix)
    paths = {ngram: (*opening, *ngram[n:]) for ngram in ngrams}
    targets = Targets(places[view.name], frozenset({opening, *paths.values()}))
    (logs,) = score_all(searcher.model, sources, [targets])
    before = logs.get(opening, 0.0)
    return [Key(n, min(0.0, logs[path] - before), view.name) for n, path in paths.items()]


_AT_FIRST = (16, 128)
"""Passages ranked first, where the best positive mostly is. Then all."""


def best_rank(
    index: NgramIndex,
    keys: Sequence[Key],
    unigrams: FloatArray,
    scoring: Scoring,
    positives: Collection[int],
) -> int | None:
    """Return the best rank of several passages, from 1, among all that the keys rank.

    None if none is there. The ranking is that of the search. A longer one begins as a shorter
    one does, so short ones come first: the n-grams of each passage take most of the time.
    """
    for k in (*(n for n in _AT_FIRST if n < scoring.full_documents), scoring.full_documents):
        documents = aggregate(index, keys, unigrams, scoring, k).documents
        places = np.flatnonzero(np.isin(documents, list(positives)))
        if len(places):
            return int(places[0]) + 1
        if len(documents) < k:
            break
    return None


def without(index: NgramIndex, keys: Sequence[Key], what: str) -> list[Key] | None:
    """Return the keys but "titles", "queries" or "unigrams". None if the index has none.

    As in an output file, an n-gram is a title when it begins with the border, a pseudo-query when
    it begins with ` ||`. A unigram is another of one token, a closing ` @@` not counted.
    """
    v = index.vocabulary
    if what == "unigrams":
        end = v.title_end
        return [k for k in keys if len(k.tokens) > 1 and (len(k.tokens), k.tokens[1]) != (2, end)]
    there, opening = (
        (index.titles, v.border)
        if what == "titles"
        else (index.count([v.query_start]) > 0, v.query_start)
    )
    return [key for key in keys if key.tokens[0] != opening] if there else None


def rank_without(
    index: NgramIndex,
    keys: Sequence[Key],
    unigrams: FloatArray,
    scoring: Scoring,
    positives: Collection[int],
    what: str,
) -> int | None:
    """Return `best_rank` without some keys (see `without`). None, too, where the index has none.

    Without unigrams, single tokens do not count at free places either.
    """
    left = without(index, keys, what)
    if left is None:
        return None
    if what == "unigrams":
        scoring = replace(scoring, unigrams=0)
    return best_rank(index, left, unigrams, scoring, positives)


POSITIVES = 3
"""Positives, the first that are given, whose n-grams are looked for: scoring them takes longest."""
LISTED = 50
"""Pruned n-grams of a question in pruned.parquet, the heaviest."""


@dataclass(frozen=True)
class Pruned:
    """An n-gram of a positive that the beam search did not write, and its weight."""

    key: Key
    weight: float


@dataclass(frozen=True)
class Replayed:
    """Figures of a question's replay. pruned: None without words or a positive in the index.

    pruned: the heaviest first. now, unpruned: ranks of the best positive. without: the same by the
    view switched off.
    """

    pruned: tuple[Pruned, ...] | None = None
    now: int | None = None
    unpruned: int | None = None
    without: dict[str, int | None] = field(default_factory=dict)


def replay(searcher: GenerativeSearcher, question: str, positives: Sequence[int]) -> Replayed:
    """Search for a question again.

    positives: numbers of the passages that the index holds, in the order of the file. Others
    have no number, and take no place among the first `POSITIVES`. A pruned n-gram is
    one of theirs that would weigh more than 0 and is no key of the search, of any view. Every
    proper extension of a prefix that left is one by itself. With them the positive may also
    rank lower: other passages hold them, too, they cover weaker keys, and as many more single
    tokens become keys. Only the first three count, in any order.
    """
    known = tuple(dict.fromkeys(int(p) for p in positives))
    if not known or not question.strip():
        return Replayed()
    (written,) = searcher.keys([question])
    sources, places = searcher.encode([question])
    index, scoring, keys = searcher.index, searcher.scoring, written.keys
    have, missing = merged(keys), list[Key]()
    tokens = {key.tokens for key in have}
    for view in searcher.views:
        partial = view.name == TITLE and searcher.decoding.partial_titles
        ngrams = gold_ngrams(index, known[:POSITIVES], view, partial=partial)
        new = [ngram for ngram in ngrams if ngram not in tokens]
        missing += scored(searcher, view, new, sources, places) if new else []
    every = merged(have, missing)  # together: without frequencies, weights hang on the others
    lost: list[Pruned] = []
    if every:
        counts = index.counts([key.tokens for key in every])
        start = index.vocabulary.query_start
        weights = key_weights(every, counts, index.n_tokens, start, scoring).tolist()
        lost = [
            Pruned(key, weight)
            for key, weight in zip(every, weights, strict=True)
            if weight > 0 and key.tokens not in tokens
        ]
        lost.sort(key=lambda one: (-one.weight, one.key.tokens))
    now = best_rank(index, keys, written.unigrams, scoring, known)
    more = [*keys, *(one.key for one in lost)]
    return Replayed(
        tuple(lost), now,
        best_rank(index, more, written.unigrams, scoring, known) if lost else now,
        {
            what: rank_without(index, keys, written.unigrams, scoring, known, what)
            for what in SWITCHED_OFF
        },
    )  # fmt: skip


def listed(searcher: GenerativeSearcher, pruned: Sequence[Pruned]) -> list[dict[str, Any]]:
    """Return the heaviest pruned n-grams as rows. Texts are without markers at their ends."""
    v = searcher.index.vocabulary
    markers, bare = {v.border, v.title_end, v.query_start}, []
    for one in pruned[:LISTED]:
        plain = [at for at, token in enumerate(one.key.tokens) if token not in markers]
        bare.append(one.key.tokens[plain[0] : plain[-1] + 1] if plain else one.key.tokens)
    return [
        {"ngram": text.strip(), "view": one.key.view, "weight": one.weight}
        for one, text in zip(pruned, v.decode_all(bare), strict=False)
    ]


FOUND_SHARE = 4
"""One in so many replayed questions was found: modes that hold there, too, explain little."""


def replay_output(
    output: Output,
    measured: Measurements,
    index: Path,
    model: Path,
    config: ReplayConfig,
    device: str | None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Add the columns of a replay to rows, in place. Return its summary and rows of pruned.parquet.

    Questions without a positive in the index are left out. Raises InputError if the answers say
    that another model or index made them. Keys of the summary:

    mode, beams: of the search. as_searched: whether the replay used the settings in the answers.
    of: questions with positives. questions: of these, those that were replayed.
    same: questions in whose replay the best positive has the rank that it has in the output, of
    `compared`.
    """
    opened = NgramIndex.open(index)
    search = search_config(output.settings, model, config)
    _check_origin(output, opened, index, model, search)
    searcher = open_searcher(opened, model, search, device)
    able = [i for i, positives in enumerate(measured.positives) if positives]
    sample = _sample(measured.rows, able, config.questions)
    beams = search.decoding.beams
    decoding = output.settings.get("decoding")
    stored = decoding.get("beams") if isinstance(decoding, dict) else None
    as_searched = bool(output.settings) and config.beams in (None, stored)
    as_searched = as_searched and config.mode in (None, output.settings.get("mode"))
    same = compared = 0
    lost: list[dict[str, Any]] = []
    with progress(f"replaying {output.name}", len(sample)) as advance:
        for i in sample:
            row = measured.rows[i]
            replayed = replay(searcher, row["question"], measured.positives[i])
            ngrams = listed(searcher, replayed.pruned or ())
            measured.rows[i] = row | {
                "pruned": None if replayed.pruned is None else len(replayed.pruned),
                "pruned_ngram": ngrams[0]["ngram"] if ngrams else None,
                "pruned_weight": ngrams[0]["weight"] if ngrams else None,
                "rank_now": replayed.now,
                "rank_unpruned": replayed.unpruned,
                **{f"rank_without_{what}": replayed.without.get(what) for what in SWITCHED_OFF},
            }
            compared += row["first_correct"] is not None
            same += replayed.now == row["first_correct"] is not None
            lost += [{"query_id": row["query_id"], **ngram} for ngram in ngrams]
            advance(1)
    summary = {
        "mode": str(search.mode), "beams": beams, "as_searched": as_searched,
        "questions": len(sample), "of": len(able), "same": same, "compared": compared,
    }  # fmt: skip
    return summary, lost


def _sample(rows: Sequence[Row], able: Sequence[int], most: int) -> list[int]:
    """Return which questions are replayed: failed ones first, but a share of those found."""
    judged = [i for i in able if rows[i]["hit_k"] is not None]
    failed = [i for i in judged if outcome(rows[i]) == FAILED]
    hits = [i for i in judged if outcome(rows[i]) != FAILED]
    of_found = min(len(hits), max(most // FOUND_SHARE, most - len(failed)))
    return sorted([*failed[: most - of_found], *hits[:of_found]])


def _check_origin(
    output: Output, index: NgramIndex, home: Path, model: Path, config: NgramSearchConfig
) -> None:
    stored = output.settings
    if not {"index", "model"} <= stored.keys():
        return
    now = identity(index, home, model_hash(model), config)
    other = [name for name in ("model", "index") if stored[name] != now[name]]
    if other:
        raise InputError(
            f"these answers were made with another {' and '.join(other)}",
            expected="the model and the index of the search, to make it again",
            fix="Give those, or leave --model out.",
            where=output.file,
        )


def search_config(
    settings: Mapping[str, object], model: Path, config: ReplayConfig
) -> NgramSearchConfig:
    """Return the settings of the search. Those of `config` go before those that it says."""
    try:
        decoding = _known(Decoding, settings.get("decoding"))
        mode = config.mode or Mode(str(settings.get("mode", Mode.SEAL)))
        scoring = _known(Scoring, settings.get("scoring"))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"settings of the search that cannot be read ({error})",
            expected="answers.jsonl as argus research generative search wrote it",
            fix="Give the DPR file from another folder, and --mode and --beams.",
            where="OUTPUT",
        ) from error
    if config.beams is not None:
        decoding = replace(decoding, beams=config.beams)
    return NgramSearchConfig(model=model, mode=mode, decoding=decoding, scoring=scoring)


def _known(kind: type[S], values: object) -> S:
    """Return settings of a kind from plain values, unknown names left out."""
    plain = values if isinstance(values, dict) else {}
    return kind(**{f.name: plain[f.name] for f in fields(kind) if f.name in plain})
