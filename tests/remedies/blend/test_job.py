"""`remedy blend` on an index: added once, searched, told, rolled back; killed, without effect."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.indexes.views import ViewIndex
from argus.remedies import blend as job
from argus.remedies.blend import blend_index
from argus.remedies.undo import list_remedies, rollback
from tests.support.results import shown

TEXTS = {
    "deque": "A list-like sequence. Appends and pops are fast near either end. "
    "A maximum length makes it forget the oldest entries.",
    "heapq": "Heap queue algorithm. It is also known as a priority queue.",
    "bisect": "Bisection algorithms. They keep a list in order without sorting it again.",
    "zlib": "Compression compatible with gzip.",
    "gzip": "Support for gzip files. It opens them as plain files are opened.",
}
QUESTIONS = [Query("q1", "forget the oldest entries"), Query("q2", "keep a list in order")]
QRELS = {"q1": {"deque": 1}, "q2": {"bisect": 1}}


@pytest.fixture
def built(minilm, tmp_path):
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    return tmp_path / "ix"


def answers(index, minilm, state=None):
    spec = f"{index}@{state}" if state else index
    return open_retriever(spec, minilm).search(QUESTIONS, 5)


def test_a_blend_is_added_once_and_comes_out_again(built, minilm):
    before = answers(built, minilm)
    result = blend_index(built, encoder=minilm)
    summary = result.summary
    assert summary["documents"] == {"total": 5, "with_views": 4, "without": 1, "joined": 0}
    assert summary["views"] == 9
    after = answers(built, minilm)
    assert after != before
    assert answers(built, minilm, f"before:{result.remedy}") == before
    again = blend_index(built, encoder=minilm)
    assert (again.remedy, again.summary["added"]) == (result.remedy, False)
    assert [r["kind"] for r in list_remedies(built)] == ["blend"]
    assert rollback(built, result.remedy)["views_removed"] == 9
    assert answers(built, minilm) == before
    assert blend_index(built, encoder=minilm).summary["added"]
    assert answers(built, minilm) == after


def test_the_receipt_tells_what_each_part_gains_and_costs(built, minilm):
    result = blend_index(built, encoder=minilm, queries=QUESTIONS, qrels=QRELS)
    parts = result.summary["parts"]
    assert [p["part"] for p in parts] == ["vectors alone", "+ sentences", "+ hubs", "+ BM25"]
    assert all(p["milliseconds"] > 0 and p["ndcg10"]["queries"] == 2 for p in parts)
    stored = [p["bytes"] for p in parts]
    assert stored[:2] == [0, result.summary["bytes"]] and min(stored[1:]) > 0
    served = open_retriever(built, minilm).search(QUESTIONS, 10)
    assert next(iter(served["q1"])) == "deque"
    assert "hubs 0.1" in shown(result)[0] and result.evaluation is not None
    assert "Part after part" in result.report.read_text()
    summary = json.loads((result.folder / "summary.json").read_text())
    assert summary["blend"]["hubness"]["sentences"] == 10


def test_smoothing_is_measured_against_vectors_that_are_not_smoothed(built, minilm):
    blend = Blend(weight=1, hubs=0, bm25=0, smoothing=0.9)
    result = blend_index(built, blend, encoder=minilm, queries=QUESTIONS, qrels=QRELS)
    alone, smoothed = result.summary["parts"]
    assert (alone["part"], smoothed["part"]) == ("vectors alone", "+ smoothing")
    assert alone["ndcg10"]["mean_difference"] == 0
    told = result.evaluation["comparison"]["nDCG@10"]
    assert smoothed["ndcg10"]["mean_before"] == pytest.approx(told["mean_before"])
    assert smoothed["ndcg10"]["mean_after"] == pytest.approx(told["mean_after"])


@pytest.mark.parametrize(
    ("blend", "views", "fused"),
    [
        (Blend(weight=1), 0, "min-max"),
        (Blend(hubs=0, bm25=0), 9, None),
        (Blend(weight=1, hubs=0), 0, "min-max"),
        (Blend(smoothing=0.4), 9, "min-max"),
    ],
)
def test_each_part_can_be_switched_off(built, minilm, blend, views, fused):
    before = answers(built, minilm)
    result = blend_index(built, blend, encoder=minilm)
    retriever = open_retriever(built, minilm)
    assert (result.summary["views"], retriever.hybrid) == (views, fused)
    assert answers(built, minilm) != before
    rollback(built, result.remedy)
    assert answers(built, minilm) == before


def test_a_blend_with_every_part_off_is_refused(built, minilm):
    with pytest.raises(InputError, match="every part off"):
        blend_index(built, Blend(weight=1, hubs=0, bm25=0), encoder=minilm)


@pytest.mark.parametrize("step", ["save", "add", "prescribe"])
def test_killed_it_changes_nothing_and_goes_on(built, minilm, monkeypatch, step):
    owner = job.ViewIndex if step != "save" else type_of_numbers()
    before = answers(built, minilm)

    def killed(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(KeyboardInterrupt):
            blend_index(built, encoder=minilm)
    assert answers(built, minilm) == before
    result = blend_index(built, encoder=minilm)
    assert result.summary["views"] == 9
    assert answers(built, minilm) == answers(built, minilm, result.remedy) != before


def test_killed_at_its_report_it_was_not_there_already(built, minilm, monkeypatch):
    def killed(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job, "write_report", killed)
        with pytest.raises(KeyboardInterrupt):
            blend_index(built, encoder=minilm)
    half = built / "views.lance" / "_versions" / ".tmpO94leL"  # the name that a kill left
    half.write_bytes(b"half")
    assert blend_index(built, encoder=minilm).summary["added"]
    assert not half.exists()
    assert not blend_index(built, encoder=minilm).summary["added"]


def test_a_rollback_killed_behind_its_commit_leaves_nothing_half_written(
    built, minilm, monkeypatch
):
    remedy = blend_index(built, encoder=minilm).remedy
    committed = job.ViewIndex.rollback

    def killed(index, name):
        committed(index, name)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job.ViewIndex, "rollback", killed)
        with pytest.raises(KeyboardInterrupt):
            rollback(built, remedy)
    half = built / "views.lance" / "_versions" / ".tmpcdgntG"  # the name that a kill left
    half.write_bytes(b"half")
    assert rollback(built, remedy)["remedy"] == remedy
    assert not half.exists()


def type_of_numbers():
    from argus.indexes.recipe import DocumentNumbers

    return DocumentNumbers


def cut(table):
    return table.slice(1)


def without_ids(table):
    return table.set_column(0, "doc_id", pa.nulls(len(table), pa.string()))


def numbered(table):
    return table.set_column(0, "doc_id", pa.array(range(len(table))))


def foreign(table):
    return table.replace_schema_metadata({"remedy": "blend-0"})


def unnamed(table):
    """As of before the remedy was named in it, of documents of another index."""
    ids = pa.array([f"x{i}" for i in range(len(table))])
    return table.set_column(0, "doc_id", ids).replace_schema_metadata(None)


@pytest.mark.parametrize(
    "change", [cut, without_ids, numbered, foreign, unnamed, lambda table: table.slice(0, 0)]
)
def test_numbers_of_other_documents_are_refused(built, minilm, change):
    result = blend_index(built, encoder=minilm)
    file = result.folder / "documents.parquet"
    whole = pq.read_table(file)
    pq.write_table(change(whole), file)
    with pytest.raises(InputError, match=r"documents\.parquet: .* Roll the remedy back"):
        answers(built, minilm)
    pq.write_table(whole, file)
    assert answers(built, minilm)


def test_an_index_of_a_dot_product_encoder_is_refused(tmp_path):
    ViewIndex.create(tmp_path / "ix", fingerprint="f", dim=4, similarity="dot")
    with pytest.raises(InputError, match="ranks by dot"):
        blend_index(tmp_path / "ix", encoder="m")
