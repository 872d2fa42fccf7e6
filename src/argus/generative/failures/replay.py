"""Repeat a generative search to measure its losses: right n-grams that the beam search pruned.

`replay_output`: measured rows, an index and a model -> more columns in these rows, and the pruned
n-grams: the beam search did not write them although they would have weighed much. It also ranks
without titles, pseudo-queries or single tokens. `analyse --replay` calls it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray
from argus.errors import InputError
from argus.generative.evidence import Key, aggregate, key_weights, merged
from argus.generative.failures.diagnosis import FAILED, UNKNOWN, outcome
from argus.generative.failures.measures import SWITCHED_OFF, Measurements
from argus.generative.failures.reading import Output
from argus.generative.index import NgramIndex
from argus.generative.search import identity, open_searcher
from argus.generative.searcher import GenerativeSearcher, KeyView
from argus.generative.settings import Decoding, Mode, NgramSearchConfig, ReplayConfig, Scoring
from argus.llm.weights import model_hash
from argus.progress import progress

Ngram = tuple[int, ...]


def gold_ngrams(index: NgramIndex, documents: Sequence[int], view: KeyView) -> list[Ngram]:
    """Return the n-grams a view's search could write of passages, each once, with prefixes.

    Texts give every n-gram up to the longest that the search writes. Titles and pseudo-queries
    give the whole one with its closing token, if it is not longer. N-grams with a barred token are
    left out. So are the question's own words, which are not written.
    """
    search = view.search
    if search is None:
        return []
    ngrams: dict[Ngram, None] = {}
    prefix, longest = search.prefix, search.longest
    n = len(prefix)
    for document in documents:
        tokens = index.tokens_of(np.array([document]))[1].tolist()
        begin, stop = index.splits(np.array([document]))[0].tolist()
        if search.last is None:
            text = tokens[begin:stop]
            ngrams |= {
                (*prefix, *text[start:end]): None
                for start in range(len(text))
                for end in range(start + 1, min(start + longest, len(text)) + 1)
            }
            continue
        for at in range(len(tokens) - n + 1):
            if tuple(tokens[at : at + n]) != prefix or search.last not in tokens[at + n :]:
                continue
            end = tokens.index(search.last, at + n) + 1
            if 2 <= end - at - n <= longest:  # the closing token alone is nothing
                ngrams[tuple(tokens[at:end])] = None
    return [ngram for ngram in ngrams if search.barred.isdisjoint(ngram[n:])]


# Passages ranked first, where the best positive mostly is. Then all.
_AT_FIRST = (16, 128)


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


# Positives, the first that are given, whose n-grams are looked for: scoring them takes longest.
POSITIVES = 3
# Pruned n-grams of a question in pruned.parquet, the heaviest.
LISTED = 50


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
        ngrams = gold_ngrams(index, known[:POSITIVES], view)
        new = [Key(ngram, 0.0, view.name) for ngram in ngrams if ngram not in tokens]
        if new:
            missing += searcher.rescored(view, [new], sources, places[view.rescored_by])[0]
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

    def rank(some: Sequence[Key], by: Scoring = scoring) -> int | None:
        return best_rank(index, some, written.unigrams, by, known)

    ranks: dict[str, int | None] = {}
    for what in SWITCHED_OFF:
        left = without(index, keys, what)
        by = replace(scoring, unigrams=0) if what == "unigrams" else scoring
        ranks[what] = None if left is None else rank(left, by)
    now = rank(keys)
    unpruned = rank([*keys, *(one.key for one in lost)]) if lost else now
    return Replayed(tuple(lost), now, unpruned, ranks)


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


# One in so many replayed questions was found: modes that hold there, too, explain little.
FOUND_SHARE = 4


def replay_output(
    output: Output,
    measured: Measurements,
    index: Path,
    model: Path,
    config: ReplayConfig,
    device: str | None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Add the columns of a replay to rows, in place. Return its summary and rows of pruned.parquet.

    Questions without a positive in the index are left out. Failed ones are replayed first, and a
    share of those found. Raises InputError if the answers say that another model or index made
    them. Keys of the summary:

    mode, beams: of the search.
    of: questions with positives. questions: of these, those that were replayed.
    same: questions in whose replay the best positive has the rank that it has in the output, of
    `compared`.
    """
    opened, stored = NgramIndex.open(index), output.settings
    search = search_config(stored, model, config)
    if {"index", "model"} <= stored.keys():
        now = identity(opened, model_hash(model), search)
        if other := [name for name in ("model", "index") if stored[name] != now[name]]:
            raise InputError(
                f"these answers were made with another {' and '.join(other)}",
                expected="the model and the index of the search, to make it again",
                fix="Give those, or leave --model out.",
                where=output.file,
            )
    searcher = open_searcher(opened, model, search, device)
    able = [i for i, positives in enumerate(measured.positives) if positives]
    outcomes = {i: outcome(measured.rows[i]) for i in able}
    failed = [i for i in able if outcomes[i] == FAILED]
    hits = [i for i in able if outcomes[i] not in (FAILED, UNKNOWN)]
    most = config.questions
    of_found = min(len(hits), max(most // FOUND_SHARE, most - len(failed)))
    sample = sorted([*failed[: most - of_found], *hits[:of_found]])
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
        "mode": str(search.mode), "beams": search.decoding.beams,
        "questions": len(sample), "of": len(able), "same": same, "compared": compared,
    }  # fmt: skip
    return summary, lost


def search_config(
    settings: Mapping[str, Any], model: Path, config: ReplayConfig
) -> NgramSearchConfig:
    """Return the settings of the search. Those of `config` go before those that it says."""
    try:
        search = NgramSearchConfig(
            model=model,
            mode=config.mode or Mode(settings.get("mode", Mode.SEAL)),
            decoding=Decoding(**settings.get("decoding", {})),
            scoring=Scoring(**settings.get("scoring", {})),
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"settings of the search that cannot be read ({error})",
            expected="answers.jsonl as argus research generative search wrote it",
            fix="Give the DPR file from another folder, and --mode and --beams.",
            where="OUTPUT",
        ) from error
    if config.beams is not None:
        search = replace(search, decoding=replace(search.decoding, beams=config.beams))
    return search
