"""Teacher-forced scores, shared between an n-gram and its prefixes."""

import pytest

from argus.generative.decode import model as decoding
from argus.generative.decode.model import Targets, score_all
from tests.support.generating import log_probability, small_vocabulary, tiny_model

QUESTIONS = ["tower", "which city in France has towers that are tall"]


@pytest.mark.parametrize("cells", [2**25, 1])
def test_scores_are_those_of_a_pass_per_ngram(monkeypatch, cells):
    import torch

    monkeypatch.setattr(decoding, "CELLS", cells)
    vocabulary = small_vocabulary()
    model = tiny_model(vocabulary)
    ngrams = [tuple(t) for t in vocabulary.encode(["tower", "tower is", "Paris", "t", "a city in"])]
    wanted = [
        Targets(0, frozenset(ngrams)),
        Targets(1, frozenset(ngrams[:3])),
        Targets(0, frozenset()),
    ]
    inputs = vocabulary.sources(QUESTIONS)
    with torch.inference_mode():
        got = score_all(model, model.encode(inputs), wanted)
    for w, scores in zip(wanted, got, strict=True):
        assert scores.keys() == w.ngrams
        for ngram in w.ngrams:
            assert scores[ngram] == pytest.approx(
                log_probability(model, inputs[w.source], ngram), abs=1e-5
            )
