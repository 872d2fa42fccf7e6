"""Beam search for n-grams that exist, keeping every partial hypothesis (thesis, §2.3)."""

from __future__ import annotations

import time

from argus.data.types import FloatArray
from argus.generative.decode.backtracking import BacktrackingBeams
from argus.generative.decode.beams import Beams, Hypotheses, Observer, Search, Timings
from argus.generative.decode.model import Seq2Seq, Sources
from argus.generative.index import NgramIndex


def beam_search(
    model: Seq2Seq,
    sources: Sources,
    index: NgramIndex,
    search: Search,
    timings: Timings | None = None,
    observer: Observer | None = None,
) -> tuple[list[Hypotheses], FloatArray]:
    """Return the n-grams of each source, and the log-probabilities of its first token.

    (n, V), for the tokens of the index. A model may have more, of which none exists. observer:
    changes nothing but when to stop. The n-grams found until then are returned.
    """
    import torch

    with torch.inference_mode():
        begun = time.perf_counter()
        kind = BacktrackingBeams if search.rounds else Beams
        beams = kind(model.begin(sources), index, search, timings or Timings())
        for _ in range(search.longest):
            pool = beams.pool()
            if observer is not None and not observer(pool):
                break
            if not beams.step(pool):
                break
        if timings is not None:
            timings.total += time.perf_counter() - begun
        return beams.hypotheses, beams.first
