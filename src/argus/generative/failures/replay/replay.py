"""Repeat the search for one question, and look for the n-grams of its positives (thesis, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from argus.errors import InputError
from argus.generative.decode.model import Sources
from argus.generative.failures.measures.columns import SWITCHED_OFF, ReplayFigures
from argus.generative.failures.replay.gold import Ngram, Places, gold_ngrams, keeps_partial, scored
from argus.generative.failures.replay.lost import Lost, Pruned, followed
from argus.generative.failures.replay.ranks import best_rank, rank_without
from argus.generative.failures.summary import LostNgram
from argus.generative.keys import Key, merged
from argus.generative.scoring import key_weights
from argus.generative.searcher import GenerativeSearcher, QuestionKeys

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

    def row(self) -> ReplayFigures:
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

    def lost_rows(self) -> list[LostNgram]:
        """Return a row per n-gram that was followed, the heaviest first."""
        return [one.row() for one in self.lost]


class Replay:
    """Replays searches. most_beams: the largest beam tried for a pruned n-gram, doubling.

    That is fewer rows than the search's own batch of 20 questions with 15 beams.
    """

    def __init__(self, searcher: GenerativeSearcher, *, most_beams: int = 240) -> None:
        if most_beams < 1:
            raise InputError(
                f"{most_beams} beams", expected="at least 1", fix="Leave it out for the default.",
                where="most_beams",
            )  # fmt: skip
        self.searcher, self.most_beams = searcher, most_beams

    def replay(self, question: str, positives: Sequence[int]) -> Replayed:
        """Search for a question again.

        positives: numbers of the passages that the index holds, in the order of the file. Others
        have no number, and take no place among the first `POSITIVES`. A pruned n-gram is
        one of theirs that would weigh more than 0 and is no key of the search, of any view. Every
        proper extension of a prefix that left is one by itself. With them the positive may also
        rank lower: other passages hold them, too, they cover weaker keys, and as many more single
        tokens become keys. Only the first three count, in any order. Raises
        InputError for a number that the index does not have.
        """
        known = tuple(dict.fromkeys(int(p) for p in positives))
        self._check(known)
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

    def _check(self, positives: Sequence[int]) -> None:
        n = self.searcher.index.n_documents
        wrong = next((p for p in positives if not 0 <= p < n), None)
        if wrong is not None:
            raise InputError(
                f"passage number {wrong}",
                expected=f"0 to {n - 1}, the numbers of the index's passages",
                fix="Look the id up in the index, and leave out what it does not have.",
                where="positives",
            )

    def _gold(
        self, written: QuestionKeys, documents: Sequence[int], sources: Sources, places: Places
    ) -> Gold:
        """Return the n-grams of passages that would weigh something, written or not."""
        index, searcher = self.searcher.index, self.searcher
        have = merged(written.keys)
        of_documents: set[Ngram] = set()
        missing: list[Key] = []
        known = {key.tokens for key in have}
        for view in searcher.views:
            ngrams = gold_ngrams(index, documents, view, partial=keeps_partial(searcher, view))
            of_documents.update(ngrams)
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
        both = known & of_documents
        there = [w for key, w in weighed if key.tokens in both]
        return Gold(tuple(Pruned(key, w) for key, w in lost), len(there), sum(there))
