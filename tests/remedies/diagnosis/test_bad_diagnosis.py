"""What a diagnosis refuses, and how it says so."""

import pytest

from argus.errors import InputError
from argus.remedies.config import ReferenceConfig
from argus.remedies.diagnosis import diagnose
from argus.remedies.reference import read_passages
from argus.retrievability.probes import save_probe
from tests.support.diagnosing import BERN, CAPITALS, jsonl, probe_for


def refusal(tmp_path, minilm, **options):
    """Diagnose what must be refused; return the message."""
    options = {"reference": CAPITALS, "encoder": minilm} | options
    with pytest.raises(InputError) as refused:
        diagnose(BERN, out=tmp_path / "out", **options)
    return str(refused.value)


def test_a_threshold_and_a_knowledge_base_of_no_use_are_refused(tmp_path, minilm):
    assert refusal(tmp_path, minilm, tau=2).startswith("--tau: τ=2; expected a number from")
    kb = jsonl(
        tmp_path / "kb.jsonl", [{"_id": "a", "text": "Bern is old."}, {"_id": "b", "text": "x"}]
    )
    message = refusal(tmp_path, minilm, reference=ReferenceConfig(kb=(kb,)))
    assert message.startswith("no name of 2 documents is left (none has any); expected titles")
    assert not (tmp_path / "out").exists()


def test_the_gazetteer_needs_a_knowledge_base(tmp_path):
    with pytest.raises(InputError) as refused:
        ReferenceConfig()
    assert str(refused.value).startswith("--kb: no knowledge base for the gazetteer")
    assert "--mentions capitals" in str(refused.value)
    for wrong in ("regex", "ner: ", "gazetteer:x", ""):
        with pytest.raises(InputError, match="expected gazetteer, capitals, ner, or ner:MODEL"):
            ReferenceConfig(mentions=wrong)


def test_ids_of_several_knowledge_bases_are_told_apart(tmp_path):
    first = jsonl(tmp_path / "1.jsonl", [{"_id": "x", "title": "Bern", "text": "A city."}])
    second = jsonl(tmp_path / "2.jsonl", [{"_id": "x", "title": "Bern", "text": "A canton."}])
    reference = ReferenceConfig(kb=(first, second))
    assert [(p.id, p.text) for p in read_passages(reference)] == [
        ("1:x", "A city."), ("2:x", "A canton."),
    ]  # fmt: skip
    assert [p.id for p in read_passages(ReferenceConfig(kb=(first,)))] == ["x"]


def test_a_probe_of_another_encoder_is_refused_with_both_named(tmp_path, minilm):
    other = minilm.fingerprint.replace("all-MiniLM-L6-v2", "another-model")
    folder = save_probe(probe_for(minilm, fingerprint=other), tmp_path / "probe")
    message = refusal(tmp_path, minilm, probe=folder)
    assert message.startswith(f"{folder}: a probe of {other}")
    assert minilm.fingerprint in message and "argus research probe fit" in message
