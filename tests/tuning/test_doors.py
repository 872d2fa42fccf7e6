"""Two of retrievers, indexes, runs and logs: what one alone brings, and what makes them differ."""

import json

import pyarrow.parquet as pq
import pytest

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query
from argus.encoders import EncoderConfig
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.tuning.doors import compare_retrievers

QUERIES = [Query("q1", "hot leaves"), Query("q2", "reggae Jamaica"), Query("q3", "week of Rain")]
QRELS = {"q1": {"tea": 1, "coffee": 1}, "q2": {"ska": 2, "rain": 0}, "q9": {"tea": 1}}
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
WORDS += ["theta", "iota", "kappa", "lambda", "mu", "nu", "xi"]
MANY = [
    Document(f"d{i:03}", f"{WORDS[i % 14]} {WORDS[i // 14]} number {i}", "",
             {"lang": "en" if i % 3 else "de"})
    for i in range(196)
]  # fmt: skip
ASKED = [Query(f"q{i}", f"{WORDS[i % 14]} {WORDS[3 * i % 14]}") for i in range(30)]


def one(query, k):
    return ["tea", "rain"][:k]


def other(query, k):
    return ["ska", "tea"][:k]


def test_what_one_alone_brings_back_is_told(tmp_path):
    out = tmp_path / "out"
    result = compare_retrievers(one, other, out=out, queries=QUERIES, qrels=QRELS, k=2)
    summary = result.summary
    assert (summary["of"], summary["names"]) == ("retrievers", ["one", "other"])
    assert (summary["only_before"], summary["only_after"]) == (3, 3)
    assert summary["overlap"] == {
        "mean": 0.5, "low": None, "high": None, "queries": 3, "alike": 0, "first": 0,
    }  # fmt: skip
    assert summary["judged"] == {
        "queries": 2, "relevant": 3, "both": 1, "only_before": 0, "only_after": 1, "neither": 1,
    }  # fmt: skip
    rows = pq.read_table(out / "comparison_only.parquet").to_pylist()
    assert [(r["query_id"], r["doc_id"], r["only"], r["rank"], r["grade"]) for r in rows[:2]] == [
        ("q2", "ska", "after", 1, 2), ("q1", "ska", "after", 1, None),
    ]  # fmt: skip
    assert {r["id"]: r["verdict"] for r in result.table.to_pylist()} == {
        "ska": "gained", "rain": "lost", "tea": "same",
    }  # fmt: skip
    page = (out / "comparison.md").read_text()
    assert "| reggae Jamaica | ska | after |" in page and "## Lost: 1" in page


def ranked(query, k):
    """Rank by shared words, then by number."""
    words = set(query.split())
    shared = {d.id: len(words & set(d.text.split())) + 1 - int(d.id[1:]) / 1000 for d in MANY}
    return sorted(((id_, score) for id_, score in shared.items() if score > 1),
                  key=lambda hit: -hit[1])[:k]  # fmt: skip


LANG = {d.id: d.metadata["lang"] for d in MANY}


def in_english(query, k):
    return [hit for hit in ranked(query, 200) if LANG[hit[0]] == "en"][:k]


def above(query, k):
    return [hit for hit in ranked(query, k) if hit[1] > 1.95]


def four(query, k):
    return ranked(query, 4)


def turned(query, k):
    return [(id_, float(n)) for n, (id_, _) in enumerate(ranked(query, 20))][::-1][:k]


@pytest.mark.parametrize(
    ("door", "change"),
    [(in_english, "only lang = en"), (above, "scores from 1.9"), (four, "k = 4"),
     (turned, "its first 20 reranked")],
)  # fmt: skip
def test_the_setting_that_differs_is_named(door, change, tmp_path):
    found = compare_retrievers(ranked, door, out=tmp_path, queries=ASKED, corpus=MANY, by=("lang",))
    (line,) = found.summary["why"]["words"]
    assert line.startswith(f"why: ranked, {change}") and f"answers as {door.__name__} does" in line
    worst = found.summary["slices"]["worst"][0]
    assert (worst["slice"], worst["worse_by"] > 0) == ("de", True) or door is not in_english


def test_of_nothing_in_common_no_reason_is_made_up(tmp_path):
    def strange(query, k):
        return [d.id for d in MANY[-k:]]

    why = compare_retrievers(ranked, strange, out=tmp_path, queries=ASKED, corpus=MANY)
    assert why.summary["why"]["words"][0].startswith("why: no one change explains it; tried: ")


def test_a_log_is_a_side_and_asks_its_own_questions(tmp_path):
    log = tmp_path / "log.jsonl"
    rows = [
        {
            "question": q.text,
            "results": [{"id": id_, "score": s} for id_, s in in_english(q.text, 8)],
        }
        for q in ASKED
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = compare_retrievers(log, ranked, out=tmp_path / "out", corpus=MANY)
    assert found.summary["queries"]["given"] == len({q.text for q in ASKED})
    assert found.summary["why"]["words"][0].startswith(
        "why: ranked, k = 8, only lang = en, answers"
    )
    with pytest.raises(InputError, match="no question of it has results"):
        log.write_text("".join(json.dumps({"question": row["question"]}) + "\n" for row in rows))
        compare_retrievers(log, ranked, out=tmp_path / "out", corpus=MANY)


def test_an_index_and_its_fusion_are_asked_by_own_words(tmp_path):
    documents = [Document(f"d{i}", f"{d.text}, as {d.id} has it", d.text) for i, d in
                 enumerate(MANY[:60])]  # fmt: skip
    build_index(documents, out=tmp_path / "ix", encoder=EncoderConfig())
    index = str(tmp_path / "ix")
    found = compare_retrievers(index, f"{index},hybrid=dbsf", out=tmp_path / "out")
    assert found.summary["queries"] == {"own": 60, "given": 0, "failed": 0}
    assert found.summary["why"]["tried"][0] == {
        "of": index, "like": f"{index},hybrid=dbsf", "change": "DBSF", "overlap": 1.0,
    }  # fmt: skip
    alike = compare_retrievers(index, index, out=tmp_path / "same", queries=ASKED[:3])
    assert alike.summary["why"]["words"] == [] and alike.summary["overlap"]["mean"] == 1


@pytest.mark.parametrize(
    ("pair", "options", "where"),
    [
        ((one, other), {"queries": ()}, "--queries"),
        (("mine.txt", other), {}, "A"),
        ((one, "nothing"), {}, "B"),
        ((one, other), {"by": ("colour",), "corpus": MANY}, "--by"),
    ],
)
def test_what_cannot_be_compared_is_refused(pair, options, where, tmp_path):
    with pytest.raises(InputError) as error:
        compare_retrievers(*pair, **{"queries": QUERIES, "out": tmp_path} | options)
    assert error.value.where == where
    assert not (tmp_path / "summary.json").exists()


@pytest.fixture
def runs(tmp_path):
    made = {
        "a.json": {"q1": ["x", "y"], "q2": ["x", "z"], "q3": ["x"]},
        "b.json": {"q1": ["y", "x"], "q2": ["w", "x"]},
    }
    for name, run in made.items():
        (tmp_path / name).write_text(json.dumps(run))
    return tmp_path / "a.json", tmp_path / "b.json"


def test_documents_gained_lost_and_kept_are_told(runs, tmp_path):
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"_id": "w", "title": "W", "text": "w"}) + "\n")
    found = compare_retrievers(*runs, out=tmp_path / "out", corpus=corpus, k=2)
    assert {row["id"]: (row["verdict"], row["after"]) for row in found.table.to_pylist()} == {
        "w": ("gained", "in 1 list"), "z": ("lost", "in 0 lists"),
        "x": ("same", "in 2 lists"), "y": ("same", "in 1 list"),
    }  # fmt: skip
    assert found.summary["notes"] == ["1 queries are in one of the runs only: left out"]
    assert found.summary["changed_queries"] == 1


def test_runs_of_other_queries_and_fresh_over_input_are_refused(runs, tmp_path):
    other = tmp_path / "o.json"
    other.write_text('{"q9": ["x"]}')
    with pytest.raises(InputError, match="no query in common"):
        compare_retrievers(runs[0], other, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    ArtifactFolder(tmp_path).open()
    with pytest.raises(InputError, match="--fresh would empty"):
        compare_retrievers(*runs, out=tmp_path, fresh=True)
