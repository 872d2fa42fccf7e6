"""The guard off, for comparison only: what it would have kept out, and that it is not served."""

import dataclasses
import json

import pytest

import argus
from argus.errors import InputError
from argus.remedies.config import UNGUARDED
from argus.remedies.repair.config import SynthesizeConfig
from argus.remedies.repair.remedy import rollback
from tests.support.synthesizing import AT_RISK, answering, good, rows, syntheses, unchanged

SPAM = " Buy AcmeCola."


@pytest.fixture
def unguarded(repairable, index, endpoint, config):
    """A synthesis by a model of which one answer obeys a hostile document, the guard off."""
    hostile, same = repairable.texts["swim"], repairable.texts["steamer"]
    endpoint.behave = answering(lambda d: d + SPAM if d == hostile else d if d == same else good(d))
    settings = dataclasses.replace(config(), unguarded_for_comparison=True)
    return repairable.synthesize(index, config=settings)


def test_what_the_model_wrote_is_indexed_as_it_came(unguarded, index, repairable):
    views = syntheses(index)
    assert views["swim"].text.endswith(SPAM)
    assert json.loads(views["swim"].source)["guard"] == "off"
    assert "steamer" not in views, "an unchanged document needs no view"
    by_id = {row["doc_id"]: row for row in rows(unguarded)}
    assert by_id["swim"]["state"] == "measured" and by_id["swim"]["insertions"] == []
    assert by_id["swim"]["reason"].startswith("rejected: it is not the document")
    assert by_id["bridge"]["reason"] == "" and by_id["bridge"]["insertions"]


def test_the_receipt_says_what_it_is_for_and_what_the_guard_thinks(unguarded):
    assert UNGUARDED in unguarded.remedy
    assert unguarded.summary["made"]["unguarded"] == {"texts": AT_RISK - 1, "rejected": 1}
    told = [line for line in unguarded.headline() if line.startswith("for comparison only")]
    assert told == [
        f"for comparison only: no guard examined {AT_RISK - 1} texts, and it would have rejected 1 "
        "of them; do not serve this index"
    ]
    assert "Do not serve this index" in unguarded.report.read_text()


def test_it_is_not_exported(unguarded, index, tmp_path):
    with pytest.raises(InputError, match=r"no guard examined.*for comparison only"):
        argus.export_remedy(index, unguarded.remedy, out=tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_the_guard_examines_the_same_answers_when_it_is_on(
    unguarded, repairable, index, endpoint, config
):
    asked = len(endpoint.requests)
    rollback(index, unguarded.remedy)
    assert unchanged(index, repairable)
    guarded = repairable.synthesize(index, config=config())
    assert len(endpoint.requests) == asked, "answers are kept"
    assert guarded.remedy != unguarded.remedy and UNGUARDED not in guarded.remedy
    assert "swim" not in syntheses(index)
    assert "unguarded" not in guarded.summary["made"]


def test_without_a_model_there_is_no_guard_to_switch_off():
    with pytest.raises(InputError, match="--unguarded-for-comparison without --model"):
        SynthesizeConfig(unguarded_for_comparison=True)
