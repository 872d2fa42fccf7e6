"""Exposure of a retriever of the team's own: asked here, or run elsewhere."""

import json

import pytest

import argus
from argus.data import Document, Query
from argus.data.runs import write_run
from argus.errors import ArgusError, InputError

DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water. Nobody knows who drank it first.", "Tea"),
    Document("coffee", "Coffee is made of roasted beans. It keeps many people awake.", "Coffee"),
    Document("ska", "Ska came from Jamaica before reggae. Its guitars play off the beat.", "Ska"),
    Document("empty", "", ""),
]
CONFIG = argus.ExposureConfig(k=2)


def retrieve(query, corpus, k):
    """Rank by shared words, with the document on ska always left out."""
    words = set(query.lower().split())
    scored = [(d["_id"], float(len(words & set(d["text"].lower().split())))) for d in corpus]
    return sorted((p for p in scored if p[0] != "ska"), key=lambda pair: -pair[1])[:k]


def expose(retriever, out, **more):
    return argus.exposure(DOCUMENTS, retriever=retriever, out=out, config=CONFIG, **more)


def test_what_never_comes_back_is_named(tmp_path):
    result = expose(retrieve, tmp_path, queries=[Query("q", "who drank hot coffee?")])
    rows = {row["id"]: row for row in result.table.to_pylist()}
    assert rows["ska"]["never_retrieved"] and rows["ska"]["title_rank"] is None
    assert "by its title not in the top 2" in rows["ska"]["reason"]
    assert rows["tea"]["retrieved_by_own"] == 3 and rows["tea"]["sentence_rank"] == 1
    assert rows["empty"]["state"] == "not applicable"
    assert result.summary["retriever"]["held_out"] is False and result.summary["queries"] == 10


def test_a_failed_probe_is_no_miss(tmp_path):
    def fragile(query, corpus, k):
        if "guitars" in query:
            raise OSError("the shard is gone")
        return [(d["_id"], 1.0) for d in corpus if d["text"]][:k]

    def down(query):
        raise ConnectionError("refused")

    with pytest.raises(ArgusError, match=r"failed all 9 probes.*refused"):
        expose(down, tmp_path)
    assert not (tmp_path / "summary.json").exists()
    result = expose(fragile, tmp_path)
    assert result.summary["probes_failed"] == 1
    assert result.summary["retriever"]["reasons"] == {"raised OSError: the shard is gone": 1}
    assert not any("guitars" in row["query"] for row in result.misses.to_pylist())


def test_probes_are_exported_and_their_run_is_read(tmp_path):
    probes = argus.retrievability.export_probes(
        DOCUMENTS, out=tmp_path / "probes", config=CONFIG
    ).probes
    lines = (tmp_path / "probes" / "queries.jsonl").read_text().splitlines()
    queries = [Query(row["_id"], row["text"]) for row in map(json.loads, lines)]
    assert queries == probes.queries and len(queries) == 9
    corpus = [{"_id": d.id, "text": d.text} for d in DOCUMENTS]
    run = {q.id: dict(retrieve(q.text, corpus, 2)) for q in queries}
    del run[queries[0].id]
    write_run(tmp_path / "answers.trec", run)
    read = argus.exposure(
        DOCUMENTS, run=tmp_path / "answers.trec", out=tmp_path / "read", config=CONFIG
    )
    asked = expose(retrieve, tmp_path / "asked")
    assert read.summary["probes_failed"] == 1
    assert read.summary["retriever"]["reasons"] == {"not in the run": 1}
    assert read.summary["sentence"] == asked.summary["sentence"]
    with pytest.raises(InputError, match="answers none of the 9 queries"):
        argus.exposure(DOCUMENTS, run={"other": {"tea": 1.0}}, out=tmp_path / "none", config=CONFIG)


def test_a_killed_run_asks_only_the_rest(tmp_path):
    log = tmp_path / "log.txt"
    (file := tmp_path / "mine.py").write_text(
        f"def retrieve(query, k):\n"
        f"    with open({str(log)!r}, 'a+') as log:\n"
        f"        print(query, file=log)\n"
        f"        log.seek(0)\n"
        f"        if len(log.readlines()) == 5: raise KeyboardInterrupt\n"
        f"    return ['tea', 'coffee']\n"
    )
    with pytest.raises(KeyboardInterrupt):
        expose(str(file), tmp_path / "out")
    result = expose(str(file), tmp_path / "out")
    asked = log.read_text().splitlines()
    assert len(asked) == 10 and len(set(asked)) == 9  # the fifth twice, of 9 probes
    assert result.summary["probes_failed"] == 0 and result.summary["retriever"]["kept"] == 4


def own_words(query, corpus, k):
    """Rank by shared words; of every third document the words are lost."""
    words = set(query.lower().split())
    scored = [
        (d["_id"], float(len(words & set(f"{d['title']} {d['text']}".lower().split()))))
        for d in corpus
        if not d["_id"].endswith(("0", "3", "6", "9"))
    ]
    return sorted(scored, key=lambda pair: -pair[1])[:k]


MANY = [
    Document(f"d{i:03}", f"Number w{i} stands here alone. The word v{i} is its second.", f"T{i}")
    for i in range(200)
]


def sample_of(n, out, retriever=own_words):
    config = argus.ExposureConfig(k=5, sample=n)
    return argus.exposure(MANY, retriever=retriever, out=out, config=config)


def test_a_sample_asks_for_few_documents_in_the_whole_corpus(tmp_path):
    sizes = set()

    def counted(query, corpus, k):
        sizes.add(len(corpus))
        return own_words(query, corpus, k)

    whole, part = sample_of(None, tmp_path / "all"), sample_of(60, tmp_path / "60", counted)
    assert sizes == {200} and part.summary["queries"] == 180
    sample = part.summary["sample"]
    rows = {row["id"]: row for row in part.table.to_pylist()}
    of_all = {row["id"]: row for row in whole.table.to_pylist()}
    drawn = {id_ for id_, row in rows.items() if row["state"] == "measured"}
    assert len(drawn) == 60
    for id_, row in rows.items():
        if id_ in drawn:  # what is told of one is what an audit of all tells
            same = ("title_rank", "sentence_rank", "own_probes", "retrieved_by_own")
            assert [row[name] for name in same] == [of_all[id_][name] for name in same]
        else:
            assert (row["reason"], row["never_retrieved"]) == ("not drawn", None)
    missed = sum(row["retrieved_by_own"] == 0 for row in of_all.values()) / 200
    assert sample["missed_low"] < missed < sample["missed_high"]
    for kind in ("title", "sentence"):
        low, high = part.summary[kind]["low"], part.summary[kind]["high"]
        assert low < whole.summary[kind]["success_at_k"] < high
