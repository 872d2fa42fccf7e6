"""The job: verdicts of a judge, resumed, and results that do not depend on the order."""

import json

import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.generative.failures.analyse import analyse_failures as analyse
from argus.generative.failures.analyse import estimate_verdicts
from argus.generative.settings import FailureConfig, ReplayConfig
from argus.llm import ChatConfig
from tests.support.failures import two_of_three, write_output


def saying(verdict):
    """Answer every prompt with a verdict."""
    answer = {"text": json.dumps({"verdict": verdict, "explanation": "It says so."})}
    return lambda *_: answer


def judge(endpoint, **options):
    return ChatConfig(
        **{"model": "judge", "base_url": endpoint.url, "backoff_s": 0.001, "attempts": 1} | options
    )


def test_a_judge_changes_the_diagnosis_and_adjusts_the_hits(endpoint, tmp_path):
    endpoint.behave = saying("YES")
    file = write_output(tmp_path / "seal.json", two_of_three())
    llm, out = judge(endpoint, input_price=1, output_price=1), tmp_path / "out"
    found = estimate_verdicts([file], out=out, llm=llm)
    assert (found.prompts, found.to_ask) == (1, 1) and found.cost
    assert not endpoint.requests and not out.exists()
    result = analyse([file], llm=llm, out=out)
    assert [row["judged"] for row in result.table.to_pylist()] == [None, None, "YES"]
    diagnosed = pq.read_table(out / "failure_diagnosis.parquet").to_pylist()
    assert diagnosed[2]["evidence"][0] == (
        "an unannotated passage holds an answer, the first at rank 2 "
        "(judged: one of them answers the question)"
    )
    tables = result.summary["systems"][0]["figures"]["annotation"]
    adjusted = tables["t11_adjusted_hits"]
    rates = [dict(zip(adjusted["columns"], row, strict=True)) for row in adjusted["rows"]]
    assert [row["hits"] for row in rates] == [1, 2, 2]  # as annotated, + YES, + PARTIAL
    assert len(endpoint.requests) == 1
    analyse([file], llm=llm, out=out)
    assert len(endpoint.requests) == 1, "the ledger keeps what was answered"
    assert (out / "judged.parquet").is_file()
    analyse([file], out=out)
    assert not list(out.glob("judged.*")), "nothing of an earlier analysis is left"


def test_a_replay_takes_so_many_questions_failed_ones_first(ready, tmp_path):
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
    config = FailureConfig(
        index=ready.index, replay=ReplayConfig(model=ready.model, beams=2, questions=1)
    )
    result = analyse([file], config=config, out=tmp_path / "out", qrels=qrels)
    (told,) = result.summary["replayed"]
    assert (told["questions"], told["of"], told["mode"], told["beams"]) == (1, 2, "seal", 2)
    rows = pq.read_table(tmp_path / "out" / "failures.parquet").to_pylist()
    assert {row["query_id"]: row["pruned"] is not None for row in rows} == {
        "found": False,
        "failed": True,
    }


def test_judgements_of_other_questions_are_refused(tmp_path):
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\ntest0\tp1\t1\n")
    file = write_output(tmp_path / "a.json", two_of_three())
    with pytest.raises(InputError, match=r"--qrels judges 1 questions \('test0', ...\), none of"):
        analyse([file], out=tmp_path / "out", qrels=qrels)
