import json

import pytest

import argus
from argus.data import Document
from argus.errors import EncodingError
from argus.knowledge import KnowledgeSource

TOPICS = ["river", "violin", "volcano", "bakery", "glacier", "orchid", "harbour", "comet"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """48 documents; each names the next one of its topic, and one has no text."""
    folder = tmp_path_factory.mktemp("corpus")
    rows, edges = [], ["subject\trelation\tobject"]
    for t, topic in enumerate(TOPICS):
        for i in range(6):
            id_ = f"{topic}-{i}"
            text = f"{topic.title()} {i} is a {topic} near the {topic} of place {i * 7 + t}."
            rows.append({"_id": id_, "title": f"{topic.title()} {i}", "text": text})
            edges.append(f"{id_}\tnext\t{topic}-{(i + 1) % 6}")
    rows[5]["text"] = ""
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / "edges.tsv").write_text("\n".join(edges) + "\n")
    return folder


@pytest.fixture(scope="module")
def result(corpus, minilm, tmp_path_factory):
    return argus.audit(
        corpus,
        out=tmp_path_factory.mktemp("audit"),
        encoder=minilm,
        config=argus.retrievability.AuditConfig(k=(3, 1), pool=(20, 30)),
    )


def test_the_table_has_one_row_per_entity_and_every_setting(result):
    assert result.table.num_rows == 48
    for name in ("id", "label", "rps", "low", "high", "related", "state", "band", "reason"):
        assert name in result.table.column_names
    for name in ("rps_k3_n30", "rps_k1_n20", "rps_k1_n30"):
        assert result.table[name].null_count == 1
    rows = result.table.to_pylist()
    for row in rows:
        if row["state"] == "measured":
            assert 0 <= row["low"] <= row["rps"] <= row["high"] <= 1
            assert (
                row["rps_k1_n20"] <= row["rps"] + 1e-12 and row["rps_k3_n30"] <= row["rps"] + 1e-12
            )


def test_an_entity_without_paragraph_is_not_applicable_and_null(result):
    row = next(r for r in result.table.to_pylist() if r["id"] == "river-5")
    assert (row["state"], row["reason"], row["rps"]) == ("not applicable", "no paragraph", None)
    assert result.summary["entities"]["reasons"] == {"no paragraph": 1}
    assert result.summary["pairs"]["without_vector"] == 4


def test_running_again_embeds_nothing_and_gives_the_same(result, corpus):
    class Unusable:
        """Has the fingerprint, cannot encode: whatever is needed must come from the store."""

        fingerprint = json.loads((result.folder / "manifest.json").read_text())["audit"]["encoder"][
            "fingerprint"
        ]
        dim = 384

        def encode_spans(self, texts, spans):
            raise EncodingError("must not be called")

        encode_queries = encode_documents = encode_spans

    again = argus.audit(
        corpus,
        out=result.folder,
        encoder=Unusable(),
        config=argus.retrievability.AuditConfig(k=(3, 1), pool=(20, 30)),
    )
    assert again.table.equals(result.table)


def test_an_entity_that_cannot_be_embedded_is_failed_not_zero(corpus, minilm, tmp_path):
    class Picky:
        fingerprint, dim = "picky", minilm.dim

        def encode_spans(self, texts, spans):
            if any(text.startswith("Comet 2") for text in texts):
                raise EncodingError("too bright", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    result = argus.audit(
        corpus,
        out=tmp_path,
        encoder=Picky(),
        config=argus.retrievability.AuditConfig(k=(3,), pool=(20,)),
    )
    row = next(r for r in result.table.to_pylist() if r["id"] == "comet-2")
    assert (row["state"], row["reason"], row["rps"]) == ("failed", "too bright", None)
    assert result.summary["entities"]["failed"] == 1
    assert result.summary["entities"]["measured"] == 46


def test_relations_from_mentions_need_no_file(minilm, tmp_path):
    names = ["Alder Hall", "Birch House", "Cedar Lodge", "Dogwood Inn", "Elm Court", "Fir Gate"]
    documents = [
        Document(f"d{i}", f"{name} stands beside {names[(i + 1) % 6]}.", name)
        for i, name in enumerate(names)
    ]
    result = argus.audit(
        documents,
        out=tmp_path,
        source=KnowledgeSource(relations="mentions"),
        encoder=minilm,
        config=argus.retrievability.AuditConfig(k=(1,), pool=(3,)),
    )
    assert result.summary["pairs"]["related"] == 12
    assert result.summary["entities"]["measured"] == 6
