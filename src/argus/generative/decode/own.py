"""A decoding that a user wrote: a function of a file that writes n-grams in place of the beams.

    def decode(model, sources, index, search):
        return [[(tokens, log_probability), ...] for each source]

`model.begin(sources)` gives logits token by token (`first`, `advance`), and `index.next_tokens` the
tokens that the corpus has next (`argus.generative.Seq2Seq`, `NgramIndex`, `Search`).
"""

from __future__ import annotations

import numpy as np

from argus.data.types import FloatArray
from argus.errors import ArgusError
from argus.generative.decode.beams import Hypotheses, Search
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.index import NgramIndex
from argus.python_file import call_own, load_own

EXPECTED = (
    "a function of (model, sources, index, search) that returns n-grams of each source, as pairs "
    "of tokens and a log-probability"
)


def own_search(
    spec: str, model: Seq2Seq, sources: Sources, index: NgramIndex, search: Search
) -> tuple[list[Hypotheses], FloatArray]:
    """Return what a user's decoding writes, as `beam_search` does. spec: `FILE.py:NAME`.

    Raises InputError for a file without such a function, ArgusError where it fails or writes what
    the corpus does not have.
    """
    import torch

    _, decode = load_own(spec, callable, EXPECTED)
    with torch.inference_mode():
        first = model.begin(sources).first().log_softmax(1)[:, : index.vocabulary_size]
        found = call_own(spec, decode, model, sources, index, search)
    try:
        written = [
            [(tuple(map(int, tokens)), float(log_p)) for tokens, log_p in one] for one in found
        ]
    except (TypeError, ValueError) as error:
        raise ArgusError(f"{spec} returned something else; expected {EXPECTED}.") from error
    if len(written) != len(sources.hidden):
        raise ArgusError(f"{spec} gave {len(written)} lists for {len(sources.hidden)} sources.")
    hypotheses = []
    for one in written:
        ngrams = [tokens for tokens, _ in one]
        counts = index.counts([(*search.prefix, *tokens) for tokens in ngrams])
        if ngrams and not (counts.all() and all(ngrams)):
            absent = next(t for t, n in zip(ngrams, counts, strict=True) if not (n and t))
            raise ArgusError(f"{spec} wrote {absent}, which the corpus does not have.")
        ended = [search.last is not None and tokens[-1] == search.last for tokens in ngrams]
        hypotheses.append(Hypotheses(ngrams, [log_p for _, log_p in one], ended))
    return hypotheses, np.asarray(first.cpu().numpy(), np.float32)
