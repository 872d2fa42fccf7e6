"""Runs on disk: recorded once, whole or not at all, in their own order."""

import json

import pytest

import argus
from argus.errors import InputError
from argus.runs import HISTORY, damaged_in, record_runs
from tests.support.words import ByWords, corpus

LOST = ("alder-mill", "fir-tower", "ivy-mill", "elm-bridge", "elm-mill", "hazel-tower", "ivy-tower")


def expose(out, **kwargs):
    config = argus.ExposureConfig(k=5)
    return argus.exposure(corpus(), out=out, retriever=ByWords(corpus(), **kwargs), config=config)


@pytest.fixture
def two(tmp_path):
    """A folder with two runs: the second has lost documents."""
    expose(tmp_path / "out")
    for file in (tmp_path / "out").glob("answers*"):
        file.unlink()
    expose(tmp_path / "out", lost=LOST)
    return tmp_path / "out"


def test_every_run_is_recorded_with_a_value_per_document(tmp_path):
    result = expose(tmp_path / "out")
    (run,) = argus.runs.runs_in(tmp_path / "out")
    assert (run.name, run.job) == ("000001-exposure", "exposure")
    rows = result.table.to_pylist()
    shares = {row["id"]: row["retrieved_by_own"] / row["own_probes"] for row in rows}
    assert run.items["found by its own title and sentences"] == shares
    assert run.record["means"]["ever retrieved"] == 1


def test_fresh_leaves_the_runs_and_one_that_was_killed_in_between_counts_for_nothing(two):
    partial = two / HISTORY / ".run.4711abcd.partial"
    partial.mkdir()
    (partial / "run.json").write_text("{")
    assert len(argus.runs.runs_in(two)) == 2 and damaged_in(two) == []
    config = argus.ExposureConfig(k=5)
    argus.exposure(corpus(), out=two, retriever=ByWords(corpus()), config=config, fresh=True)
    assert [run.name[:6] for run in argus.runs.runs_in(two)][:2] == ["000001", "000002"]


def test_a_number_that_another_process_took_is_left_to_it(tmp_path):
    expose(tmp_path / "out")
    record = tmp_path / "out" / HISTORY / "000001-exposure" / "run.json"
    changed = json.loads(record.read_text()) | {"key": "another"}
    record.write_text(json.dumps(changed))
    (again,) = record_runs(tmp_path / "out")
    assert again.name == "000002-exposure"


@pytest.mark.parametrize("text", ["{", '{"key": 1}'])
def test_a_damaged_record_is_left_out_and_named(two, text):
    (two / HISTORY / "000001-exposure" / "run.json").write_text(text)
    assert [run.name for run in argus.runs.runs_in(two)] == ["000002-exposure"]
    assert [place.name for place in damaged_in(two)] == ["000001-exposure"]
    damaged = two / HISTORY / "000001-exposure"
    for place, says in ((damaged, r"run\.json"), (two / "none", "no such"), (two.parent, "no run")):
        with pytest.raises(InputError, match=says):
            argus.runs.runs_of(place)
