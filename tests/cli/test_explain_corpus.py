"""`argus explain --corpus --encoder`: what it prints, and options that need an index."""

from __future__ import annotations

import json
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


def test_place_and_matched_terms_are_printed(searched: Callable[..., Any], tmp_path: Path) -> None:
    ran = searched("--k", 1, "--store", tmp_path / "store")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].startswith("d03 ") and max(map(len, lines)) <= 100
    for start in ("encoder  ", "BM25  ", "encoder and BM25 (min-max)", "matched terms  "):
        assert any(line.startswith(start) for line in lines), start
    assert (tmp_path / "store" / "store.json").is_file()


def test_json_has_the_keys_of_a_run(searched: Callable[..., Any]) -> None:
    ran = searched("--json")
    explanation = json.loads(ran.out)
    assert " similarity=sparse-dot " in explanation["run"]
    evidence = next(f for f in explanation["findings"] if f["cause"] == "matched terms")["evidence"]
    assert evidence["query_terms"] >= len(evidence["matches"]) > 0


@pytest.mark.parametrize("option", ["--hybrid", "--lambda", "--tau", "--keys"])
def test_what_needs_an_index_is_refused(searched: Callable[..., Any], option: str) -> None:
    value = {"--hybrid": "rrf", "--keys": "answers.jsonl"}.get(option, "0.5")
    ran = searched(option, value)
    assert ran.code == 2 and option in ran.err


def test_a_store_is_for_a_search_through_a_corpus(
    argus: Callable[..., Any], tmp_path: Path
) -> None:
    ran = argus("explain", "who?", "d03", "--run", "run.trec", "--store", tmp_path)
    assert ran.code == 2 and "--store" in ran.err


def test_a_job_of_single_vectors_says_what_works(
    argus: Callable[..., Any], corpus: Path, model: Path, tmp_path: Path
) -> None:
    ran = argus("index", "build", "--corpus", corpus, "--encoder", model, "--out", tmp_path / "i")
    assert ran.code == 2 and "argus exposure" in ran.err
    assert not (tmp_path / "i" / "index.json").exists()
