import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document, Query, View
from argus.errors import InputError
from argus.evaluation.comparison import compare_folders, compare_retrievers
from argus.indexes.views import ViewIndex
from tests.support.results import unbound

DOCUMENTS = [
    Document("bread", "Sourdough rises slowly. Flour, water and salt are all it needs.", "Bread"),
    Document("tides", "The moon pulls the oceans. Harbours fill and empty with it.", "Tides"),
    Document("chess", "Bishops move along diagonals. The game ends with the king.", "Chess"),
]


def exposed(out, minilm, documents=DOCUMENTS, k=1):
    config = argus.ExposureConfig(k=k, sentences=1)
    argus.exposure(documents, out=out, encoder=minilm, config=config)
    return out


def rewrite(folder, name, change):
    """Write a table again with `change(row)` applied: results of another encoder."""

    table = pq.read_table(folder / f"{name}.parquet")
    rows = [change(dict(row)) for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{name}.parquet")


@pytest.fixture(scope="module")
def folders(minilm, tmp_path_factory):
    root = tmp_path_factory.mktemp("compare")
    return exposed(root / "a", minilm), exposed(root / "b", minilm)


def test_a_document_that_is_never_retrieved_any_more_is_lost(minilm, tmp_path):
    first, second = exposed(tmp_path / "a", minilm), unbound(exposed(tmp_path / "b", minilm))
    rewrite(
        second, "exposure",
        lambda row: row
        | ({"never_retrieved": True, "title_rank": 3} if row["id"] == "tides" else {}),
    )  # fmt: skip
    result = compare_folders(first, second, out=tmp_path / "out")
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["label"]) == ("tides", "Tides")
    assert (lost["before"], lost["after"]) == ("retrieved", "never retrieved")
    back = compare_folders(second, first, out=tmp_path / "back")
    assert [row["id"] for row in back.summary["gained"]] == ["tides"]
    assert pq.read_table(tmp_path / "out" / "comparison.parquet").equals(result.table)
    assert result.table["verdict"].to_pylist()[0] == "lost", "what was lost comes first"


def test_folders_that_cannot_be_compared_are_refused(minilm, folders, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        compare_folders(folders[0], tmp_path / "none", out=tmp_path / "out")
    with pytest.raises(InputError, match="no run in it"):
        compare_folders(folders[0], tmp_path, out=tmp_path / "out")
    with pytest.raises(InputError, match="is one of the folders"):
        compare_folders(*folders, out=folders[1])
    other = exposed(tmp_path / "x", minilm, [Document("a", "Rain falls.", "Rain")])
    with pytest.raises(InputError, match="no documents in common"):
        compare_folders(folders[0], other, out=tmp_path / "out")
    deeper = exposed(tmp_path / "y", minilm, k=2)
    with pytest.raises(InputError, match="not measured alike: k 1"):
        compare_folders(folders[0], deeper, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def indexes(minilm, tmp_path_factory):
    """An index with a remedy that makes the chess document answer for bread."""
    path = tmp_path_factory.mktemp("indexes") / "index"
    made = ViewIndex.create(
        path, fingerprint=minilm.fingerprint, dim=minilm.dim,
        encoder={"model": "all-MiniLM-L6-v2", "precision": "float32"},
    )  # fmt: skip
    views = [View(d.id, d.id, "original", d.text) for d in DOCUMENTS]
    made.add(views, minilm.encode_documents([v.text for v in views]))
    extra = [View("chess:e", "chess", "expansion", "Bread")]
    made.add(extra, minilm.encode_documents([v.text for v in extra]), remedy="r1")
    return f"{path}@original", str(path)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    records = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_two_indexes_are_asked_for_every_document_by_its_title(indexes, corpus, tmp_path):
    queries = [Query("q", "moon and oceans")]
    result = compare_retrievers(
        indexes=indexes, out=tmp_path / "o", queries=queries, corpus=corpus, k=1
    )
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["value_before"], lost["value_after"]) == ("bread", 1, 2)
    assert result.summary["queries"] == {"titles": 3, "given": 1, "failed": 0}
    changes = pq.read_table(tmp_path / "o" / "comparison_queries.parquet").to_pylist()
    assert [(r["text"], r["entered"], r["left"]) for r in changes if r["changed"]] == [
        ("Bread", "Chess", "Bread")
    ]
    assert result.summary["changed_queries"] == 1
