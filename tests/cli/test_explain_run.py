"""`argus explain --run`: what it prints, --json, and options that do not go together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN = {"q1": {"d01": 5.0, "d02": 3.0, "d03": 2.5, "d04": 1.0}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN))
    return path


def test_json_holds_the_whole_structure(argus: Callable[..., Any], run: Path, corpus: Path) -> None:
    ran = argus("explain", "q1", "d00", "--run", run, "--corpus", corpus, "--json")
    found = json.loads(ran.out)
    assert not found["came_back"] and found["standing"]["rank"] is None
    assert (found["query_id"], found["query"]) == ("q1", None)
    assert [a["id"] for a in found["standing"]["above"]] == list(RUN["q1"])
    assert len(found["findings"]) == 3
    assert all(set(f) == {"cause", "state", "summary", "evidence", "advice", "decisive"}
               for f in found["findings"])  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--index: neither an index nor a run nor a retriever"),
        (["--run", "run.json", "--index", "idx"], "--index with --run; expected one of them"),
        (["--run", "run.json", "--hybrid", "rrf"], "--hybrid with --run"),
        (["--run", "run.json", "--lambda", "0.5"], "--lambda with --run"),
        (["--run", "none.json"], "none.json: no such file"),
        (["--run", "run.json", "--retriever", "a.py"], "--retriever with --run"),
        (["--retriever", "a.py", "--index", "idx"], "--index with --retriever"),
        (["--retriever", "a.py", "--hybrid", "rrf"], "--hybrid with --retriever"),
    ],
)
@pytest.mark.usefixtures("run")
def test_options_that_do_not_go_together_are_refused(
    argus: Callable[..., Any], options: list[str], message: str
) -> None:
    ran = argus("explain", "q1", "d01", *options)
    assert ran.code == 2 and ran.out == "" and message in ran.err


def test_a_query_that_the_run_does_not_know_is_refused(
    argus: Callable[..., Any], run: Path
) -> None:
    ran = argus("explain", "q2", "d01", "--run", run)
    assert ran.code == 2
    assert "no query has the id 'q2'; expected one of its 1 query ids. Check the id." in ran.err
