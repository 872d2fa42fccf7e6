import numpy as np

import argus
from argus.data import Document, Query
from argus.encoders import EmbeddingStore, Item, Role

BREAD = "Sourdough rises slowly all night long. Flour, water and salt are all it needs."
TIDES = "The moon pulls the oceans twice a day. Harbours fill and empty with it."
CHESS = "Bishops move along diagonals only. The game ends when a king cannot flee."
DOCUMENTS = [
    Document("bread", BREAD, "Bread"),
    Document("tides", TIDES, "Tides"),
    Document("chess", CHESS, "Chess"),
    Document("short", "One sentence only here.", ""),
    Document("empty", "", ""),
]


def test_a_sentence_probe_uses_the_document_without_the_sentence(minilm, tmp_path):
    """The stand-in that was embedded for a probe is the text less exactly that sentence."""
    config = argus.ExposureConfig(k=1, sentences=2)
    result = argus.exposure(DOCUMENTS, out=tmp_path, encoder=minilm, config=config)
    rest = "Bread Flour, water and salt are all it needs."
    with EmbeddingStore(
        result.folder / "embeddings", fingerprint=minilm.fingerprint, dim=minilm.dim
    ) as store:
        assert Item(rest, Role.DOCUMENT).key in store
        assert Item("Sourdough rises slowly all night long.", Role.QUERY).key in store
    sentence = minilm.encode_queries(["Sourdough rises slowly all night long."])[0]
    others = minilm.encode_documents([rest, *(d.content for d in DOCUMENTS[1:4])])
    rank = 1 + int((others[1:] @ sentence > others[0] @ sentence).sum())
    second = minilm.encode_queries(["Flour, water and salt are all it needs."])[0]
    less = minilm.encode_documents(["Bread Sourdough rises slowly all night long."])[0]
    rank2 = 1 + int((others[1:] @ second > less @ second).sum())
    rows = {row["id"]: row for row in result.table.to_pylist()}
    assert rows["bread"]["sentence_rank"] == np.median([rank, rank2])
    assert (rows["short"]["state"], rows["short"]["reason"]) == (
        "not applicable", "no title; fewer than two sentences",
    )  # fmt: skip


def test_documents_that_near_questions_miss_are_named(tmp_path):
    def lost(query, k):
        return [] if "moon" in query else ["bread"]

    moon = [
        Query(f"q{i}", text) for i, text in enumerate(("the moon", "moon and oceans", "a moon"))
    ]
    flour = [Query(f"f{i}", text) for i, text in enumerate(("flour", "salt", "rises slowly"))]
    result = argus.exposure(DOCUMENTS, out=tmp_path, retriever=lost, queries=[*moon, *flour])
    rows = {row["id"]: row["near_missed"] for row in result.table.to_pylist()}
    assert rows == {"bread": 0, "tides": 3, "chess": None, "short": None, "empty": None}
    assert result.summary["near"] == {"documents": 2, "missed": 1}
    assert any(line.startswith("missed by all three questions") for line in result.headline())
    assert "Documents that near questions miss" in result.report.read_text()


def test_reworded_sentences_ask_without_their_rarer_words(tmp_path):
    asked = []
    texts = (
        "The moon pulls the oceans twice a day. It is out.",
        "The day is long, the oceans wide.",
    )
    documents = [Document(id_, text) for id_, text in zip("ab", texts, strict=True)]
    config = argus.ExposureConfig(sentences=1, reword=True)
    result = argus.exposure(
        documents, out=tmp_path, retriever=lambda query, k: asked.append(query) or ["a"],
        config=config,
    )  # fmt: skip
    assert asked == ["The the oceans day."] and result.summary["reworded"] is True
    assert any("52%, no more than chance" in line for line in result.headline())
