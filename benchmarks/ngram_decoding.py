"""What the constraint costs while decoding: 20 questions, 15 beams, 10 tokens, 10M-token corpus.

A BART with random weights (d_model 256, 3 + 3 layers, 50,265 tokens), the model of the reference's
measurement. own: this project's beam search, the index's work timed inside it. processor:
`generate()` of transformers with `CorpusConstraint` and without, three runs in turn; its share is
timed inside the processor. mask: 300 prefixes through the processor, against plain Python over
sorted suffixes in lists.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from argus.generative.decode import CorpusConstraint, Seq2Seq
from argus.generative.decode.beams import Search, Timings, beam_search
from argus.generative.index import NgramIndex
from benchmarks import ngram_corpus
from benchmarks.ngram_build import plain_index, random_ngrams
from tests.support.plain_ngrams import SortedSuffixes

QUESTIONS, BEAMS, TOKENS, RUNS = 20, 15, 10, 3
# So many times as fast as plain Python the mask has to be.
MASK_BAR = 8


def run() -> dict[str, Any]:
    import torch

    index = ngram_corpus.index()
    model = _random_bart(index)
    questions = _questions(index)
    with torch.inference_mode():
        return {
            "corpus_tokens": index.n_tokens,
            "own": _own(model, index, questions),
            "processor": _processor(model, index, questions),
            "mask": _mask(index),
        }


def _own(model: Seq2Seq, index: NgramIndex, questions: list[str]) -> dict[str, Any]:
    sources = model.encode(model.vocabulary.sources(questions, "body"))
    search = Search(TOKENS, BEAMS, barred=frozenset({index.border}))
    timed = []
    for _ in range(RUNS + 1):  # the first compiles
        timings = Timings()
        beam_search(model, sources, index, search, timings)
        timed.append(timings)
    best = min(timed[1:], key=lambda t: t.total)
    return {
        "seconds": round(best.total, 3),
        "constraint_seconds": round(best.constraint, 4),
        "constraint_share": round(median(t.constraint / t.total for t in timed[1:]), 4),
        "bar": 0.03,
    }


class _Timed(CorpusConstraint):
    seconds = 0.0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        begun = time.perf_counter()
        try:
            return super().__call__(input_ids, scores)
        finally:
            self.seconds += time.perf_counter() - begun


def _processor(model: Seq2Seq, index: NgramIndex, questions: list[str]) -> dict[str, Any]:
    import torch

    inputs = model.vocabulary.sources(questions, "body")
    longest = max(map(len, inputs))
    pad = model.vocabulary.pad
    assert pad is not None
    ids = torch.tensor([i + [pad] * (longest - len(i)) for i in inputs])
    free, bound, shares = [], [], []
    for _ in range(RUNS + 1):
        for timed, processors in ((free, []), (bound, [_Timed(index, pad)])):
            begun = time.perf_counter()
            model.network.generate(
                ids, attention_mask=(ids != pad).long(), num_beams=BEAMS, do_sample=False,
                num_return_sequences=BEAMS, max_new_tokens=TOKENS, logits_processor=processors,
            )  # fmt: skip
            timed.append(time.perf_counter() - begun)
            if processors:
                shares.append(processors[0].seconds / timed[-1])
    return {
        "share": round(median(shares[1:]), 4),
        "with_to_without": round(median(bound[1:]) / median(free[1:]), 3),
        "bar": 0.03,
    }


def _mask(index: NgramIndex) -> dict[str, Any]:
    """Mask the tokens that may not follow 300 prefixes of three, and the same in plain Python."""
    import torch

    plain, rng = plain_index(index), np.random.default_rng(0)
    prefixes = [ngram[:3] for ngram in random_ngrams(index, rng, 4, QUESTIONS * BEAMS)]
    scores = torch.randn(
        len(prefixes), index.vocabulary_size, generator=torch.Generator().manual_seed(0)
    )
    ids = torch.tensor([[index.border, *prefix] for prefix in prefixes])
    constraint = CorpusConstraint(index, 1)
    own = []
    for _ in range(RUNS + 1):  # the first compiles
        fresh = scores.clone()
        begun = time.perf_counter()
        masked = constraint(ids, fresh)
        own.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    expected = _plain_mask(plain, prefixes, scores.numpy())
    seconds = time.perf_counter() - begun
    if not np.array_equal(expected, masked.numpy()):
        raise ValueError("the plain mask and the processor's differ")
    return {
        "beams": len(prefixes),
        "plain_to_own": round(seconds / min(own[1:]), 1),
        "bar": MASK_BAR,
        "same": True,
    }


def _plain_mask(plain: SortedSuffixes, prefixes: list[list[int]], scores: Any) -> Any:
    """Return the scores of what follows each prefix, all others minus infinity."""
    masked = np.full_like(scores, -np.inf)
    for row, prefix in enumerate(prefixes):
        for token in plain.continuations(prefix):
            masked[row, token] = scores[row, token]
    return masked


def _questions(index: NgramIndex) -> list[str]:
    """Return the first words of passages at random."""
    rng = np.random.default_rng(1)
    documents = rng.choice(index.n_documents, QUESTIONS, replace=False)
    return [" ".join(index.title_and_text(int(d))[1].split()[:9]) for d in documents]


def _random_bart(index: NgramIndex) -> Seq2Seq:
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    vocabulary = index.vocabulary
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=vocabulary.size, d_model=256, encoder_layers=3, decoder_layers=3,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
        decoder_ffn_dim=1024, bos_token_id=0, pad_token_id=vocabulary.pad,
        eos_token_id=vocabulary.border, decoder_start_token_id=vocabulary.border,
        forced_eos_token_id=None, init_std=0.1,
    )  # fmt: skip
    network = BartForConditionalGeneration(config).eval()
    return Seq2Seq(network, vocabulary, "cpu", "random")
