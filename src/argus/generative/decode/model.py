"""Run any sequence-to-sequence model of `transformers` token by token, and score given n-grams.

`Seq2Seq.open`: a folder -> the model on a device. `encode`: token sequences -> `Sources`. `begin`:
sources -> a `Decoder`, whose `advance` gives the logits of the next token. `score_all`: encoded
questions, each with its n-grams -> log P(n-gram | question), without search (teacher forcing).
N-grams of one question share beginnings, above all those of a beam search, which keeps every
partial hypothesis. So they are read as a tree, level by level with the decoder's cache, and each
beginning is run once. Training begins from `load_network`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.types import IntArray
from argus.devices import check_device
from argus.errors import InputError
from argus.generative.vocabulary import Vocabulary, open_vocabulary

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Sources:
    """Encoder inputs, encoded: hidden states (n, length, d), and which places are no padding."""

    hidden: torch.Tensor
    mask: torch.Tensor

    def take(self, rows: torch.Tensor) -> Sources:
        """Return some of them, in the order asked for."""
        return Sources(self.hidden[rows], self.mask[rows])


def padded(
    sequences: Sequence[Sequence[int]], pad: int, device: str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sequences as rows (n, longest), and 1 where they are not padding."""
    import torch

    ids = torch.full((len(sequences), max(map(len, sequences))), pad)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor([*sequence])
        mask[row, : len(sequence)] = 1
    return ids.to(device), mask.to(device)


class Seq2Seq:
    """A seq2seq language model on a device, without dropout. Its vocabulary is the index's.

    name: its name in reports. source_tokens, target_tokens: the longest input of encoder and
    decoder. None for no limit. Computes in float32: half precision rounds differently in batches of
    different sizes, and scores would depend on the batch. Raises InputError if the
    model has fewer embeddings than the vocabulary tokens, or does not say how its decoder begins.
    """

    def __init__(self, network: Any, vocabulary: Vocabulary, device: str, name: str) -> None:
        rows = int(network.get_input_embeddings().num_embeddings)
        if rows < vocabulary.size:
            raise InputError(
                f"the model has {rows:,} embeddings, the vocabulary {vocabulary.size:,} tokens, "
                f"{vocabulary.added} of them markers that were added",
                expected="a row for every token",
                fix="Train it for the index: argus research generative train --model DIR gives the "
                "markers theirs.",
                where=name,
            )
        self.network = network.float().to(device).eval()
        self.vocabulary, self.device, self.name = vocabulary, device, name
        self.start = start_token(network)
        self.source_tokens = token_limit(network, "encoder")
        self.target_tokens = token_limit(network, "decoder")

    @classmethod
    def open(
        cls, path: Path | str, vocabulary: Vocabulary, *, device: str | None = None
    ) -> Seq2Seq:
        """Load a model from a folder in `transformers` format.

        Raises InputError if there is none, where it is no seq2seq model, and where its
        vocabulary is not the index's.
        """
        folder = Path(path)
        check_vocabulary(folder, vocabulary)
        return cls(load_network(folder), vocabulary, check_device(device), str(path))

    def encode(self, sources: Sequence[Sequence[int]]) -> Sources:
        """Encode inputs of any lengths, padded to the longest."""
        pad = self.vocabulary.pad if self.vocabulary.pad is not None else self.vocabulary.border
        ids, mask = padded(sources, pad, self.device)
        encoder = self.network.get_encoder()
        return Sources(encoder(input_ids=ids, attention_mask=mask).last_hidden_state, mask)

    def begin(self, sources: Sources) -> Decoder:
        """Return a decoder with one row per source, before its first token."""
        return Decoder(self, sources)

    def _run(self, sources: Sources, tokens: torch.Tensor, cache: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return self.network(
            encoder_outputs=BaseModelOutput(last_hidden_state=sources.hidden),
            attention_mask=sources.mask,
            decoder_input_ids=tokens,
            use_cache=True,
            **{self._cache_name: cache},
        )

    @cached_property
    def _cache_name(self) -> str:
        """The network's name for its cache. It changed in transformers 5.24."""
        names = signature(self.network.forward).parameters
        return "cache" if "cache" in names else "past_key_values"


class Decoder:
    """Hypotheses that are written in parallel, all of one length. Their keys and values kept."""

    def __init__(self, model: Seq2Seq, sources: Sources) -> None:
        from transformers import DynamicCache, EncoderDecoderCache

        self.model, self.sources = model, sources
        self._cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        self._owners = np.arange(len(sources.hidden))

    def first(self) -> torch.Tensor:
        """Return the logits of the first token of each source, (n, V)."""
        import torch

        start = torch.full((len(self._owners), 1), self.model.start, device=self.model.device)
        return self._logits(start)

    def advance(self, parents: IntArray, tokens: IntArray) -> torch.Tensor:
        """Go on with hypotheses: row `parents[i]` and `tokens[i]`. Return their next logits.

        (n, V). The number of rows may change from step to step.
        """
        import torch

        rows: Any = torch.from_numpy(parents).to(self.model.device)
        owners = self._owners[parents]
        self._cache.self_attention_cache.reorder_cache(rows)
        if not np.array_equal(owners, self._owners):  # else each row sees the same source as before
            self._cache.cross_attention_cache.reorder_cache(rows)
            self.sources = self.sources.take(rows)
        self._owners = owners
        return self._logits(torch.from_numpy(tokens)[:, None].to(self.model.device))

    def _logits(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model._run(self.sources, tokens, self._cache).logits[:, -1].float()


def start_token(network: Any) -> int:
    """Return the token that the decoder begins with. Raises InputError if none is named."""
    for config in (network.generation_config, network.config):
        start = getattr(config, "decoder_start_token_id", None)
        if start is not None:
            return int(start)
    raise InputError(
        "the model does not say with which token its decoder begins",
        expected="decoder_start_token_id in config.json",
        fix="Set it to what the model was trained with (BART: its </s>, T5: its <pad>).",
        where="--model",
    )


def token_limit(network: Any, part: str) -> int | None:
    """Return how many tokens the "encoder" or "decoder" takes. None for any number."""
    for name in (f"max_{part}_position_embeddings", "max_position_embeddings"):
        limit = getattr(network.config, name, None)
        if isinstance(limit, int) and limit > 0:
            return limit
    return None


def load_network(folder: Path) -> Any:
    """Load a seq2seq LM. Raises InputError for a folder without one, and for damaged weights."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if not config.is_encoder_decoder:
            raise ValueError(f"a {config.model_type} model, which has no encoder of its own")
        network, loading = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
        mismatched = (key for key, *_ in loading["mismatched_keys"])
        if wrong := sorted({*loading["missing_keys"], *mismatched}):  # they would be random
            raise ValueError(
                f"{len(wrong):,} weights of the model are missing or of another shape "
                f"({', '.join(wrong[:3])}{', ...' if len(wrong) > 3 else ''})"
            )
        return network
    except Exception as error:  # whatever the library makes of damaged files
        raise InputError(
            f"the model cannot be loaded ({str(error).strip().splitlines()[0][:200]})",
            expected="a seq2seq language model as save_pretrained writes it",
            fix="Train one (argus research generative train), or give the folder of a SEAL or "
            "MINDER checkpoint that was saved with save_pretrained.",
            where=folder,
        ) from error


def check_vocabulary(folder: Path, vocabulary: Vocabulary) -> None:
    """Raise InputError unless the tokenizer beside a model is the index's."""
    own = open_vocabulary(folder)
    if own.fingerprint != vocabulary.fingerprint:
        raise InputError(
            f"its vocabulary ({own.size:,} tokens, {own.fingerprint[:8]}) is not that of the "
            f"index ({vocabulary.size:,} tokens, {vocabulary.fingerprint[:8]})",
            expected="a model that was trained with the index's tokenizer",
            fix=f"Build the index with --tokenizer {folder}, or train the model on the index: "
            "argus research generative train --index INDEX.",
            where=folder,
        )


Ngram = tuple[int, ...]
# Logits of one level: 128 MiB.
CELLS = 2**25


@dataclass(frozen=True)
class Targets:
    """N-grams to be scored for one encoder input."""

    source: int
    ngrams: frozenset[Ngram]


def score_all(
    model: Seq2Seq, sources: Sources, targets: Sequence[Targets]
) -> list[dict[Ngram, float]]:
    """Return log P(n-gram | source) for all targets, in their order.

    The sum over the n-gram's tokens, each after those before it.
    """
    import torch

    followers: list[dict[Ngram, list[int]]] = []  # of each target, the tokens after a beginning
    widths = []  # of each target, the most beginnings of one length that go on
    for target in targets:
        tree: dict[Ngram, dict[int, None]] = {}
        for ngram in sorted(target.ngrams):
            for n, token in enumerate(ngram):
                tree.setdefault(ngram[:n], {})[token] = None
        followers.append({beginning: list(tokens) for beginning, tokens in tree.items()})
        widths.append(max(Counter(map(len, tree)).values(), default=0))
    scores: list[dict[Ngram, float]] = [{} for _ in targets]
    jobs = [job for job, width in enumerate(widths) if width]
    with torch.inference_mode():
        while jobs:  # as many as fit, at least one
            rows = np.cumsum([widths[job] for job in jobs])
            fitting = max(1, int((rows <= CELLS // model.vocabulary.size).sum()))
            part, jobs = jobs[:fitting], jobs[fitting:]
            owners = torch.tensor([targets[job].source for job in part], device=model.device)
            decoder = model.begin(sources.take(owners))
            _go_down(decoder, part, followers, scores)
    return [
        {ngram: of_target[ngram] for ngram in target.ngrams if ngram}
        for target, of_target in zip(targets, scores, strict=True)
    ]


def _go_down(
    decoder: Decoder,
    jobs: Sequence[int],
    followers: Sequence[dict[Ngram, list[int]]],
    scores: list[dict[Ngram, float]],
) -> None:
    """Go down the trees of some jobs, a level at a time, and note every beginning's score."""
    import torch

    logits = decoder.first()
    # Beginnings that go on: job, n-gram and its score.
    level: list[tuple[int, Ngram, float]] = [(job, (), 0.0) for job in jobs]
    while level:
        steps = [
            (row, t) for row, (job, ngram, _) in enumerate(level) for t in followers[job][ngram]
        ]
        at, written = torch.tensor(steps, device=logits.device).T
        logs = (logits[at, written] - logits.logsumexp(1)[at]).double().cpu().tolist()
        below, parents = [], []
        for (row, token), log in zip(steps, logs, strict=True):
            job, beginning, before = level[row]
            ngram, score = (*beginning, token), before + log
            scores[job][ngram] = score
            if ngram in followers[job]:
                below.append((job, ngram, score))
                parents.append(row)
        level = below
        if level:
            tokens = np.array([ngram[-1] for _, ngram, _ in level], np.int64)
            logits = decoder.advance(np.array(parents, np.int64), tokens)
