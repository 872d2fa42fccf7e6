import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document
from argus.errors import ArgusError, EncodingError, InputError
from argus.retrievability.probes import fit, load_probe
from argus.retrievability.probes.data import read_audit
from argus.retrievability.probes.fit import fit_probe
from argus.retrievability.probes.predict import predict_rps
from tests.support.damage import wrong_types
from tests.support.examples import documents, write_rows

CITY = Document("1", "Lisbon is the capital of Portugal.", "Lisbon")


@pytest.fixture(scope="module", autouse=True)
def small_grid():
    patch = pytest.MonkeyPatch()
    one = {"width": 32, "depth": 1, "learning_rate": 1e-3, "batch_size": 64}
    trees = {"n_estimators": 30, "max_depth": 3, "jobs": 1}
    patch.setattr(fit, "QUICK", {"mlp": [one], "xgboost": [trees]})
    yield
    patch.undo()


@pytest.fixture(scope="module")
def collection(shared, tmp_path_factory):
    """400 documents of FB15k-237, related by the names in their texts."""
    path = tmp_path_factory.mktemp("collection") / "docs.jsonl"
    write_rows(path, documents(shared("fb15k237")))
    return path


@pytest.fixture(scope="module")
def audited(collection, minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    config = argus.retrievability.AuditConfig(k=(5,), pool=(100,))
    return argus.audit(collection, out=out, encoder=minilm, config=config).folder


@pytest.fixture(scope="module")
def fitted(audited):
    return fit_probe(audited)


def test_a_fit_writes_all_its_parts(fitted, audited):
    summary = fitted.summary
    names = [row["family"] for row in summary["table"]]
    assert names == ["all zero", "all one", "mean", "ridge", "xgboost", "mlp"]
    best = min(summary["table"][3:], key=lambda row: row["validation_rmse"])
    assert summary["family"] == best["family"] and summary["test"] == best["test"]
    predictions = pq.read_table(audited / "predictions.parquet").to_pylist()
    assert len(predictions) == summary["entities"]["test"]
    for row in predictions:
        assert row["residual"] == pytest.approx(row["rps"] - row["predicted"])
    again = load_probe(audited)
    read = read_audit(audited)
    np.testing.assert_array_equal(again.estimate(read.vectors), fitted.probe.estimate(read.vectors))


def test_a_missing_audit_or_store_is_named(audited, tmp_path):
    with pytest.raises(InputError, match="no audit in it"):
        fit_probe(tmp_path)
    shutil.copytree(audited, tmp_path / "moved")  # with its store inside, a moved folder works
    assert len(read_audit(tmp_path / "moved").ids) == len(read_audit(audited).ids)
    shutil.rmtree(tmp_path / "moved" / "embeddings")
    with pytest.raises(InputError, match="the store of the audit's vectors is not there"):
        read_audit(tmp_path / "moved")
    assert not (tmp_path / "moved" / "embeddings").exists()


def test_prediction_encodes_as_the_audit_did(fitted, audited, collection, minilm, tmp_path):
    """Without relations, the same entities get the vectors, hence the scores, of the audit."""
    result = predict_rps(collection, out=tmp_path, probe=audited, encoder=minilm)
    read = read_audit(audited)
    rows = {row["id"]: row for row in result.table.to_pylist()}
    expected = fitted.probe.predict(read.vectors)
    for i, id_ in enumerate(read.ids):
        if rows[id_]["state"] == "predicted":
            assert rows[id_]["rps"] == pytest.approx(expected.rps[i], abs=1e-3)
        assert rows[id_]["domain_score"] == pytest.approx(expected.domain_score[i], abs=1e-2)


def test_entities_without_text_or_that_fail_are_counted_apart(minilm, tmp_path):
    class Picky:
        fingerprint, dim = minilm.fingerprint, minilm.dim

        def encode_spans(self, texts, spans):
            if any("Vesuvius" in text for text in texts):
                raise EncodingError("too hot", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    documents = [
        CITY,
        Document("2", "Vesuvius is a volcano near Naples.", "Vesuvius"),
        Document("3", "", "Nothing"),
        Document("4", "0x00 0x7f 0x10 0xff 7781 9920 1123 8812 0xab 0xcd " * 4, "0x7f 0x10"),
    ]
    result = predict_rps(documents, out=tmp_path, encoder=Picky())  # the shipped probe
    states = dict(
        zip(result.table["id"].to_pylist(), result.table["state"].to_pylist(), strict=True)
    )
    assert states == {"1": "predicted", "2": "failed", "3": "not applicable", "4": "abstained"}
    row = result.table.to_pylist()[3]
    assert row["rps"] is None and row["domain_score"] is not None and "unlike" in row["reason"]


def test_a_probe_of_another_encoder_or_pooling_is_refused(audited, minilm, tmp_path):
    class Other:
        fingerprint, dim = "other@1", 384

        encode_spans = encode_queries = encode_documents = None

    class SentencesOnly(Other):
        fingerprint, pools_spans = minilm.fingerprint, False

    for given, message in [
        ({"probe": audited, "encoder": Other()}, r"(?s)all-MiniLM-L6-v2.*other@1"),
        ({"encoder": Other()}, "no probe ships for other@1"),
        ({"probe": audited, "encoder": SentencesOnly()}, "a probe of span-pooled vectors"),
        ({"pooling": "word"}, "'word'; expected one of span, sentence"),
    ]:
        with pytest.raises(InputError, match=message):
            predict_rps([CITY], out=tmp_path, **given)


@pytest.mark.parametrize("file", ["manifest.json", "summary.json"])
def test_a_damaged_audit_is_refused_by_file(audited, tmp_path, file):
    shutil.copytree(audited, tmp_path / "audit", ignore=shutil.ignore_patterns("lock"))
    path = tmp_path / "audit" / file
    sections = json.loads(path.read_text())
    used = {"inputs", "encoder", "k", "pool", "pooling"} & sections["audit"].keys()
    for place, damaged in wrong_types({key: sections["audit"][key] for key in used}):
        if place.startswith("encoder.precision") or place.endswith(("bytes", "sha256", ".dim")):
            continue
        path.write_text(json.dumps({"audit": {**sections["audit"], **damaged}}))
        with pytest.raises(ArgusError) as error:
            read_audit(tmp_path / "audit")
        if not place.startswith("encoder"):  # which is compared with the store that it names
            assert str(path) in str(error.value)
