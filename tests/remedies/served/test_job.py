"""What is served, asked before a repair and again after it."""

from __future__ import annotations

import json

import pytest

import argus
from argus.data import Document, Query
from argus.errors import ArgusError, InputError
from tests.support.blended import blended_index, queries, texts

DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water. It was first drunk long ago.", "Tea"),
    Document("coffee", "Coffee is made of roasted beans. It keeps many people awake.", "Coffee"),
    Document("ska", "Ska came from Jamaica before reggae. Its guitars play off the beat.", "Ska"),
]
QUERIES = [Query("q1", "where did ska come from"), Query("q2", "hot leaves"), Query("q3", "beans")]
QRELS = {"q1": {"ska": 1}, "q2": {"tea": 1}, "q3": {"coffee": 1}}
CONFIG = argus.ServedReceiptConfig(k=2)
LISTS = {
    "where did ska come from": ["tea", "coffee"],
    "hot leaves": ["coffee", "tea"],
    "beans": ["coffee", "ska"],
}
REPAIRED = LISTS | {"where did ska come from": ["ska", "tea"], "hot leaves": ["tea", "ska"]}


def serving(lists):
    def retrieve(query, k):
        answer = lists[query]
        if isinstance(answer, Exception):
            raise answer
        return answer[:k]

    return retrieve


def receipt(out, **retrievers):
    return argus.served_receipt(
        DOCUMENTS, queries=QUERIES, qrels=QRELS, out=out, config=CONFIG, **retrievers
    )


def test_before_is_kept_and_after_is_set_beside_it(tmp_path):
    first = receipt(tmp_path, before=serving(LISTS))
    assert "after" not in first.summary and first.table.num_rows == 0
    assert "with --after in place of --before" in list(first.headline())[-1]
    result = receipt(tmp_path, after=serving(REPAIRED))
    summary = result.summary
    assert summary["moves"] == {"pairs": 3, "rose": 2, "fell": 0, "recovered": 1, "lost": 0}
    assert (summary["found_before"]["found"], summary["found_after"]["found"]) == (2, 3)
    rows = {row["query_id"]: row for row in result.table.to_pylist()}
    assert (rows["q1"]["rank_before"], rows["q1"]["rank_after"]) == (None, 1)
    assert (rows["q2"]["rank_before"], rows["q2"]["rank_after"]) == (2, 1)
    # q1 loses coffee, q2 loses coffee and gains ska; the relevant ones are no neighbours
    assert summary["neighbours"] == [{"doc_id": "coffee", "lists": 2, "gained": 0}]
    assert summary["difference"]["mean_after"] > summary["difference"]["mean_before"]
    page = result.report.read_text()
    assert "What did the repair change in what is served?" in page and "Who gave way" in page


def test_before_is_never_asked_again_and_after_always(tmp_path):
    receipt(tmp_path, before=serving(LISTS))
    worse = receipt(tmp_path, before=serving(REPAIRED), after=serving(LISTS))
    assert worse.summary["moves"]["rose"] == worse.summary["moves"]["fell"] == 0
    better = receipt(tmp_path, after=serving(REPAIRED))
    assert better.summary["moves"]["recovered"] == 1


def test_a_call_that_was_killed_after_its_answers_notes_who_gave_them(tmp_path):
    def noted():
        section = json.loads((tmp_path / "manifest.json").read_text())["served"]
        return section["config"], section["encoder"]

    receipt(tmp_path, before=serving(LISTS))
    whole = noted()
    (tmp_path / "manifest.json").unlink()  # as where it was killed just before
    (tmp_path / "before.sqlite").touch()
    receipt(tmp_path, before=serving(LISTS))
    assert "retrievers" in whole[0] and noted() == whole
    assert not (tmp_path / "before.sqlite").exists()


def test_a_file_that_answers_otherwise_after_the_repair_is_asked_anew(tmp_path):
    """The same name, the same file: what was kept of it before says nothing of it now."""
    file, shelf = tmp_path / "mine.py", tmp_path / "shelf.json"
    file.write_text(
        "import json, pathlib\n"
        "def retrieve(query, k):\n"
        f"    return json.loads(pathlib.Path({str(shelf)!r}).read_text())[query]\n"
    )
    shelf.write_text(json.dumps(LISTS))
    receipt(tmp_path / "out", before=str(file))
    shelf.write_text(json.dumps(REPAIRED))
    assert receipt(tmp_path / "out", after=str(file)).summary["moves"]["recovered"] == 1


def test_a_call_that_was_stopped_asks_only_the_rest(tmp_path):
    shelf, log = tmp_path / "shelf.json", tmp_path / "log"
    file = tmp_path / "mine.py"
    file.write_text(
        "import json, pathlib\n"
        f"log, shelf = pathlib.Path({str(log)!r}), pathlib.Path({str(shelf)!r})\n"
        "def retrieve(query, k):\n"
        "    log.write_text((log.read_text() if log.exists() else '') + query + '\\n')\n"
        "    answer = json.loads(shelf.read_text())[query]\n"
        "    if answer is None:\n        raise KeyboardInterrupt\n"
        "    return answer\n"
    )
    shelf.write_text(json.dumps(LISTS | {"beans": None}))
    with pytest.raises(KeyboardInterrupt):
        receipt(tmp_path / "out", before=str(file))
    shelf.write_text(json.dumps(LISTS))
    result = receipt(tmp_path / "out", before=str(file))
    assert log.read_text().split("\n")[:-1] == [*LISTS, "beans"]
    assert result.summary["before"]["kept"] == 2


def test_a_query_that_failed_once_is_in_no_figure(tmp_path):
    broken = REPAIRED | {"beans": OSError("the shard is gone")}
    result = receipt(tmp_path, before=serving(LISTS), after=serving(broken))
    assert result.summary["compared"] == 2 and result.summary["moves"]["pairs"] == 2
    row = next(row for row in result.table.to_pylist() if row["query_id"] == "q3")
    assert row["state"] == "failed" and "the shard is gone" in row["reason"]
    assert any("1 queries failed" in line for line in result.headline())


def test_titles_and_sentences_ask_where_no_question_is_judged(tmp_path):
    def last_words(query, corpus, k):
        words = set(query.lower().split())
        return sorted(
            (d["_id"] for d in corpus if d["_id"] != "ska"),
            key=lambda id_: -len(words & set(id_.split())),
        )[:k]

    def words(query, corpus, k):
        asked = set(query.lower().split())
        count = {
            d["_id"]: len(asked & set(f"{d['title']} {d['text']}".lower().split())) for d in corpus
        }
        return sorted(count, key=lambda id_: -count[id_])[:k]

    result = argus.served_receipt(
        DOCUMENTS, before=last_words, after=words, out=tmp_path, config=CONFIG
    )
    assert result.summary["asked_by"] == "probes" and result.summary["compared"] == 9
    assert result.summary["moves"]["recovered"] == 3  # title and two sentences of ska
    assert "evaluation" not in json.loads((tmp_path / "summary.json").read_text())
    sample = argus.ServedReceiptConfig(k=2, sample=2)
    few = argus.served_receipt(
        DOCUMENTS, before=last_words, after=words, out=tmp_path / "few", config=sample
    )
    assert few.summary["sample"] == [2, 3] and few.summary["compared"] == 6
    assert any("2 of 3 documents, drawn at random" in line for line in few.headline())


def test_what_does_not_fit_is_told(tmp_path):
    with pytest.raises(InputError, match="--after without what was served before"):
        receipt(tmp_path, after=serving(LISTS))
    with pytest.raises(InputError, match="nothing to ask"):
        receipt(tmp_path)
    receipt(tmp_path, before=serving(LISTS))
    other = argus.ServedReceiptConfig(k=1)
    with pytest.raises(InputError, match="other questions, documents or settings"):
        argus.served_receipt(
            DOCUMENTS, queries=QUERIES, qrels=QRELS, out=tmp_path, config=other,
            after=serving(LISTS),
        )  # fmt: skip
    with pytest.raises(InputError, match="no result is a document of the corpus"):
        receipt(tmp_path, after=lambda query, k: ["x1", "x2"])
    with pytest.raises(ArgusError, match="failed all 3 queries"):
        receipt(tmp_path, after=serving(dict.fromkeys(LISTS, OSError("gone"))))
    assert receipt(tmp_path, after=serving(REPAIRED)).summary["moves"]["recovered"] == 1


def test_an_index_ranks_what_a_retriever_returns(tmp_path):
    """What a repaired index would change over the retriever that runs, before it is put there."""
    index = blended_index(tmp_path / "index", 40)
    documents = [Document(id_, ". ".join(s)) for id_, s in texts(40).items()]
    questions = queries(20)
    wanted = argus.BlendedRetriever(lambda query, k: [d.id for d in documents][:k], index)
    with wanted:
        best = wanted.search(questions, 3)
    qrels = {query.id: {next(iter(best[query.id])): 1} for query in questions}

    def fixed(query, k):
        return [document.id for document in documents][:k]

    result = argus.served_receipt(
        documents, before=fixed, ranked_by=index, queries=questions, qrels=qrels,
        out=tmp_path / "out", config=argus.ServedReceiptConfig(k=3),
    )  # fmt: skip
    assert result.summary["found_after"]["found"] == len(questions)
    assert result.summary["found_before"]["found"] < len(questions) / 2
    assert "fixed" in result.summary["after"]["name"]


CHUNKS = [
    Document(f"{document.id}#{i}", text, document.title, metadata={"page": document.id})
    for document in DOCUMENTS
    for i, text in enumerate(document.text.split(". "))
]


def of_chunks(out, **settings):
    served = {query: [f"{id_}#1" for id_ in ids] for query, ids in LISTS.items()}
    repaired = {query: [f"{id_}#0" for id_ in ids] for query, ids in REPAIRED.items()}
    return argus.served_receipt(
        CHUNKS, queries=QUERIES, qrels=QRELS, out=out, before=serving(served),
        after=serving(repaired), config=argus.ServedReceiptConfig(k=2, **settings),
    )  # fmt: skip


def test_a_document_is_found_by_any_of_its_chunks(tmp_path):
    summary = of_chunks(tmp_path / "chunks", parent_field="page").summary
    whole = receipt(tmp_path / "whole", before=serving(LISTS), after=serving(REPAIRED)).summary
    for key in ("moves", "found_before", "found_after", "difference", "neighbours"):
        assert summary[key] == whole[key]


def test_judgements_of_documents_are_not_measured_over_chunks(tmp_path):
    """All of them would be lost, before and after: no figure, but the option that is missing."""
    with pytest.raises(InputError, match="holds none of the 3 relevant") as error:
        of_chunks(tmp_path / "chunks")
    assert "--parent-field" in str(error.value) and not (tmp_path / "chunks").exists()


def test_probes_of_chunks_ask_for_their_documents(tmp_path):
    everything = [chunk.id for chunk in CHUNKS]
    result = argus.served_receipt(
        CHUNKS, before=lambda query, k: everything[:k], out=tmp_path,
        after=lambda query, k: everything[::-1][:k],
        config=argus.ServedReceiptConfig(k=3, sentences=1, parent_field="page"),
    )  # fmt: skip
    assert {row["doc_id"] for row in result.table.to_pylist()} == {"tea", "coffee", "ska"}


def _halved(kept):
    for query in [*kept["run"]][::2]:
        del kept["run"][query]


def _failed(kept):
    kept["failed"] = dict.fromkeys(kept["run"], "gone")


def _exchanged(kept):
    run = kept["run"]
    run["q1"], run["q2"] = run["q2"], run["q1"]


def _scored(score):
    return lambda kept: kept["run"]["q1"].update(tea=score)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_halved, "2 of 3 queries neither answered nor failed"),
        (_failed, "'q1' was answered, and failed"),
        (lambda kept: kept["run"].update(q9={}), "'q9' is none of the queries"),
        (_scored(float("nan")), "'tea' has the score nan"),
        (_scored(float("inf")), "'tea' has the score inf"),
        (lambda kept: kept["run"]["q1"].update(cocoa=0.5), "1 results that no document has; 0"),
        (_exchanged, "the run is not the one that was written"),
    ],
)
def test_kept_answers_that_were_changed_are_refused(tmp_path, change, message):
    receipt(tmp_path, before=serving(LISTS))
    file = tmp_path / "before.json"
    kept = json.loads(file.read_text())
    change(kept)
    file.write_text(json.dumps(kept))
    with pytest.raises(InputError, match=rf"before\.json: .*{message}"):
        receipt(tmp_path, after=serving(REPAIRED))


def test_answers_that_an_earlier_version_kept_are_taken(tmp_path):
    receipt(tmp_path, before=serving(LISTS))
    file = tmp_path / "before.json"
    kept = json.loads(file.read_text())
    assert kept.pop("answers")
    file.write_text(json.dumps(kept))
    assert receipt(tmp_path, after=serving(REPAIRED)).summary["moves"]["recovered"] == 1
