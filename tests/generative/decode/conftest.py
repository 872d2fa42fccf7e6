"""A small index, the plain reading of its passages, and a model of random weights."""

import pytest

from argus.generative.index import build_index
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    plain,
    small_vocabulary,
    tiny_model,
)


@pytest.fixture(scope="package")
def parts(tmp_path_factory):
    vocabulary = small_vocabulary()
    folder = tmp_path_factory.mktemp("decoding")
    index = build_index(DOCUMENTS, vocabulary, folder / "i", pseudo_queries=PSEUDO_QUERIES)
    return vocabulary, index, plain(index), tiny_model(vocabulary)
