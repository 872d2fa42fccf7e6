"""Probe, encoder and store of the diagnosis' tests."""

from copy import copy

import pytest

from argus.corpora.opening import read_corpus
from argus.encoders import EmbeddingStore
from tests.support.diagnosing import SentenceOnly, probe_for


@pytest.fixture(scope="module")
def probe(minilm):
    return probe_for(minilm)


@pytest.fixture(scope="module")
def sentences(minilm):
    encoder = copy(minilm)
    encoder.__class__ = SentenceOnly
    return encoder


@pytest.fixture
def store(minilm, tmp_path):
    with EmbeddingStore(tmp_path, fingerprint=minilm.fingerprint, dim=minilm.dim) as opened:
        yield opened


@pytest.fixture(scope="module")
def wiki2(shared):
    return read_corpus(shared("wiki2") / "corpus.jsonl")
