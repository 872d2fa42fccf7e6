"""Small n-gram indexes and models of random weights for them, made once."""

from typing import Any

import pytest

from tests.support import generating
from tests.support.ngrams import Ready, make_ready


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    return make_ready(tmp_path_factory.mktemp("ngrams"))


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    """A vocabulary, an index of a few towers, the plain reading of its passages, and a model."""
    from argus.generative.index import build_index

    vocabulary = generating.small_vocabulary()
    index = build_index(
        generating.DOCUMENTS, vocabulary, tmp_path_factory.mktemp("towers") / "i",
        pseudo_queries=generating.PSEUDO_QUERIES,
    )  # fmt: skip
    return vocabulary, index, generating.plain(index), generating.tiny_model(vocabulary)
