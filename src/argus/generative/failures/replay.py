"""Repeat a search to measure losses of the beam: false pruning, and rankings without some keys."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from argus.data.types import FloatArray
from argus.errors import InputError
from argus.generative.decode.beams import Pool, Search, beam_search
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.decode.rescore import Targets, score_all
from argus.generative.evidence import aggregate
from argus.generative.failures.diagnosis import FAILED, outcome
from argus.generative.failures.measures import SWITCHED_OFF, Row
from argus.generative.failures.measuring import Measurements
from argus.generative.failures.outputs import Output
from argus.generative.index import NgramIndex
from argus.generative.passage_scores import ROUNDING, Key, key_weights, merged
from argus.generative.search import identity, open_searcher
from argus.generative.searcher import BODY, QUERY, TITLE, GenerativeSearcher, KeyView, QuestionKeys
from argus.generative.settings import Decoding, Mode, NgramSearchConfig, ReplayConfig, Scoring
from argus.generative.vocabulary import Vocabulary
from argus.llm.weights import model_hash
from argus.progress import progress

Ngram = tuple[int, ...]
Places = dict[str | None, int]


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
    the view's rules, or with the sums of its beam search where it does not score again. N-grams
    without weight, since a beginning is too improbable, are left out. So short n-grams are scored
    first: to weigh anything, a log-probability has to exceed the share in the corpus of an n-gram
    that occurs once (eq. 2). Whole titles and pseudo-queries are few, and other scorings have no
    such limit.
    """
    scoring, n = searcher.scoring, searcher.index.n_tokens
    reach, least = sys.maxsize, -math.inf
    if view.name == BODY and not scoring.length_penalty:
        reach = 2
        least = math.log((1 + scoring.smoothing) / (n + scoring.smoothing)) - ROUNDING
    scored_keys: list[Key] = []
    low: set[Ngram] = set()
    left = list(ngrams)
    while left:
        now = [ngram for ngram in left if len(ngram) <= reach]
        keys = _scored_at_once(searcher, view, now, sources, places) if now else []
        scored_keys += keys
        low.update(key.tokens for key in keys if key.log_probability < least)
        left = [ngram for ngram in left if len(ngram) > reach and ngram[:reach] not in low]
        reach *= 2
    return scored_keys


def _scored_at_once(
    searcher: GenerativeSearcher,
    view: KeyView,
    ngrams: Sequence[Ngram],
    sources: Sources,
    places: Places,
) -> list[Key]:
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


class Left(NamedTuple):
    """Step and place at which a prefix left the beam.

    at: its length in tokens, from 1. The search's prefix (a title's border) is not counted. rank:
    its place, from 1, among all candidates of that step: the continuations that the index has of
    all live hypotheses, by summed log-probability over the whole vocabulary.
    """

    at: int
    rank: int


class Paths:
    """Follows n-grams through a beam search for one question: an observer of `beam_search`.

    ngrams: without the search's prefix. left: those that have left, and where. written: those that
    the search has written whole.
    """

    def __init__(self, ngrams: Collection[Ngram], search: Search) -> None:
        self.search = search
        self.left: dict[Ngram, Left] = {}
        self.written: set[Ngram] = set()
        self._live = sorted(set(ngrams))  # those that begin alike stand together

    def __call__(self, pool: Pool) -> bool:
        """Take note of a step. Return whether any n-gram goes on."""
        n = pool.written.shape[1] + 1
        candidates = _Candidates(pool, self.search.last)
        live: list[Ngram] = []
        for prefix, group in groupby(self._live, key=lambda ngram: ngram[:n]):
            rank, open_rank = candidates.ranks(prefix)
            among = rank <= 2 * self.search.beams
            for ngram in group:
                if not among or (len(ngram) > n and open_rank > self.search.beams):
                    self.left[ngram] = Left(n, rank)
                elif len(ngram) == n:
                    self.written.add(ngram)
                else:
                    live.append(ngram)
        self._live = live
        return bool(live)


def follow(
    model: Seq2Seq,
    source: Sources,
    index: NgramIndex,
    search: Search,
    ngrams: Collection[Ngram],
) -> Paths:
    """Run a search for one question until it has written or lost each of some n-grams."""
    paths = Paths(ngrams, search)
    longest = max(map(len, ngrams))
    beam_search(model, source, index, replace(search, longest=longest), observer=paths)
    return paths


def kept_by(
    model: Seq2Seq,
    source: Sources,
    index: NgramIndex,
    search: Search,
    ngrams: Collection[Ngram],
    most: int,
) -> dict[Ngram, int]:
    """Return the first beam size that writes each n-gram: 2, 4, ... times the search's, to `most`.

    Those that none writes are left out. One that is larger still may lose an n-gram again: more
    hypotheses that go on are more competitors at the next step.
    """
    least: dict[Ngram, int] = {}
    beams, missing = 2 * search.beams, set(ngrams)
    while missing and beams <= most:
        written = follow(model, source, index, replace(search, beams=beams), missing).written
        least |= dict.fromkeys(written, beams)
        missing -= written
        beams *= 2
    return least


class _Candidates:
    """All that may be chosen at a step for one question. last: the token that ends n-grams."""

    def __init__(self, pool: Pool, last: int | None) -> None:
        rows = np.repeat(np.arange(len(pool.sums)), np.diff(pool.pointers))
        allowed = ~pool.barred[pool.tokens]
        self._rows, self._tokens = rows[allowed], pool.tokens[allowed]
        self._base = pool.sums - pool.normalizers
        self._scores = self._base[self._rows] + pool.logits[self._rows, self._tokens]
        self._open = self._tokens != last if last is not None else np.True_
        self._pool = pool

    def ranks(self, prefix: Ngram) -> tuple[int, int]:
        """Return the rank of a candidate among all, and among those that do not end, both from 1.

        Equal sums go by row, then by token, as in `best_continuations`.
        """
        pool, token = self._pool, prefix[-1]
        before = np.array(prefix[:-1], np.int64)
        (row,) = np.flatnonzero((pool.written == before).all(axis=1)).tolist()
        mine = self._base[row] + pool.logits[row, token]
        better = self._scores > mine
        for at in np.flatnonzero(self._scores == mine):
            better[at] = (self._rows[at], self._tokens[at]) < (row, token)
        return int(better.sum()) + 1, int((better & self._open).sum()) + 1


_VIEWS = {TITLE: "title", QUERY: "pseudo-query"}


@dataclass(frozen=True, slots=True)
class Pruned:
    """An n-gram of a positive that the beam search did not write, and its weight."""

    key: Key
    weight: float


@dataclass(frozen=True, slots=True)
class Lost:
    """A pruned n-gram that was followed.

    text: without markers (border, ` @@`, ` ||`), stripped. view: "body", "title" or "query". at,
    rank: the token, from 1, at which its prefix left the beam, and its place there (see `Left`).
    None if the search wrote it this time, which takes a device that rounds differently from run
    to run. kept_by: the least beam size tried that writes it. None if none does.
    """

    text: str
    view: str
    weight: float
    at: int | None
    rank: int | None
    kept_by: int | None

    @property
    def label(self) -> str:
        """The text, with where it is from unless from a body: `trace (title)`."""
        return f"{self.text} ({_VIEWS[self.view]})" if self.view in _VIEWS else self.text

    def row(self) -> dict[str, Any]:
        """Return it as a row of a table."""
        return {
            "ngram": self.text, "view": self.view, "weight": self.weight,
            "left_at": self.at, "rank": self.rank, "kept_by": self.kept_by,
        }  # fmt: skip


def followed(
    searcher: GenerativeSearcher,
    pruned: Sequence[Pruned],
    sources: Sources,
    places: Places,
    most_beams: int,
) -> tuple[Lost, ...]:
    """Return the paths of pruned n-grams, in their order.

    sources, places: of one question, as `GenerativeSearcher.encode` gives them. One search per view
    follows all its n-grams, and one per view and beam size those that are not written yet. These
    are plain ones, whatever cure the search has: an n-gram that a cure loses has left a plain beam.
    """
    fates: dict[Key, tuple[Left | None, int | None]] = {}
    for view in searcher.views:
        mine = [one.key for one in pruned if one.key.view == view.name]
        if view.search is None or not mine:
            continue
        ngrams = [key.tokens[len(view.search.prefix) :] for key in mine]
        at = np.s_[places[view.name] : places[view.name] + 1]
        source = Sources(sources.hidden[at], sources.mask[at])
        search = (searcher.model, source, searcher.index, view.search.plain, ngrams)
        left, beams = follow(*search).left, kept_by(*search, most_beams)
        fates |= {
            key: (left.get(ngram), beams.get(ngram))
            for key, ngram in zip(mine, ngrams, strict=True)
        }
    texts = _texts(searcher.index.vocabulary, [one.key.tokens for one in pruned])
    lost = []
    for one, text in zip(pruned, texts, strict=True):
        left_at, least = fates[one.key]
        step, rank = left_at or (None, None)
        lost.append(Lost(text, one.key.view, one.weight, step, rank, least))
    return tuple(lost)


def _texts(vocabulary: Vocabulary, ngrams: Sequence[Ngram]) -> list[str]:
    """Return n-grams as text, without markers at their ends. One of markers alone stays."""
    markers = {vocabulary.border, vocabulary.title_end, vocabulary.query_start}
    bare = []
    for ngram in ngrams:
        plain = [at for at, token in enumerate(ngram) if token not in markers]
        bare.append(ngram[plain[0] : plain[-1] + 1] if plain else ngram)
    return [text.strip() for text in vocabulary.decode_all(bare)]


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
FOLLOWED = 50
"""Pruned n-grams, the heaviest, that are followed: a sixth to a third of a replay's time."""


@dataclass(frozen=True)
class Gold:
    """The n-grams of positives that would weigh more than 0.

    pruned: those that were not written, the heaviest first. written, written_weight: how many were,
    and their total weight.
    """

    pruned: tuple[Pruned, ...] = ()
    written: int = 0
    written_weight: float = 0.0

    @property
    def share(self) -> float | None:
        """The share of them that was pruned. None if none would weigh anything."""
        n = len(self.pruned) + self.written
        return len(self.pruned) / n if n else None

    @property
    def weight_share(self) -> float | None:
        """The share of their weight that was pruned."""
        lost = sum(one.weight for one in self.pruned)
        whole = lost + self.written_weight
        return lost / whole if whole else None


@dataclass(frozen=True)
class Replayed:
    """Figures of a question's replay. Empty without words or a positive in the index.

    positives: numbers of the passages, each once. Empty where the index holds none. gold: None
    if nothing was replayed. lost: the first `FOLLOWED` of them, and where
    they left. now, unpruned: ranks of the best positive. without: the same by the view switched
    off.
    """

    positives: tuple[int, ...]
    gold: Gold | None = None
    lost: tuple[Lost, ...] = ()
    now: int | None = None
    unpruned: int | None = None
    without: dict[str, int | None] = field(default_factory=dict)

    @property
    def pruned(self) -> tuple[Pruned, ...] | None:
        """The pruned n-grams, the heaviest first. None if nothing was replayed."""
        return None if self.gold is None else self.gold.pruned

    def row(self) -> Row:
        """Return the columns of a replay (docs/autopsy.md): of the n-grams, the heaviest's."""
        first = self.lost[0] if self.lost else None
        return {
            "pruned": None if self.pruned is None else len(self.pruned),
            "pruned_ngram": first.label if first else None,
            "pruned_at": first.at if first else None,
            "pruned_rank": first.rank if first else None,
            "pruned_kept_by": first.kept_by if first else None,
            "pruned_weight": first.weight if first else None,
            "rank_now": self.now,
            "rank_unpruned": self.unpruned,
            "rank_without_titles": self.without.get("titles"),
            "rank_without_queries": self.without.get("queries"),
            "rank_without_unigrams": self.without.get("unigrams"),
        }


class Replay:
    """Replays searches. most_beams: the largest beam tried for a pruned n-gram, doubling.

    That is fewer rows than the search's own batch of 20 questions with 15 beams.
    """

    def __init__(self, searcher: GenerativeSearcher, *, most_beams: int = 240) -> None:
        self.searcher, self.most_beams = searcher, most_beams

    def replay(self, question: str, positives: Sequence[int]) -> Replayed:
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
            return Replayed(known)
        (written,) = self.searcher.keys([question])
        sources, places = self.searcher.encode([question])
        gold = self._gold(written, known[:POSITIVES], sources, places)
        pruned = gold.pruned
        lost = followed(self.searcher, pruned[:FOLLOWED], sources, places, self.most_beams)
        index, scoring = self.searcher.index, self.searcher.scoring
        now = best_rank(index, written.keys, written.unigrams, scoring, known)
        more = [*written.keys, *(p.key for p in pruned)]
        return Replayed(
            known, gold, lost, now,
            best_rank(index, more, written.unigrams, scoring, known) if pruned else now,
            {
                what: rank_without(index, written.keys, written.unigrams, scoring, known, what)
                for what in SWITCHED_OFF
            },
        )  # fmt: skip

    def _gold(
        self, written: QuestionKeys, documents: Sequence[int], sources: Sources, places: Places
    ) -> Gold:
        """Return the n-grams of passages that would weigh something, written or not."""
        index, searcher = self.searcher.index, self.searcher
        have = merged(written.keys)
        pseudo_queries_of: set[Ngram] = set()
        missing: list[Key] = []
        known = {key.tokens for key in have}
        for view in searcher.views:
            ngrams = gold_ngrams(
                index,
                documents,
                view,
                partial=view.name == TITLE and searcher.decoding.partial_titles,
            )
            pseudo_queries_of.update(ngrams)
            new = [ngram for ngram in ngrams if ngram not in known]
            missing += scored(searcher, view, new, sources, places) if new else []
        keys = merged(have, missing)  # together: without frequencies, weights hang on the others
        if not keys:
            return Gold()
        counts = index.counts([key.tokens for key in keys])
        start = index.vocabulary.query_start
        weights = key_weights(keys, counts, index.n_tokens, start, searcher.scoring).tolist()
        weighed = [(key, w) for key, w in zip(keys, weights, strict=True) if w > 0]
        lost = [one for one in weighed if one[0].tokens not in known]
        lost.sort(key=lambda one: (-one[1], one[0].tokens))
        both = known & pseudo_queries_of
        there = [w for key, w in weighed if key.tokens in both]
        return Gold(tuple(Pruned(key, w) for key, w in lost), len(there), sum(there))


S = TypeVar("S", Decoding, Scoring)

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
    from argus.generative.failures.replay import Replay

    opened = NgramIndex.open(index)
    search = search_config(output.settings, model, config)
    _check_origin(output, opened, index, model, search)
    replayer = Replay(open_searcher(opened, model, search, device))
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
            replayed = replayer.replay(row["question"], measured.positives[i])
            measured.rows[i] = {**row, **replayed.row()}
            compared += row["first_correct"] is not None
            same += replayed.now == row["first_correct"] is not None
            lost += [{"query_id": row["query_id"], **ngram.row()} for ngram in replayed.lost]
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
