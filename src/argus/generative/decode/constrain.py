"""Constrain `generate()` of transformers to n-grams of an index (Python API).

`CorpusConstraint` is a logits processor: tokens that the index does not have next get -inf. Argus'
own search uses `beams` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from argus.generative.decode.beams import mask_rows
from argus.generative.index import NgramIndex, Rows

if TYPE_CHECKING:
    import torch


class CorpusConstraint:
    """Allow only tokens that the index has after a hypothesis. Give it to `generate` in a list.

    A hypothesis is `prefix` and all tokens after the decoder's start token. One that ended
    in `last` or the border can only be padded, as can one without continuation. Exact: a token that
    exists after the hypothesis keeps its score. Scores on the CPU are masked in place, as
    transformers 5 hands them over in a fresh tensor. Never combine it with a minimum length: at the
    end of a passage only the border is left.
    """

    def __init__(
        self, index: NgramIndex, pad: int, *, prefix: Sequence[int] = (), last: int | None = None
    ) -> None:
        self.index, self.pad = index, pad
        self.prefix, self.last = tuple(prefix), last

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores, (rows, V), with -inf for tokens that cannot follow `input_ids`.

        Raises ValueError for scores of fewer tokens than the index has.
        """
        import torch

        if scores.shape[1] < self.index.vocabulary_size:
            raise ValueError(
                f"scores of {scores.shape[1]} tokens; the index has {self.index.vocabulary_size}"
            )
        written = input_ids[:, 1:].cpu().numpy()
        ended = np.zeros(len(written), np.bool_)
        if written.shape[1]:
            stops = [self.index.border, self.pad, *([] if self.last is None else [self.last])]
            ended = np.isin(written[:, -1], stops)
        prefixes = np.tile(np.array(self.prefix, np.int64), (len(written), 1))
        ngrams = np.concatenate([prefixes, written], axis=1)
        whole = self.index.find(ngrams)
        rows = Rows(whole.depth, np.where(ended, 0, whole.low), np.where(ended, 0, whole.high))
        pointers, tokens, _ = self.index.next_tokens(rows)
        lengths = np.diff(pointers)
        if not lengths.all():  # only padding may follow
            tokens = np.insert(tokens, pointers[:-1][lengths == 0], self.pad).astype(np.int32)
            pointers = np.concatenate([[0], np.cumsum(np.maximum(lengths, 1))])
        if scores.device.type == "cpu" and scores.dtype == torch.float32:
            mask_rows(scores.detach().numpy(), pointers, tokens)
            return scores
        masked = torch.full_like(scores, -torch.inf)
        owners = torch.from_numpy(np.repeat(np.arange(len(written)), np.diff(pointers)))
        places = owners.to(scores.device), torch.from_numpy(tokens).long().to(scores.device)
        masked[places] = scores[places]
        return masked
