"""The job: verdicts of a judge, resumed, and results that do not depend on the order."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.llm import ChatConfig
from argus.workflows.generative.failures.analyse import AnalyseConfig, analyse
from argus.workflows.generative.failures.replaying import ReplayConfig
from tests.support.failures import two_of_three, write_output


def said(verdict):
    content = json.dumps({"verdict": verdict, "explanation": "It says so."})
    return {
        "choices": [{"message": {"content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


def test_a_judge_changes_the_diagnosis_and_adjusts_the_hits(httpserver, tmp_path):
    httpserver.expect_request("/chat/completions").respond_with_json(said("YES"))
    file = write_output(tmp_path / "seal.json", two_of_three())
    llm = ChatConfig(model="judge", base_url=httpserver.url_for(""))
    result = analyse([file], config=AnalyseConfig(llm=llm), out=tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "failures.parquet").to_pylist()
    assert [row["judged"] for row in rows] == [None, None, "YES"]
    found = pq.read_table(tmp_path / "out" / "failure_diagnosis.parquet").to_pylist()
    assert found[2]["evidence"][0] == (
        "the passage at rank 2 holds an answer but is not annotated "
        "(judged: it answers the question)"
    )
    tables = result.summary["systems"][0]["figures"]["annotation"]
    adjusted = tables["t11_adjusted_hits"]
    rates = [dict(zip(adjusted["columns"], row, strict=True)) for row in adjusted["rows"]]
    assert [row["hits"] for row in rates] == [1, 2, 2]  # as annotated, + YES, + PARTIAL
    assert len(httpserver.log) == 1
    analyse([file], config=AnalyseConfig(llm=llm), out=tmp_path / "out")
    assert len(httpserver.log) == 1, "the ledger keeps what was answered"
    assert (tmp_path / "out" / "judged.csv").is_file()


def test_a_verdict_of_no_takes_the_annotation_gap_away(httpserver, tmp_path):
    httpserver.expect_request("/chat/completions").respond_with_json(said("NO"))
    file = write_output(tmp_path / "seal.json", two_of_three())
    llm = ChatConfig(model="judge", base_url=httpserver.url_for(""))
    analyse([file], config=AnalyseConfig(llm=llm), out=tmp_path / "out")
    found = pq.read_table(tmp_path / "out" / "failure_diagnosis.parquet").to_pylist()
    assert "Annotation gap" not in found[2]["modes"]


def test_figures_do_not_depend_on_the_order_of_questions(tmp_path):
    told = []
    for name, records in (("a", two_of_three()), ("b", two_of_three()[::-1])):
        (tmp_path / name).mkdir()
        file = write_output(tmp_path / name / "seal.json", records)
        told.append(analyse([file], config=AnalyseConfig(), out=tmp_path / f"out {name}").summary)
    for summary in told:
        for system in summary["systems"]:
            system.pop("file")
    assert told[0] == told[1]


def test_tables_of_two_systems_stand_in_one_file(tmp_path):
    files = [write_output(tmp_path / f"{n}.json", two_of_three()) for n in ("seal", "minder")]
    analyse(files, config=AnalyseConfig(), out=tmp_path / "out")
    with (tmp_path / "out" / "failure_tables" / "quality.csv").open() as opened:
        assert {row["system"] for row in csv.DictReader(opened)} == {"seal", "minder"}
    with (tmp_path / "out" / "failure_diagnosis.csv").open() as opened:
        modes = [row["modes"] for row in csv.DictReader(opened)]
    assert len(modes) == 6 and any(" | " in mode for mode in modes)


def test_fresh_never_empties_the_folder_that_is_read(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".argus").write_text("")
    file = write_output(tmp_path / "out" / "dpr.json", two_of_three())
    with pytest.raises(InputError, match="--fresh would empty the folder that holds"):
        analyse([file], config=AnalyseConfig(), out=tmp_path / "out", fresh=True)
    assert file.is_file()


def test_a_replay_takes_at_most_so_many_questions_failed_ones_first(ready, tmp_path):
    records = [
        {"id": q, "question": text, "ctxs": [{"passage_id": first, "score": 1.0}]}
        for q, text, first in (
            ("found", "Who wrote the first program?", "ada"),
            ("failed", "Which city is the capital?", "ska"),
        )
    ]
    file = write_output(tmp_path / "seal.json", records)
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nfound\tada\t1\nfailed\tbern\t1\n")
    config = AnalyseConfig(
        index=ready.index, replay=ReplayConfig(model=ready.model, beams=2, questions=1)
    )
    result = analyse([file], config=config, out=tmp_path / "out", qrels=qrels)
    assert result.summary["replayed"] == [
        {"questions": 1, "of": 2, "mode": "seal", "beams": 2, "as_searched": False}
    ]
    rows = pq.read_table(tmp_path / "out" / "failures.parquet").to_pylist()
    assert {row["query_id"]: row["pruned"] is not None for row in rows} == {
        "found": False,
        "failed": True,
    }


def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match="a whole number from 1"):
        AnalyseConfig(k=0)
