"""Differentiable scores of passages, and the loss of pairs of them (LTRGR).

A passage's score is that of the search over its keys, equation 3 of docs/ngrams.md, in which
log P(n|q) is the network's present value:

    s(q, d) = sum over n of  factor(n, d) * w(n, q) ** alpha

Factors and keys are those of the list. Weights are equation 2 with one difference: a key that the
network is all but sure of (1 - P below 0.001) gains no more from the denominator of its odds, whose
slope has no bound there. The loss of a question is, for its pairs of a right passage r and a wrong
one w, and for the tokens that it is to write,

    rank_weight * sum over pairs of max(0, margin - s(q, r) + s(q, w))  +  mean of -log P(token)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from argus.generative.settings import Scoring
from argus.generative.training.examples import seq2seq_task
from argus.generative.tuning.lists import RankExample, ScoredKey
from argus.training.loop import Task

if TYPE_CHECKING:
    import torch

SETTLED = 1e-3
"""Least 1 - P(n|q): below it, a key's weight rises with log P(n|q) alone."""
_LEAST = 1e-6
"""Odds below it weigh nothing, and have no slope."""
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
    ids, mask = _padded(sources, pad, device)
    hidden = network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
    rows = torch.tensor(owners, device=device)
    labels, there = _padded([k.written for e in batch for _, k in e.keys], pad, device)
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
        lifted = (logs + scoring.query_bonus).clamp(max=scoring.query_ceiling)
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


def _padded(
    sequences: Sequence[Sequence[int]], pad: int, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sequences as rows (n, longest), and 1 where they are not padding."""
    import torch

    longest = max(map(len, sequences))
    ids = torch.full((len(sequences), longest), pad)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence)
        mask[row, : len(sequence)] = 1
    return ids.to(device), mask.to(device)
