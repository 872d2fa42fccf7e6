import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data import Document, Query, View
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.indexes.views import ViewIndex
from argus.tuning.doors import compare_retrievers

QUERIES = [
    Query("q1", "Who ruled Lotharingia?"),
    Query("q2", "When did Teutberga die?"),
    Query("q3", "An unjudged question"),
    Query("q4", "Only wrong answers are judged"),
    Query("q5", "Which bishop was consecrated?"),
]
QRELS = {
    "q1": {"d1": 2, "gone": 1},
    "q2": {"d1": 1},
    "q4": {"d2": 0},
    "q5": {"d2": 1, "d3": 1},
    "elsewhere": {"d1": 1},
}
BEFORE = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 3.0, "d2": 1.0}, "q5": {"d2": 1.0}}
AFTER = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 3.0, "d1": 2.0}, "q5": {"d2": 1.0, "d3": 0.5}}
CORPUS = [
    {"_id": "d1", "title": "Teutberga", "text": "Teutberga was a queen of Lotharingia."},
    {"_id": "d2", "title": "Theodred", "text": "Theodred was a medieval bishop."},
    {"_id": "d3", "title": "", "text": "A cow."},
]
CONFIG = EvaluateConfig(resamples=1000)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(d) + "\n" for d in CORPUS))
    return path


@pytest.mark.parametrize("value", [float("nan"), 10**400, 1j, "x", None])
def test_a_score_or_grade_that_is_none_is_refused(tmp_path, value):
    row = {"q1": {"d2": 1, "d1": value}}
    with pytest.raises(InputError, match=r"\['q1'\]\['d1'\]: .*finite number"):
        evaluate(QUERIES, QRELS, runs=[row], out=tmp_path, config=CONFIG)
    with pytest.raises(InputError, match=r"qrels\['q1'\]\['d1'\]: .*whole number"):
        evaluate(QUERIES, row, runs=[AFTER], out=tmp_path, config=CONFIG)


@pytest.fixture
def result(corpus, tmp_path):
    return evaluate(
        QUERIES, QRELS, out=tmp_path / "out", runs=[BEFORE, AFTER], corpus=corpus, config=CONFIG
    )


def test_both_systems_their_difference_and_who_was_harmed(result):
    rows = {row["query_id"]: row for row in result.table.to_pylist()}
    assert (rows["q1"]["RR before"], rows["q1"]["RR after"]) == (0.5, 1.0)
    assert rows["q2"]["RR difference"] == -0.5
    assert rows["q3"]["state"] == "not applicable" and rows["q3"]["RR before"] is None
    assert (rows["q1"]["rank before"], rows["q1"]["rank after"]) == (2, 1)
    (harmed,) = result.summary["harmed"]
    assert harmed["query_id"] == "q2" and harmed["text"] == "When did Teutberga die?"
    assert (harmed["rank_before"], harmed["rank_after"]) == (1, 2)
    found = result.summary["comparison"]["nDCG@10"]
    assert (found["improved"], found["harmed"], found["unchanged"]) == (2, 1, 0)


def test_the_statistic_of_table_4_is_read_from_a_diagnosis(tmp_path, corpus):
    rows = [
        {"doc_id": "d1", "entity": "Teutberga", "rps": 0.4, "state": "measured"},
        {"doc_id": "d1", "entity": "Lotharingia", "rps": 0.9, "state": "measured"},
        {"doc_id": "d2", "entity": "Theodred", "rps": None, "state": "failed"},
        {"doc_id": "d3", "entity": "cow", "rps": 0.2, "state": "measured"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "diagnosis.parquet")
    result = evaluate(
        QUERIES, QRELS, out=tmp_path / "out", runs=[BEFORE], corpus=corpus, diagnosis=tmp_path,
        config=CONFIG,
    )  # fmt: skip
    assert result.summary["association_left_out"] == [10, 20, 50], "two documents per query"
    deep = {q: docs | {f"x{i}": -1.0 - i for i in range(20)} for q, docs in BEFORE.items()}
    result = evaluate(
        QUERIES, QRELS, out=tmp_path / "out", runs=[deep], corpus=corpus, diagnosis=tmp_path,
        config=EvaluateConfig(resamples=1000, depth=10, measures=("nDCG@10",)),
    )  # fmt: skip
    assert result.summary["association_left_out"] == [20, 50], "they would repeat k = 10"
    (at_10,) = result.summary["association"][0]
    assert (at_10["k"], at_10["retrieved"], at_10["unretrieved"]) == (10, 2, 1)
    assert at_10["difference"] == pytest.approx(0.9 - 0.2)
    assert (at_10["not_indexed"], at_10["without_rps"]) == (1, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qrels": {"a1": {"d1": 1}}}, "the judgements name none of the 5 queries (they name 'a1'"),
        ({"qrels": {"q1": {"d1": 0}}}, "the judgements hold no relevant document for any query"),
        ({"runs": [{"zz": {"d1": 1.0}}]}, "answers none of the 5 queries (it has 'zz')"),
        ({"runs": []}, "0 indexes, 0 retrievers and 0 runs; expected one system, or two"),
        ({"qrels": {"q1": {"x1": 1}}}, "holds none of the 1 relevant documents ('x1')"),
    ],
)
def test_unrelated_input_is_refused_and_nothing_is_written(tmp_path, corpus, change, message):
    given = {"queries": QUERIES, "qrels": QRELS, "runs": [BEFORE]} | change
    out = tmp_path / "out"
    with pytest.raises(InputError) as raised:
        evaluate(given.pop("queries"), given.pop("qrels"), out=out, corpus=corpus, **given)
    assert message in str(raised.value) and not out.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 10}, "--depth: a measure reads 100 documents of runs of 10"),
        ({"headline": "AP"}, "headline 'AP'; expected one of the measures"),
        ({"resamples": 999}, "--resamples: 999; expected a whole number from 1,000"),
        ({"measures": ()}, "--measures: no measure; expected at least one"),
        ({"measures": ("nDCG@0",)}, "measure 'nDCG@0' has the cutoff 0"),
        ({"measures": ("nDGC@10",), "headline": "nDGC@10"}, "measure 'nDGC@10'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings, message):
    with pytest.raises(InputError) as raised:
        EvaluateConfig(**settings)
    assert message in str(raised.value)


@pytest.fixture(scope="module")
def index(minilm, tmp_path_factory):
    """Three documents, and a remedy that gives d3 more views."""
    path = tmp_path_factory.mktemp("index") / "index"
    made = ViewIndex.create(
        path, fingerprint=minilm.fingerprint, dim=minilm.dim,
        encoder={"model": "all-MiniLM-L6-v2"},
    )  # fmt: skip
    documents = [Document(d["_id"], d["text"], d["title"]) for d in CORPUS]
    views = [View(f"{d.id}:o", d.id, "original", d.content) for d in documents]
    made.add(views, minilm.encode_documents([v.text for v in views]))
    texts = ("A cow. Teutberga died on 11 November 875.", "Teutberga")
    extra = [View(f"d3:{text}", "d3", "expansion", text) for text in texts]
    made.add(extra, minilm.encode_documents([v.text for v in extra]), remedy="r1")
    return path


def test_an_index_before_and_after_a_remedy(index, tmp_path):
    result = evaluate(
        QUERIES, QRELS, out=tmp_path, indexes=[f"{index}@original", str(index)], config=CONFIG
    )
    rows = {row["query_id"]: row for row in result.table.to_pylist()}
    assert (rows["q2"]["rank before"], rows["q2"]["rank after"]) == (1, 2), "d3 took its place"
    assert [h["query_id"] for h in result.summary["harmed"]] == ["q2"]
    assert result.summary["implicitness"]["share"] is None, "no document of this index has a title"


def test_two_indexes_are_asked_by_the_words_of_every_document(index, corpus, tmp_path):
    result = compare_retrievers(
        f"{index}@original", str(index), out=tmp_path / "o",
        queries=[Query("q", "a medieval bishop")], corpus=corpus, k=1,
    )  # fmt: skip
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["value_before"], lost["value_after"]) == ("d1", 1, 2)
    assert result.summary["queries"] == {"own": 3, "given": 1, "failed": 0}
    changes = pq.read_table(tmp_path / "o" / "comparison_queries.parquet").to_pylist()
    assert [(r["text"], r["left"]) for r in changes if r["changed"]] == [("Teutberga", "Teutberga")]
