"""ARGUS' Table 4 as a recipe: measured where the models are, by a plain count the same."""

from statistics import fmean

import numpy as np
import pytest

from argus.encoders.load import PACKAGED_NAMES
from argus.suite.recipes import GoldRequest, read_recipe
from argus.suite.reproduce import reproduce
from argus.suite.sources import SOURCES, Setting
from tests.support.diagnosing import table
from tests.support.suites import draw, read_rows
from tests.support.tasks import bright

COLUMN = "ImpliRet, first half of wknow, multi (not in the paper)"
ROW = "MiniLM, k = {} (not in the paper)"


@pytest.fixture(scope="module")
def data(shared, tmp_path_factory):
    """Return a folder of data with 30 of ImpliRet's questions, each with its own document."""
    data = tmp_path_factory.mktemp("gold")
    draw(shared("impliret_wknow_multi"), data / "impliret_wknow_multi", questions=30, others=0)
    (data / "stdlib").mkdir()
    (data / "stdlib" / "corpus.jsonl").touch()  # nothing to measure: the cells of it fail
    return data


def plain(collection, diagnosis, minilm, k):
    """Return the difference by its words: every question has one relevant document."""
    documents, queries = (read_rows(collection / f"{n}.jsonl") for n in ("corpus", "queries"))
    highest = {}
    for row in table(diagnosis):
        if row["rps"] is not None:
            highest[row["doc_id"]] = max(row["rps"], highest.get(row["doc_id"], 0))
    vectors = np.array(minilm.encode_documents([d["text"] for d in documents]))
    ids = [document["_id"] for document in documents]
    groups = {True: [], False: []}
    asking = minilm.encode_queries([query["text"] for query in queries])
    for query, vector in zip(queries, asking, strict=True):
        top = {ids[i] for i in np.argsort(-(vectors @ vector))[:k]}
        gold = query["_id"].replace("-q", "-d")
        if gold in highest:
            groups[gold in top].append(highest[gold])
    return 100 * (fmean(groups[True]) - fmean(groups[False]))


def test_retrieved_and_other_relevant_documents_differ_as_a_plain_count_says(
    data, minilm, tmp_path
):
    result = reproduce("argus-4", out=tmp_path, data=data)
    cells = {(cell["row"], cell["column"]): cell for cell in result.summary["cells"]}
    (folder,) = (tmp_path / "argus-4").glob("gold-*/diagnosis")
    for k in (10, 20):
        expected = plain(data / "impliret_wknow_multi", folder, minilm, k)
        assert cells[ROW.format(k), COLUMN]["measured"] == pytest.approx(expected, abs=0.05)
    all_read = cells["MiniLM, k = 50 (not in the paper)", COLUMN]
    assert all_read["state"] in ("measured", "not run")
    bge = cells["BGE-M3, k = 10", "PIQA"]
    assert (bge["published"], bge["state"]) == (-8.23, "not run")
    assert "DATA/RAR-b is not here" in bge["reason"]


def test_the_papers_rows_are_ready_but_for_data_encoder_probe_and_tagger(tmp_path, monkeypatch):
    recipe = read_recipe("argus-4", {"data": tmp_path, "stdlib": tmp_path / "stdlib"})
    (request,) = {
        cell.parts[0] for cell in recipe.cells
        if (cell.row, cell.column) == ("JINA, k = 20", "Biology")
    }  # fmt: skip
    setting = Setting(tmp_path, tmp_path / "stdlib", tmp_path / "out", tmp_path / "out", 0.0)

    def lacking():
        return SOURCES[GoldRequest].lacking(request, setting)

    assert "BRIGHT is not here" in lacking()
    bright(tmp_path / "BRIGHT")
    assert lacking() == "the model jinaai/jina-embeddings-v3 is not on this machine"
    monkeypatch.setattr("argus.encoders.load.PACKAGED_NAMES", {*PACKAGED_NAMES, request.encoder})
    assert lacking().endswith("argus is not here")
    (tmp_path / "argus" / "probes" / "JINA-V3").mkdir(parents=True)
    assert lacking() == "the model dslim/bert-base-NER is not on this machine"
