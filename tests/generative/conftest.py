"""An n-gram index of a few passages, and a model for it, made once."""

from __future__ import annotations

import pytest

from tests.support.ngrams import Ready, make_ready


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    return make_ready(tmp_path_factory.mktemp("ngrams"))
