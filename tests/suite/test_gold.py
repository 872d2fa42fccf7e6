"""ARGUS' Table 4 as a recipe: measured where the models are, by a plain count the same."""

from statistics import fmean

import numpy as np
import pytest

from argus.suite.reproduce import reproduce
from tests.support.diagnosing import table
from tests.support.suites import draw, read_rows

COLUMN = "ImpliRet, first half of wknow, multi (not in the paper)"
ROW = "MiniLM, k = {} (not in the paper)"


@pytest.fixture(scope="module")
def data(shared, tmp_path_factory):
    """Return a folder of data with 22 of ImpliRet's questions, each with its own document."""
    data = tmp_path_factory.mktemp("gold")
    draw(shared("impliret_wknow_multi"), data / "impliret_wknow_multi", questions=22, others=0)
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
