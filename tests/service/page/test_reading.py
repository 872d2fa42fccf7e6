"""Results of a folder as the pages read them: judged questions, receipts, marked texts."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import Document, Query
from argus.generative.answer import HitKey
from argus.indexes.job import build_index
from argus.indexes.words import STEMMED
from argus.remedies.blend import blend_index
from argus.service.page.generative import split_by_ngrams
from argus.service.page.questions import read_judged
from argus.service.page.repairs import Changes, made_already, read_receipts
from argus.service.page.why_not import mark_terms, shared_terms

TEXT = st.text("abc déß<>&'\" ſﬁ-_.", max_size=60)
DOCUMENTS = [
    Document("a", "It forgets the oldest. It is fast."),
    Document("b", "Heaps are queues."),
]


def write(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_questions_that_were_not_met_come_first_as_they_were_asked_last(tmp_path):
    ids = ["q1", "q2", "q3"]
    write(
        tmp_path, "questions", query_id=ids, question=["near", "lost", "far"],
        wanted=["b", "a", "c, d"], rank=[3, None, 4],
    )  # fmt: skip
    first = read_judged(tmp_path)
    assert (first["rows"][0]["text"], first["total"], first["met"]) == ("lost", 3, 2)
    write(
        tmp_path, "per_query", query_id=ids, text=["near", "lost", "far"], state=["measured"] * 3,
        **{"rank before": [3, None, 4], "rank after": [3, None, 11]},
    )  # fmt: skip
    assert [(row["text"], row["wanted"], row["rank"]) for row in read_judged(tmp_path)["rows"]] == [
        ("lost", "a", None), ("far", "c, d", 11), ("near", "b", 3)
    ]  # fmt: skip


def test_a_blend_keeps_what_was_measured_of_it(minilm, tmp_path):
    index = tmp_path / "index"
    build_index(DOCUMENTS, out=index, encoder=minilm)
    questions, qrels = [Query("q", "forget the oldest")], {"q": {"a": 1}}
    result = blend_index(index, encoder=minilm, queries=questions, qrels=qrels, out=index)
    (receipt,) = read_receipts(index, [])
    assert receipt.difference is not None and receipt.changes is not None
    summary = json.loads((index / "summary.json").read_text())
    after = summary["evaluation"]["systems"][1]
    after["name"] = after["name"].replace(result.remedy, "expand-robust-0")
    (index / "summary.json").write_text(json.dumps(summary))
    (receipt,) = read_receipts(index, [])
    assert receipt.difference == result.summary["parts"][-1]["ndcg10"]
    assert receipt.changes is None


def test_harmed_questions_come_first_and_nothing_is_tried_twice():
    rows = [{"difference": difference} for difference in (0.2, -0.1, 0.0, 0.5, -0.4)]
    changes = Changes.of(rows)
    assert [row["difference"] for row in changes.rows] == [-0.4, -0.1, 0.5, 0.2]
    assert changes[1:] == (2, 2, 1)
    assert made_already(["blend", "expand", None]) == {"kb": "expand"}
    assert made_already(["adapt", "scenarios"]) == {"profiles": "scenarios and adapt"}


@given(TEXT, TEXT)
def test_what_is_marked_is_said_by_the_question(question, text):
    terms = shared_terms(question, [text], STEMMED)
    pieces = mark_terms(text, terms, STEMMED)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(terms & set(STEMMED.documents(piece)) for piece, is_shared in pieces if is_shared)


@given(TEXT, st.lists(TEXT, max_size=4))
def test_ngrams_are_marked_where_the_text_says_them(text, ngrams):
    pieces = split_by_ngrams(text, [HitKey(words, 1, 1.0, "body") for words in ngrams], "")
    assert "".join(piece for piece, _ in pieces) == text
    marked = [is_said for piece, is_said in pieces for _ in piece]
    for words in filter(None, (words.strip() for words in ngrams)):
        at = text.find(words)
        assert at < 0 or all(marked[at : at + len(words)])
