import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document, Query
from argus.encoders import EmbeddingStore, Item, Role
from argus.errors import ArgusError, NothingMeasured
from tests.support.results import shown, sizes
from tests.support.word_encoder import WordEncoder

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


@pytest.fixture(scope="module")
def result(minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("exposure")
    return argus.exposure(
        DOCUMENTS,
        out=out,
        encoder=minilm,
        config=argus.ExposureConfig(k=1, sentences=2),
        queries=[Query("q", "Which piece moves diagonally?")],
    )


def test_every_document_has_a_state_and_a_reason(result):
    rows = {row["id"]: row for row in result.table.to_pylist()}
    assert list(rows) == sorted(rows)
    assert rows["bread"]["state"] == "measured" and rows["bread"]["own_probes"] == 3
    assert rows["short"]["state"] == "not applicable"
    assert rows["short"]["reason"] == "no title; fewer than two sentences"
    assert rows["empty"] | {"label": ""} == rows["empty"]
    assert rows["empty"]["state"] == "not applicable" and rows["empty"]["reason"] == "no text"
    assert rows["empty"]["title_rank"] is None and rows["empty"]["never_retrieved"] is None


def test_titles_find_documents_and_a_query_counts_for_its_own(result):
    rows = {row["id"]: row for row in result.table.to_pylist()}
    assert [rows[name]["title_rank"] for name in ("bread", "tides", "chess")] == [1, 1, 1]
    assert rows["chess"]["retrieved_by_others"] >= 1
    assert result.summary["queries"] == 3 + 6 + 1


class LosingQueries(WordEncoder):
    fingerprint = "words that are no queries"

    def encode_queries(self, texts):
        return np.full((len(texts), self.dim), np.nan, np.float32)


def test_probes_without_a_vector_are_no_measurement(tmp_path):
    with pytest.raises(NothingMeasured, match=r"no probe has a vector. the encoder returned"):
        argus.exposure(DOCUMENTS, out=tmp_path, encoder=LosingQueries())


def test_a_sentence_probe_uses_the_document_without_the_sentence(result, minilm):
    """The stand-in that was embedded for a probe is the text less exactly that sentence."""
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


def test_the_files_agree_with_the_result(result):
    assert pq.read_table(result.folder / "exposure.parquet").equals(result.table)
    summary = json.loads((result.folder / "summary.json").read_text())["exposure"]
    assert summary["documents"]["total"] == 5
    assert summary["documents"]["measured"] + summary["documents"]["not applicable"] == 5
    manifest = json.loads((result.folder / "manifest.json").read_text())["exposure"]
    assert manifest["encoder"]["fingerprint"].startswith("sentence-transformers:all-MiniLM-L6-v2@")
    assert (result.folder / "misses.csv").is_file() and result.report.is_file()


def test_misses_name_what_was_returned_instead(result):
    for miss in result.misses.to_pylist():
        assert miss["rank"] > 1 and miss["displaced_by"]


def test_a_corpus_without_text_is_refused(minilm, tmp_path):
    with pytest.raises(ArgusError, match="no document has text"):
        argus.exposure([Document("a", "  ")], out=tmp_path / "out", encoder=minilm)


def test_documents_beyond_the_window_are_counted(minilm, tmp_path):
    long = Document("long", "word " * 600, "Long")
    result = argus.exposure([long, *DOCUMENTS[:2]], out=tmp_path, encoder=minilm)
    window = result.summary["text_window"]
    assert window["texts_cut"] == 1 and window["tokens_unread"] == 603 - 256


def test_an_exposure_shows_its_figures(result, monkeypatch):
    assert shown(result)[0] == "found by their title, top 1: 100.0% (first: 100.0%) of 3 probes"
    assert sizes(result, monkeypatch) == {"table": 5, "misses": result.misses.num_rows}
