import json

import pytest

import argus
from argus.errors import EncodingError

TOPICS = ["river", "violin", "volcano", "bakery", "glacier", "orchid", "harbour", "comet"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """48 documents; each names the next one of its topic."""
    folder = tmp_path_factory.mktemp("corpus")
    rows, edges = [], ["subject\trelation\tobject"]
    for t, topic in enumerate(TOPICS):
        for i in range(6):
            id_ = f"{topic}-{i}"
            text = f"{topic.title()} {i} is a {topic} near the {topic} of place {i * 7 + t}."
            rows.append({"_id": id_, "title": f"{topic.title()} {i}", "text": text})
            edges.append(f"{id_}\tnext\t{topic}-{(i + 1) % 6}")
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / "edges.tsv").write_text("\n".join(edges) + "\n")
    return folder


CONFIG = argus.retrievability.AuditConfig(k=(3, 1), pool=(20, 30))


def test_running_again_embeds_nothing_and_gives_the_same(corpus, minilm, tmp_path):
    result = argus.audit(corpus, out=tmp_path, encoder=minilm, config=CONFIG)

    class Unusable:
        """Has the fingerprint, cannot encode: whatever is needed must come from the store."""

        fingerprint, dim = minilm.fingerprint, minilm.dim

        def encode_spans(self, texts, spans):
            raise EncodingError("must not be called")

        encode_queries = encode_documents = encode_spans

    again = argus.audit(corpus, out=tmp_path, encoder=Unusable(), config=CONFIG)
    assert again.table.equals(result.table)


def test_an_entity_that_cannot_be_embedded_is_failed_not_zero(corpus, minilm, tmp_path):
    class Picky:
        fingerprint, dim = "picky", minilm.dim

        def encode_spans(self, texts, spans):
            if any(text.startswith("Comet 2") for text in texts):
                raise EncodingError("too bright", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    result = argus.audit(corpus, out=tmp_path, encoder=Picky(), config=CONFIG)
    row = next(r for r in result.table.to_pylist() if r["id"] == "comet-2")
    assert (row["state"], row["reason"], row["rps"]) == ("failed", "too bright", None)
    assert result.summary["entities"]["failed"] == 1
    assert result.summary["entities"]["measured"] == 47
