"""Records are measured the same by one process and by several, in any order of questions."""

from __future__ import annotations

import json
import random

import pytest

from argus.generative.failures.jobs.inputs import Output, open_outputs
from argus.generative.failures.jobs.measuring import BLOCK, Setup, measure_output
from tests.support.failures import passage, record, two_of_three, write_output

SETUP = Setup(k=10, correct="annotated")


def many(n):
    """Return n questions whose passages and n-grams differ."""
    chosen = random.Random(0)
    found = []
    for i in range(n):
        keys = [[f" w{chosen.randrange(9)} x", chosen.randrange(1, 99), 0.5 + j] for j in range(4)]
        passages = [passage(f"p{j}", *keys[j:], title=f"T{j % 2}") for j in range(3)]
        found.append(record(f"q{i}", *passages, positives=(f"p{i % 4}",)))
    return found


@pytest.mark.slow
def test_two_processes_measure_what_one_does_in_the_same_order(tmp_path):
    file = write_output(tmp_path / "a.json", [*many(BLOCK * 2 + 3), {"no": "question"}])
    alone, shared = (measure_output(Output("a", file), SETUP, workers) for workers in (1, 2))
    assert len(alone.rows) == BLOCK * 2 + 3
    assert alone.rows == shared.rows
    assert alone.problems.as_dict() == shared.problems.as_dict()
    assert alone.problems.as_dict()["records_unreadable"]["count"] == 1


def test_rows_do_not_depend_on_the_order_of_questions(tmp_path):
    records = many(BLOCK + 2)
    rows = measure_output(Output("a", write_output(tmp_path / "a.json", records)), SETUP, 1).rows
    turned = write_output(tmp_path / "b.json", records[::-1])
    assert measure_output(Output("b", turned), SETUP, 1).rows == rows[::-1]


def test_a_file_of_lines_is_read_too_and_a_compressed_one(tmp_path):
    import gzip

    records = two_of_three()
    plain = measure_output(
        Output("a", write_output(tmp_path / "a.json", records, indent=None)), SETUP, 1
    )
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(r) + "\n" for r in records))
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.json").read_bytes()))
    for file in (lines, packed):
        assert measure_output(Output("a", file), SETUP, 1).rows == plain.rows


def test_passages_for_a_judge_are_kept_only_when_one_is_asked(tmp_path):
    output = Output("a", write_output(tmp_path / "a.json", two_of_three()))
    assert measure_output(output, SETUP, 1).candidates == [[], [], []]
    judged = Setup(k=10, correct="annotated", judged=True)
    *_, (candidate,) = measure_output(output, judged, 1).candidates
    assert (candidate.query_id, candidate.passage_id, candidate.rank) == ("c", "p3", 2)


def test_given_judgements_and_answers_replace_those_of_the_file(tmp_path):
    output = Output("a", write_output(tmp_path / "a.json", two_of_three()))
    setup = Setup(
        k=10, correct="annotated", qrels={"b": {"p2": 1, "p1": 0}}, answers={"b": ("city",)}
    )
    rows = {row["query_id"]: row for row in measure_output(output, setup, 1).rows}
    assert (rows["b"]["hit_1"], rows["b"]["positives"], rows["b"]["answer_hit_1"]) == (1, 1, 1)
    assert rows["a"]["hit_1"] is None, "not judged"
    assert rows["a"]["answer_hit_1"] == 1, "keeps its own answers"


def test_a_plainly_named_file_is_called_by_its_folder(tmp_path):
    from argus.data.fields import FieldNames

    (tmp_path / "seal").mkdir()
    files = [
        write_output(tmp_path / "seal" / "dpr.json", two_of_three()),
        write_output(tmp_path / "minder_nq.json", two_of_three()),
    ]
    opened = open_outputs(files, corpus=None, queries=None, fields=FieldNames())
    assert [output.name for output in opened] == ["seal", "minder_nq"]
