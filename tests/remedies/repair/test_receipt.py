"""The receipt: what it compares, and that it comes whatever happens around it."""

import json

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.evaluation.comparison import compare_retrievers
from argus.evaluation.job import evaluate
from argus.explanation.job import explain
from argus.indexes.job import add_documents
from argus.indexes.retriever import search_index
from argus.indexes.views import ViewIndex
from argus.remedies.remedy_result import check_judged


def test_the_state_before_a_repair_can_be_named_everywhere(repairable, index, tmp_path):
    first = repairable.expand(index).remedy
    add_documents(index, [Document("new", "Basel is old.")], encoder=repairable.encoder)
    second = repairable.expand(index).remedy
    state = f"{index}@before:{second}"
    opened = ViewIndex.open(index)
    views = opened.rows(f"before:{second}")
    assert set(views["remedy"].to_pylist()) == {"", first}
    assert "new" in views["doc_id"].to_pylist()
    query = "A quay in Basel"
    found = search_index(query, state, encoder=repairable.encoder, hybrid="rrf")
    assert len(found["results"]) == 10
    given = {"queries": repairable.queries, "qrels": repairable.qrels, "out": tmp_path / "e"}
    judged = evaluate(**given, indexes=(state,), encoder=repairable.encoder).summary
    assert judged["systems"][0]["name"] == state
    assert judged["systems"][0]["documents"] == 14
    explained = explain(query, "new", index=state, encoder=repairable.encoder)
    assert explained.index == state
    names = (state, f"{index}@{second}")
    compared = compare_retrievers(
        indexes=names, out=tmp_path / "c", queries=repairable.queries, encoder=repairable.encoder
    )
    assert state in json.dumps(compared.summary)
    for unknown in ("before:", "before:x", f"before:before:{second}"):
        with pytest.raises(InputError, match=rf"unknown remedy .*expected one of {first}, "):
            opened.snapshot(unknown)


def test_queries_without_judgements_are_refused_first(repairable, index, tmp_path):
    given = {"queries": repairable.queries, "qrels": repairable.qrels}
    with pytest.raises(InputError, match="--queries without --qrels; expected both, or neither"):
        repairable.expand(index, queries=given["queries"])
    with pytest.raises(InputError, match="--qrels without --queries; expected both, or neither"):
        repairable.synthesize(index, qrels=given["qrels"])
    with pytest.raises(InputError, match=r"none\.jsonl: no such file"):
        repairable.expand(index, **given | {"queries": tmp_path / "none.jsonl"})
    with pytest.raises(InputError, match="no such file"):
        repairable.expand(index, **given | {"qrels": tmp_path / "none.tsv"})
    with pytest.raises(InputError, match="the judgements name none of the 6 queries"):
        repairable.expand(index, **given | {"qrels": {"other": {"swim": 1}}})
    with pytest.raises(InputError, match="no such file"):
        repairable.expand(index, **given, corpus=tmp_path / "none")
    assert ViewIndex.open(index).remedies() == []
    assert not (index / "remedies").exists()
    check_judged(None, None)
    check_judged([Query("q", "rivers")], {"q": {"swim": 1}})


def test_the_evaluation_is_that_of_the_two_states_by_name(repairable, index, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    rows = ({"_id": d.id, "title": "The thing", "text": d.text} for d in repairable.documents)
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = {"queries": repairable.queries, "qrels": repairable.qrels, "corpus": corpus}
    result = repairable.expand(index, **judged)
    names = (f"{index}@before:{result.remedy}", f"{index}@{result.remedy}")
    by_name = evaluate(
        **judged, out=tmp_path / "e", indexes=names, diagnosis=result.folder,
        encoder=repairable.encoder,
    )  # fmt: skip
    assert result.evaluation == by_name.summary
    ours, theirs = (
        json.loads((folder / "manifest.json").read_text())["evaluation"]
        for folder in (result.folder, by_name.folder)
    )
    assert ours["config"] == theirs["config"]
    assert [*ours["inputs"]] == [*theirs["inputs"]] == ["corpus", "diagnosis"]
