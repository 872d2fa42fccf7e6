"""`argus explain --corpus --encoder`: options that need an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.sentence_models import make_sparse


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(make_sparse(tmp_path_factory.mktemp("models") / "splade"))


@pytest.fixture
def searched(argus: Callable[..., Any], corpus: Path, model: Path) -> Callable[..., Any]:
    """Explain d03 as found by the model."""

    def explain(*options: object) -> Any:
        return argus(
            "explain", "Who was linked with the loom?", "d03", "--corpus", corpus,
            "--encoder", model, *options,
        )  # fmt: skip

    return explain


@pytest.mark.parametrize("option", ["--hybrid", "--lambda"])
def test_what_needs_an_index_is_refused(searched: Callable[..., Any], option: str) -> None:
    ran = searched(option, {"--hybrid": "rrf"}.get(option, "0.5"))
    assert ran.code == 2 and option in ran.err
