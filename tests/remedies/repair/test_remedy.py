"""Repairs that are undone, repeated or given bad input: the index stays whole."""

import json
import re

import pytest

from argus.errors import ArgusError, EncoderMismatch, InputError
from argus.indexes.job import add_documents, delete_documents
from argus.indexes.views import ViewIndex
from argus.remedies.config import PAPER, ReferenceConfig
from argus.remedies.undo import rollback
from tests.support.repairs import receipt, remedies


def test_a_rollback_restores_the_earlier_index(repairable, index):
    before = repairable.answers(index)
    result = repairable.expand(index)
    assert repairable.answers(index) != before
    note = rollback(index, result.remedy)
    assert note["views_removed"] == result.summary["counts"]["views"]
    assert repairable.answers(index) == before
    assert json.loads((result.folder / "rolled_back.json").read_text()) == note


def test_of_two_repairs_the_first_can_be_rolled_back_alone(repairable, index, tmp_path):
    alone = repairable.copy(tmp_path / "alone")
    only = repairable.expand(alone, config=PAPER)
    before = repairable.answers(index)
    robust, paper = repairable.expand(index), repairable.expand(index, config=PAPER)
    assert paper.remedy == only.remedy
    assert paper.summary["made"]["relied_on"] == [robust.remedy]
    assert paper.summary["made"]["views_known"] > 0
    assert remedies(index) == [robust.remedy, paper.remedy]
    note = rollback(index, robust.remedy)
    assert note["relied_on_by"] == [paper.remedy]
    assert rollback(index, robust.remedy) == {**note, "already": True}
    assert remedies(index) == [paper.remedy]
    assert repairable.answers(index, "original") == before
    again = repairable.expand(index, config=PAPER)  # adds what the other one held
    assert again.summary["added"]
    assert repairable.answers(index) == repairable.answers(alone)
    assert receipt(again) == receipt(only)  # its receipt is now that of the only repair
    rollback(index, paper.remedy)
    assert repairable.answers(index) == before


def test_an_unknown_remedy_is_told_which_there_are(repairable, index):
    with pytest.raises(InputError, match="unknown remedy 'x'; expected a remedy; there is none"):
        rollback(index, "x")
    one, two = repairable.expand(index).remedy, repairable.expand(index, config=PAPER).remedy
    for name in ("x", "original", "", "../remedies", f"{one}/../{two}"):
        message = f"unknown remedy {name!r}; expected one of {one}, {two}"
        with pytest.raises(InputError, match=re.escape(message)):
            rollback(index, name)
    assert remedies(index) == [one, two]


def test_an_index_of_another_encoder_is_refused(repairable, tmp_path):
    other = ViewIndex.create(tmp_path / "i", fingerprint="another", dim=384, encoder={})
    with pytest.raises(EncoderMismatch, match="stored: another"):
        repairable.expand(other.path)
    with pytest.raises(InputError, match="does not name an encoder that can be loaded"):
        repairable.expand(other.path, encoder=None)
    with pytest.raises(InputError, match="no such folder"):
        rollback(tmp_path / "none", "x")


def test_where_nothing_is_at_risk_it_is_said_and_nothing_changes(repairable, index, tmp_path):
    with pytest.raises(ArgusError, match=r"nothing to repair: 16 of its 16 .* none below τ=0\. "):
        repairable.expand(index, tau=0)
    kb = tmp_path / "kb.jsonl"
    kb.write_text('{"_id": "a", "title": "Timbuktu", "text": "Timbuktu is a city in Mali."}\n')
    with pytest.raises(ArgusError, match=r"no entity was found in its documents\. Check that --kb"):
        repairable.expand(index, reference=ReferenceConfig(kb=(kb,)))
    assert not (index / "remedies").exists()


def test_a_document_added_again_is_repaired_again(repairable, index):
    first = repairable.expand(index)
    delete_documents(index, ["swim"])
    with pytest.raises(ArgusError, match=f"15 are in the index already .remedy {first.remedy}"):
        repairable.expand(index)
    again = [d for d in repairable.documents if d.id == "swim"]
    add_documents(index, again, encoder=repairable.encoder)
    second = repairable.expand(index)
    assert second.remedy != first.remedy
    assert second.summary["made"]["relied_on"] == [first.remedy]
    assert second.summary["counts"]["documents_repaired"] == 1
    found = [ViewIndex.open(i).search(repairable.asked, 100) for i in (index, first.index.path)]
    assert found[0].doc_ids == found[1].doc_ids
