import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.errors import FingerprintMismatch, InputError
from argus.explanation.config import ExplainConfig, RpsSource
from argus.explanation.job import explain
from argus.explanation.types import Cause, Verdict
from argus.retrievability.probes.shipped import DEFAULTS


def test_low_predicted_rps_comes_from_the_probe_or_a_diagnosis(of, retriever, passages, tmp_path):
    found = of(explain("spacecraft", "w2-0000", retriever), Cause.ENTITIES)
    assert (
        found.evidence["measured"] + len(found.evidence["not_predicted"])
        == (found.evidence["entities"])
    )
    shown = [row["rps"] for row in found.evidence["predicted"]]
    assert shown == sorted(shown) and all(0 <= rps <= 1 for rps in shown)
    assert found.evidence["below_tau"] == sum(rps < 0.3 for rps in shown)

    rows = [
        {"doc_id": "w2-0000", "entity": "Boso", "rps": 0.12, "state": "measured", "reason": ""},
        {"doc_id": "w2-0000", "entity": "Hucbert", "rps": None, "state": "not applicable",
         "reason": "beyond the probe's training region"},
        {"doc_id": "w2-0001", "entity": "Elmham", "rps": 0.7, "state": "measured", "reason": ""},
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "diagnosis.parquet")
    config = ExplainConfig(rps=RpsSource(diagnosis=tmp_path))
    read = explain("spacecraft to Jupiter", "w2-0000", retriever, config)
    finding = of(read, Cause.ENTITIES)
    assert finding.evidence["predicted"] == [{"entity": "Boso", "rps": 0.12}]
    assert finding.evidence["not_predicted"][0]["entity"] == "Hucbert"
    assert "no prediction for 1 more" in finding.summary and "Boso 0.12" in read.verdict
    high = of(explain("spacecraft", "w2-0001", retriever, config), Cause.ENTITIES)
    assert high.state is Verdict.RULED_OUT
    unknown = of(explain("spacecraft", "w2-0002", retriever, config), Cause.ENTITIES)
    assert unknown.state is Verdict.UNCHECKED


def test_a_knowledge_base_names_the_entities(of, retriever, tmp_path):
    kb = tmp_path / "kb.jsonl"
    kb.write_text('{"_id": "k1", "title": "Lotharingia", "text": "A kingdom."}\n')
    config = ExplainConfig(rps=RpsSource(kb=kb))
    finding = of(explain("spacecraft", "w2-0000", retriever, config), Cause.ENTITIES)
    assert finding.evidence["entities"] == 1
    kb.write_text('{"_id": "k1", "title": "", "text": "A kingdom."}\n')
    with pytest.raises(InputError, match="has a title"):
        explain("spacecraft", "w2-0000", retriever, config)


def test_without_a_probe_rps_is_unchecked_and_says_how_to_fit(
    indexed, of, passages, prompted, tmp_path
):
    rows = prompted.encode_documents([d.content for d in passages[:12]])
    retriever = indexed(tmp_path / "idx", passages[:12], rows, prompted)
    found = explain("spacecraft", "w2-0000", retriever, ExplainConfig(k=2))
    assert of(found, Cause.ENTITIES).state is Verdict.UNCHECKED
    assert "argus probe fit" in of(found, Cause.ENTITIES).summary
    assert of(found, Cause.VECTOR).state is Verdict.RULED_OUT
    (folder,) = (header.parent for header in DEFAULTS.glob("*/span/probe.json"))
    with pytest.raises(FingerprintMismatch, match="is a probe of another encoder"):
        explain("spacecraft", "w2-0000", retriever,
                ExplainConfig(rps=RpsSource(probe=folder)))  # fmt: skip
