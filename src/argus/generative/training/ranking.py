"""Prepare learning to rank: search judged questions, and pair right passages with wrong ones.

`rank_questions`: questions and a searcher -> the model's present rankings, split into those to
learn from and to validate with. `rank_task`: the margin loss of LTRGR between a right and a wrong
passage, through the weights of their n-grams, which `key_weights` computes as `evidence` does,
differentiably. `tune` calls both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.types import Query
from argus.errors import InputError
from argus.generative.decode.model import padded
from argus.generative.evidence import UNIGRAM, Matched, Ranked, aggregate
from argus.generative.searcher import BODY, GenerativeSearcher
from argus.generative.settings import QUERY_CEILING, GenerativeTuneConfig, Scoring
from argus.generative.training.examples import (
    Drawn,
    Inputs,
    Pair,
    Source,
    build_examples,
    fingerprint,
    plan,
    seq2seq_task,
)
from argus.generative.vocabulary import GOLD, Vocabulary
from argus.progress import progress
from argus.training.loop import Task

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class ScoredKey:
    """A key as it is scored, for one question.

    marker: of the encoder input that it is scored by (see `KeyView.rescored_by`). written: its
    tokens that are scored. count: occurrences in the corpus. length: of all its tokens. pseudo:
    whether it is a pseudo-query, which has MINDER's bonus. single: a single token, whose weight has
    no exponent.
    """

    marker: str | None
    written: tuple[int, ...]
    count: int
    length: int
    pseudo: bool
    single: bool


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """A passage of a list. keys: its weightiest, each with its weight after repetition.

    score: the sum of their weights, as the search found them.
    """

    right: bool
    keys: tuple[tuple[ScoredKey, float], ...]
    score: float


@dataclass(frozen=True)
class RankList:
    """A model's ranking for a question, best first.

    gold: ids of the passages that answer it. place: of the first of them, from 1. None if none
    is in the list.
    """

    query: Query
    gold: frozenset[str]
    passages: tuple[ListedPassage, ...]
    place: int | None

    @property
    def teaches(self) -> bool:
        """Whether there is a right passage and a wrong one."""
        return self.place is not None and not all(p.right for p in self.passages)


def rank_lists(
    searcher: GenerativeSearcher,
    queries: Sequence[Query],
    gold: Sequence[frozenset[str]],
    *,
    passages: int,
    keys: int,
) -> list[RankList]:
    """Return the list of each question. gold: ids of the passages that answer it.

    passages: in a list at most. keys: of a passage at most.
    """
    lists: list[RankList] = []
    index, scoring = searcher.index, searcher.scoring
    with progress("ranking", len(queries)) as on:
        for begin in range(0, len(queries), size := searcher.batch):
            part = queries[begin : begin + size]
            written = searcher.keys([query.text for query in part])
            for query, right, own in zip(part, gold[begin : begin + size], written, strict=True):
                ranked = aggregate(index, own.keys, own.unigrams, scoring, passages)
                matches = [matched[:keys] for matched in ranked.matched]
                listed = tuple(
                    ListedPassage(
                        index.id_of(document) in right,
                        scored_keys(searcher, ranked, mine),
                        sum(match.weight for match in mine),
                    )
                    for document, mine in zip(ranked.documents.tolist(), matches, strict=True)
                )
                place = next((n for n, passage in enumerate(listed, 1) if passage.right), None)
                lists.append(RankList(query, right, listed, place))
                on(1)
    return lists


def scored_keys(
    searcher: GenerativeSearcher, ranked: Ranked, matched: Sequence[Matched]
) -> tuple[tuple[ScoredKey, float], ...]:
    """Return keys with their coverage weight: 1 - beta * the share of tokens that came before."""
    views = {view.name: view for view in searcher.views}
    before: set[int] = set()
    keys = []
    for match in matched:
        name = ranked.view_of(match)
        types = set(match.tokens)
        factor = 1 - searcher.scoring.repetition_penalty * len(types & before) / len(types)
        before |= types
        single = name == UNIGRAM
        key = ScoredKey(
            marker=BODY if single else views[name].rescored_by,
            written=match.tokens if single else views[name].scored(match.tokens),
            count=match.count,
            length=len(match.tokens),
            pseudo=not single and match.tokens[0] == searcher.model.vocabulary.query_start,
            single=single,
        )
        keys.append((key, factor))
    return tuple(keys)


# An epoch that no training reaches.
VALIDATION = 2**31


@dataclass(frozen=True, slots=True)
class RankExample:
    """One question.

    sources: encoder inputs, one per marker that its keys are scored by. keys: with the number of
    their source. passages: the right and the wrong one of the first pair, then of the second. Each
    as numbers of keys and the part of their weights that repetition leaves. pairs: texts to write.
    """

    sources: tuple[tuple[int, ...], ...]
    keys: tuple[tuple[int, ScoredKey], ...]
    passages: tuple[tuple[tuple[int, float], ...], ...]
    pairs: tuple[Pair, ...]


class RankExamples:
    """Questions that teach to rank. Number, epoch and seed alone decide the draw.

    slots: by question, numbers of its texts in `written`. limit: tokens of an encoder
    input at most.
    """

    def __init__(
        self,
        lists: Sequence[RankList],
        written: Drawn,
        slots: Sequence[Sequence[int]],
        vocabulary: Vocabulary,
        *,
        seed: int,
        limit: int | None,
    ) -> None:
        self.lists, self.written, self.slots = lists, written, slots
        self.vocabulary, self.seed, self.limit = vocabulary, seed, limit

    def __len__(self) -> int:
        return len(self.lists)

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[RankExample]:
        """Return the examples of those numbers in an epoch."""
        return [self.example(epoch, number) for number in numbers]

    def example(self, epoch: int, number: int) -> RankExample:
        """Return one of them: the best right and wrong passage, and one of either at random."""
        listed = self.lists[number]
        rng = np.random.default_rng([self.seed, epoch, number])
        right = [p for p in listed.passages if p.right]
        wrong = [p for p in listed.passages if not p.right]
        drawn = [side[int(rng.integers(len(side)))] for side in (right, wrong)]
        passages = [right[0], wrong[0], *drawn]
        pairs = tuple(self.written.batch(epoch, self.slots[number]))
        text, vocabulary = listed.query.text, self.vocabulary

        def source(marker: str | None) -> list[int]:
            return vocabulary.sources([text], marker, limit=self.limit)[0]

        return rank_example(passages, source, pairs)


def rank_example(
    passages: Sequence[ListedPassage],
    source: Callable[[str | None], Sequence[int]],
    pairs: tuple[Pair, ...],
) -> RankExample:
    """Return the example of some passages. source: encoder input of a marker."""
    keys = list(dict.fromkeys(key for key, _ in chain(*(p.keys for p in passages))))
    markers = list(dict.fromkeys(key.marker for key in keys))
    number_of = {key: n for n, key in enumerate(keys)}
    return RankExample(
        sources=tuple(tuple(source(marker)) for marker in markers),
        keys=tuple((markers.index(key.marker), key) for key in keys),
        passages=tuple(tuple((number_of[key], factor) for key, factor in p.keys) for p in passages),
        pairs=pairs,
    )


@dataclass(frozen=True)
class Taught:
    """Questions that teach to rank. before: the lists of all questions to validate with.

    fingerprint: hash of the sources of the examples, without the lists.
    """

    examples: RankExamples
    validation: list[RankExample]
    before: list[RankList]
    counts: dict[str, Any]
    fingerprint: str


def rank_questions(
    inputs: Inputs, searcher: GenerativeSearcher, config: GenerativeTuneConfig
) -> Taught:
    """Search the questions, and part them into those to learn from and those to validate with.

    A tenth of them, drawn by the hashes of their ids, is validated with. One whose list has no
    right passage, or no wrong one, teaches nothing. Raises InputError if there is nothing to
    learn from, or nothing to validate with.
    """
    examples = build_examples(inputs, searcher.model.vocabulary, config.examples)
    material = examples.train.material
    slots, checking = plan(material, (), config.examples)
    rows = np.concatenate([slots, checking])
    rows = rows[rows[:, 0] == Source.QUESTION]
    questions = {n: question for n, question in enumerate(material.questions) if question.gold}
    ids = [document.id for document in inputs.documents]
    ranked = rank_lists(
        searcher, [Query(question.id, question.text) for question in questions.values()],
        [frozenset(ids[number] for number in question.gold) for question in questions.values()],
        passages=config.passages, keys=config.keys,
    )  # fmt: skip
    lists = dict(zip(questions, ranked, strict=True))
    written = Drawn(rows, material, searcher.model.vocabulary, config.examples, GOLD)
    of_question = {n: np.flatnonzero(rows[:, 3] == n).tolist() for n in questions}

    def those(numbers: Sequence[int]) -> RankExamples:
        return RankExamples(
            [lists[n] for n in numbers], written, [of_question[n] for n in numbers],
            searcher.model.vocabulary, seed=config.training.seed,
            limit=searcher.model.source_tokens,
        )  # fmt: skip

    to_learn = {int(number) for number in slots[:, 3]}
    to_check = questions.keys() - to_learn
    teaching = [n for n, one in lists.items() if one.teaches]
    learn = [n for n in teaching if n not in to_check]
    check = [n for n in teaching if n in to_check]
    counts: dict[str, Any] = {
        "train": len(learn),
        "validation": len(check),
        "out_of_list": sum(one.place is None for one in lists.values()),
        "nothing_wrong": sum(one.place is not None for one in lists.values()) - len(teaching),
        "without_gold": examples.counts["questions_without_gold"],
    }
    if not (learn and check):
        raise InputError(
            f"{len(learn):,} questions to learn from and {len(check):,} to validate with; "
            f"{counts['out_of_list']:,} have no right passage in their list, "
            f"{counts['nothing_wrong']:,} no wrong one, {counts['without_gold']:,} none in the "
            "corpus",
            expected="at least one of either: some hundred questions that the model half answers",
            fix="Check --questions, --qrels and --model; more --passages make longer lists.",
            where="--questions",
        )
    validation = those(check)
    return Taught(
        those(learn), validation.batch(VALIDATION, range(len(check))),
        [lists[n] for n in sorted(to_check)], counts, fingerprint(examples),
    )  # fmt: skip


# Least 1 - P(n|q): below it, a key's weight rises with log P(n|q) alone.
SETTLED = 1e-3
# Odds below it weigh nothing, and have no slope.
_LEAST = 1e-6
_PAIRS = 2


def rank_task(
    start: int, pad: int, scoring: Scoring, n_tokens: int, *, margin: float, rank_weight: float
) -> Task[RankExample]:
    """Return how questions teach. The loss is the mean over questions.

    start: the decoder's first token. n_tokens: of the corpus, borders included.
    """
    writing = seq2seq_task(start, pad, label_smoothing=0.0, dtype="float32")

    def summed_loss(network: Any, batch: Sequence[RankExample], device: str) -> torch.Tensor:
        import torch

        scores = passage_scores(network, batch, start, pad, scoring, n_tokens, device)
        right, wrong = scores.view(len(batch), _PAIRS, 2).unbind(-1)  # (n, pairs)
        loss = rank_weight * torch.relu(margin - right + wrong).sum()
        for example in batch:
            if example.pairs:
                learnt = sum(map(writing.learnt, example.pairs))
                loss = loss + writing.summed_loss(network, example.pairs, device) / learnt
        return loss

    return Task(
        summed_loss=summed_loss,
        read=lambda e: sum(map(len, e.sources)) + sum(len(k.written) for _, k in e.keys),
        learnt=lambda _: 1,
    )


def passage_scores(
    network: Any,
    batch: Sequence[RankExample],
    start: int,
    pad: int,
    scoring: Scoring,
    n_tokens: int,
    device: str,
) -> torch.Tensor:
    """Return the scores of all passages of some examples, in order, as float64."""
    import torch

    keys = [key for example in batch for _, key in example.keys]
    logs = log_probabilities(network, batch, start, pad, device)
    weights = key_weights(logs, keys, scoring, n_tokens)
    parts: list[tuple[int, int, float]] = []  # of the sums: passage, key, and factor
    first = passage = 0
    for example in batch:
        for of_passage in example.passages:
            parts += ((passage, first + number, factor) for number, factor in of_passage)
            passage += 1
        first += len(example.keys)
    rows, columns, factors = torch.tensor(parts, dtype=torch.float64, device=device).view(-1, 3).T
    scores = torch.zeros(passage, dtype=torch.float64, device=device)
    return scores.index_add(0, rows.long(), weights[columns.long()] * factors)


def log_probabilities(
    network: Any, batch: Sequence[RankExample], start: int, pad: int, device: str
) -> torch.Tensor:
    """Return log P(key | its source) for the keys of all examples, in order, as (n,) float64."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    sources = [source for example in batch for source in example.sources]
    first, owners = 0, []
    for example in batch:
        owners += [first + number for number, _ in example.keys]
        first += len(example.sources)
    ids, mask = padded(sources, pad, device)
    hidden = network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
    rows = torch.tensor(owners, device=device)
    labels, there = padded([k.written for e in batch for _, k in e.keys], pad, device)
    begun = torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)
    logits = network(
        encoder_outputs=BaseModelOutput(last_hidden_state=hidden[rows]), attention_mask=mask[rows],
        decoder_input_ids=begun, use_cache=False,
    ).logits.float()  # (keys, longest, V)  # fmt: skip
    logs: torch.Tensor = logits.gather(2, labels[:, :, None])[:, :, 0] - logits.logsumexp(2)
    return (logs.double() * there).sum(1)


def key_weights(
    logs: torch.Tensor, keys: Sequence[ScoredKey], scoring: Scoring, n_tokens: int
) -> torch.Tensor:
    """Return the weight of each key, to the power alpha. See the head of this file. Shape (n,)."""
    import torch

    def column(values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float64, device=logs.device)

    if scoring.query_bonus:
        lifted = (logs + scoring.query_bonus).clamp(max=QUERY_CEILING)
        logs = torch.where(column([k.pseudo for k in keys]) > 0, lifted, logs)
    scale = column([(1 - scoring.length_penalty) ** (k.length - 1) for k in keys])
    logs = logs.clamp(max=0) * scale
    counts = column([k.count for k in keys])
    share = (counts + scoring.smoothing) / (n_tokens + scoring.smoothing)
    unlikely = (-torch.expm1(logs)).clamp(min=SETTLED).log()
    odds = (logs + torch.log1p(-share)) - (share.log() + unlikely)
    exponents = column([1.0 if k.single else scoring.exponent for k in keys])
    weights = odds.clamp(min=_LEAST) ** exponents
    return torch.where(odds > _LEAST, weights, torch.zeros_like(weights))
