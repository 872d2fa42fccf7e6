"""Runs on disk: recorded once, whole or not at all, in their own order."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

import argus
from argus.data.folders import ArtifactFolder
from argus.errors import InputError
from argus.runs import record_runs
from argus.runs.folder import HISTORY, damaged_in
from argus.runs.run import MOST
from tests.support.examples import write_rows
from tests.support.results import unbound
from tests.support.words import ByWords, corpus

LOST = ("alder-mill", "fir-tower", "ivy-mill", "elm-bridge", "elm-mill", "hazel-tower", "ivy-tower")


def expose(out, **kwargs):
    config = argus.ExposureConfig(k=5)
    return argus.exposure(corpus(), out=out, retriever=ByWords(corpus(), **kwargs), config=config)


@pytest.fixture
def two(tmp_path):
    """A folder with two runs: the second has lost documents."""
    expose(tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "answers", ignore_errors=True)
    for file in (tmp_path / "out").glob("answers*"):
        file.unlink()
    expose(tmp_path / "out", lost=LOST)
    return tmp_path / "out"


def test_every_run_is_recorded_with_a_value_per_document(tmp_path):
    result = expose(tmp_path / "out")
    (run,) = argus.runs_in(tmp_path / "out")
    assert (run.name, run.job) == ("000001-exposure", "exposure")
    rows = {row["id"]: row for row in result.table.to_pylist()}
    values = run.items["found by its own title and sentences"]
    assert values.keys() == rows.keys()
    for id_, value in values.items():
        assert value == rows[id_]["retrieved_by_own"] / rows[id_]["own_probes"]
    assert run.record["means"]["ever retrieved"] == 1


def test_what_is_recorded_already_is_not_recorded_again(tmp_path):
    expose(tmp_path / "out")
    assert record_runs(tmp_path / "out") == []
    argus.write_report(tmp_path / "out")
    assert len(argus.runs_in(tmp_path / "out")) == 1


def test_a_run_one_of_whose_tables_another_job_took_over_is_not_recorded_again(tmp_path):
    result = expose(tmp_path / "out")
    folder = ArtifactFolder(tmp_path / "out")
    folder.open()
    folder.write_table("misses", result.table)
    folder.write_results("other", {}, folder.read_json("manifest.json")["exposure"])
    assert record_runs(tmp_path / "out") == []
    assert len(argus.runs_in(tmp_path / "out")) == 1


def test_runs_are_numbered_and_the_earlier_one_stays(two):
    first, second = argus.runs_in(two)
    assert [first.name, second.name] == ["000001-exposure", "000002-exposure"]
    before, after = (r.items["ever retrieved"]["alder-mill"] for r in (first, second))
    assert (before, after) == (1, 0)


def test_fresh_leaves_the_runs(two):
    expose(two, lost=["elm-mill"])
    config = argus.ExposureConfig(k=5)
    argus.exposure(corpus(), out=two, retriever=ByWords(corpus()), config=config, fresh=True)
    assert len(argus.runs_in(two)) >= 3


def test_a_run_that_was_killed_in_between_counts_for_nothing(tmp_path):
    expose(tmp_path / "out")
    home = tmp_path / "out" / HISTORY
    partial = home / ".run.4711abcd.partial"
    partial.mkdir()
    (partial / "run.json").write_text("{")
    assert len(argus.runs_in(tmp_path / "out")) == 1
    assert damaged_in(tmp_path / "out") == []
    shutil.rmtree(home / "000001-exposure")
    record_runs(tmp_path / "out")
    assert [place.name for place in home.iterdir()] == ["000001-exposure"]


def test_a_number_that_another_process_took_is_left_to_it(tmp_path):
    expose(tmp_path / "out")
    record = tmp_path / "out" / HISTORY / "000001-exposure" / "run.json"
    changed = json.loads(record.read_text()) | {"key": "another"}
    record.write_text(json.dumps(changed))
    (again,) = record_runs(tmp_path / "out")
    assert again.name == "000002-exposure"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": 1}'])
def test_a_damaged_record_is_left_out_and_named(two, text):
    (two / HISTORY / "000001-exposure" / "run.json").write_text(text)
    assert [run.name for run in argus.runs_in(two)] == ["000002-exposure"]
    assert [place.name for place in damaged_in(two)] == ["000001-exposure"]
    with pytest.raises(InputError, match=r"run\.json"):
        argus.runs_of(two / HISTORY / "000001-exposure")


def test_damaged_items_are_told_with_their_file(two):
    (two / HISTORY / "000002-exposure" / "items.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"items\.parquet"):
        _ = argus.runs_in(two)[1].items


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_a_run_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no such folder|no run in it"):
        argus.runs_of(tmp_path / name)


def test_of_very_many_items_the_same_part_is_kept_in_every_run(tmp_path):
    from argus.runs.figures import TRACKED
    from argus.runs.run import _parts

    def ids(n):
        import pyarrow as pa

        path = tmp_path / f"{n}.parquet"
        pq.write_table(pa.table({"id": [f"e{i}" for i in range(n)], "rps": [0.5] * n}), path)
        return {id_ for part, _ in _parts(path, TRACKED["audit"]) for id_ in part}

    small, large, larger = ids(1000), ids(MOST + 1), ids(2 * MOST + 1)
    assert len(small) == 1000
    assert MOST / 4 < len(large) < MOST and MOST / 4 < len(larger) < MOST
    assert larger & {f"e{i}" for i in range(MOST + 1)} <= large


def test_two_logs_are_compared_by_the_questions_of_both(tmp_path):
    """What came and what people said, question by question, with a paired test."""
    for day, lost in enumerate((0, 12)):
        rows = [
            {"query": f"question {i}", "results": [] if i < lost else ["d1"],
             "feedback": "down" if i < lost else "up"}
            for i in range(40 + day)
        ]  # fmt: skip
        log = tmp_path / f"day{day}.jsonl"
        write_rows(log, rows)
        config = argus.TrafficConfig(resamples=1_000, near=1)
        argus.audit_traffic(log, out=tmp_path / "out", config=config)
    before, after = argus.runs_in(tmp_path / "out")
    assert (before.name, after.name) == ("000001-traffic", "000002-traffic")
    assert before.record["means"] == {"something came back": 1, "good feedback": 1}
    (change,) = argus.history([tmp_path / "out"]).summary["changes"]
    for figure in change["figures"]:
        assert (figure["verdict"], figure["common"], figure["test"]["harmed"]) == ("worse", 40, 12)
    gate = argus.gate([tmp_path / "out"], argus.GateBounds(), baseline=before.place)
    assert gate.exit_code == 1


def test_a_table_that_another_job_wrote_since_is_left_to_it(tmp_path):
    """A log and the demo's questions have tables of one name."""
    expose(tmp_path / "out")
    shutil.rmtree(unbound(tmp_path / "out") / HISTORY)
    table = pq.read_table(tmp_path / "out" / "exposure.parquet")
    names = ["other" if name == "id" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), tmp_path / "out" / "exposure.parquet")
    assert record_runs(tmp_path / "out") == []
