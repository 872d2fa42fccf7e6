"""FinSuperQA as it is made here, in the form of the released file."""

import json

import pytest

from argus.authority.benchmarks import makers
from argus.tasks.opening import open_task
from benchmarks import car_scorer


@pytest.fixture(scope="module")
def small():
    """Return the first questions of FinSuperQA with the events of their chains."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(makers, "PAIRS", 8)
        return makers.make_finsuperqa(seed=0)


def test_what_is_made_here_is_read_back_from_its_released_form(small, tmp_path):
    file = tmp_path / "finsuperqa_v1.jsonl"
    rows = list(car_scorer.released_rows(small))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    back = open_task(f"car:{file}").benchmark
    for made, read in zip(small.questions, back.questions, strict=True):
        assert (made.id, made.text, made.chain, made.hop) == (
            read.id,
            read.text,
            read.chain,
            read.hop,
        )
        assert made.gold == read.gold and dict(made.scope) == dict(read.scope)
    known = {record.id: record for record in small.records}
    for record in back.records:
        assert (record.text, record.time) == (known[record.id].text, known[record.id].time)
    ids = {record.id for record in back.records}
    pairs = {(e.superseder, e.superseded) for e in small.edges}
    assert {(e.superseder, e.superseded) for e in back.edges} == {p for p in pairs if ids >= {*p}}
