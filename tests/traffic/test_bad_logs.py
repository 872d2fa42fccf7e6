"""Read logs as they are: broken, partial, contradictory, hostile."""

import gzip
import json

import pyarrow.parquet as pq
import pytest

import argus
from argus.errors import InputError, NothingMeasured
from tests.support.examples import write_rows

FEW = argus.traffic.TrafficConfig(resamples=1_000)


def run(path, out, **more):
    return argus.audit_traffic(path, out=out, config=FEW, **more).summary


def test_a_log_of_another_shape_names_its_fields(tmp_path):
    path = tmp_path / "log.jsonl"
    write_rows(path, [{"level": "info", "msg": {"id": 1}}])
    with pytest.raises(InputError, match=r"no question among 'level', 'msg.id'.*--query-field"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_half_written_lines_cost_themselves_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    good = json.dumps({"query": "a", "results": ["d1"]})
    whole = f"{good}\n{good[:20]}\n{good}\n".encode()
    path.write_bytes(whole + b"\xff\xfe{}\n[1]\n" + good[:9].encode())
    log = run(path, tmp_path / "out")["log"]
    assert log["asks"] == 2
    assert log["skipped"] == {"half-written or broken JSON": 2, "bytes that are not UTF-8": 1,
                              "a JSON int, no object": 1}  # fmt: skip


def test_a_list_and_a_file_that_break_off_are_read_up_to_there(tmp_path):
    rows = [{"query": f"question {i}", "results": ["d1"]} for i in range(1_500)]
    text = json.dumps(rows, indent=1)
    (tmp_path / "log.json").write_text(text[: len(text) // 2 - 9])
    log = run(tmp_path / "log.json", tmp_path / "out")["log"]
    assert 700 < log["asks"] < 800 and log["skipped"] == {"half-written or broken JSON": 1}
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (tmp_path / "log.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    log = run(tmp_path / "log.jsonl.gz", tmp_path / "out2")["log"]
    assert log["asks"] > 300 and log["skipped"]["compressed data that end early"] == 1


def test_secrets_inside_questions_are_nowhere_in_the_results(tmp_path):
    secrets = ["jane.doe@example.com", "4111 1111 1111 1111", "+49 30 1234567",
               "DE89 3704 0044 0532 0130 00", "sk-ant-api03-abcdefghijklmnop1234"]  # fmt: skip
    rows = [{"query": f"what of {secret} now", "results": [f"d-{secret}"], "team": secret,
             "query_id": secret}
            for secret in secrets]  # fmt: skip
    rows += [{"query": f"context of {s}", "results": [{"text": f"about {s}"}]} for s in secrets]
    write_rows(tmp_path / "log.jsonl", rows)
    result = argus.audit_traffic(
        tmp_path / "log.jsonl", out=tmp_path / "out", config=FEW,
        reading=argus.traffic.LogConfig(by=("team",)), retriever=lambda query, k: [("d1", 1.0)],
    )  # fmt: skip
    assert set(result.summary["log"]["redacted"]) == {"mail", "card", "phone", "account", "token"}
    written = [path for path in result.folder.rglob("*") if path.is_file()]
    text = b"".join(path.read_bytes() for path in written if path.suffix != ".parquet").decode()
    for path in result.folder.glob("*.parquet"):
        text += str(pq.read_table(path).to_pylist())
    for secret in (secrets[0], secrets[4]):  # in ids, numbers are the documents' own
        assert secret not in text
    questions = str(pq.read_table(result.folder / "questions.parquet")["text"].to_pylist())
    assert not any(secret in questions for secret in secrets)


def test_a_spreadsheet_of_semicolons_is_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query;results\nthe river Aare, and its bridges;d1\nBern;d2\n", "utf-8-sig")
    assert run(path, tmp_path / "out")["log"]["asks"] == 2
    asks = pq.read_table(tmp_path / "out" / "questions.parquet")["text"].to_pylist()
    assert "the river Aare, and its bridges" in asks
    path.write_text("")
    with pytest.raises(NothingMeasured, match="it is empty"):
        run(path, tmp_path / "out3")
