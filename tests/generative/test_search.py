"""Searches leave results that others read, go on after a kill, and refuse bad input."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

import argus
from argus.authority.config import AuthoritySource
from argus.corpora.opening import read_corpus
from argus.data.runs import ranking, read_run
from argus.data.types import Query
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.generative.search import NgramRetriever, ask, search_ngrams
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Decoding, NgramSearchConfig, Scoring
from argus.repair import RepairConfig
from argus.retrievers.opening import opened
from tests.support.ngrams import QUESTIONS

DECODING = Decoding(beams=3, body_tokens=4, title_tokens=6, query_tokens=6)
# In a corpus of some hundred tokens, the published smoothing leaves nearly nothing a weight.
SCORING = Scoring(smoothing=0.05)


@pytest.fixture
def config(ready):
    return NgramSearchConfig(model=ready.model, k=5, decoding=DECODING, scoring=SCORING)


@contextmanager
def killed_after(n, monkeypatch):
    """Make a search stop after n answers."""
    whole = GenerativeSearcher.search

    def cut(self, queries, k):
        for i, answer in enumerate(whole(self, queries, k)):
            if i == n:
                raise KeyboardInterrupt
            yield answer

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(GenerativeSearcher, "search", cut)
        yield


def dpr_of(folder):
    return json.loads((folder / "dpr.json").read_text("utf-8"))


def test_the_run_holds_the_same_passages_in_the_same_order(ready, config, tmp_path):
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\nq2\td2\t0\n")
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out", qrels=qrels)
    items = dpr_of(tmp_path / "out")
    correct = [[ctx["passage_id"] for ctx in item.get("positive_ctxs", [])] for item in items]
    assert correct == [["d1"] * (item["id"] == "q2") for item in items]
    (path,) = (tmp_path / "out").glob("run.*")
    run = read_run(path)
    assert [item["question"] for item in items] == [*QUESTIONS.values()]
    for item in items:
        assert 0 < len(item["ctxs"]) <= 5
        assert {hit["passage_id"]: hit["score"] for hit in item["ctxs"]} == run[item["id"]]
        assert sorted(run[item["id"]].values(), reverse=True) == [h["score"] for h in item["ctxs"]]
    found = ask(ready.index, QUESTIONS["q2"], config=config)["results"]
    assert [hit["id"] for hit in found] == [hit["passage_id"] for hit in items[1]["ctxs"]]
    for mine, theirs in zip(found, items[1]["ctxs"], strict=True):
        assert mine["score"] == pytest.approx(theirs["score"], abs=1e-4)
        assert {key["view"] for key in mine["keys"]} <= {"title", "body", "question", "unigram"}


def test_a_killed_search_goes_on_and_ends_as_one_that_was_not(ready, config, tmp_path, monkeypatch):
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "whole")
    out = tmp_path / "out"
    with killed_after(1, monkeypatch):
        search_ngrams(ready.index, ready.questions, config=config, out=out)
    assert not (out / "dpr.json").exists()
    with (out / "answers.jsonl").open("a") as file:
        file.write('{"query_id": "q2", "question": "Who wr')  # what the kill left of a line
    summary = search_ngrams(ready.index, ready.questions, config=config, out=out).summary
    assert summary["answered_now"] == 1
    for mine, theirs in zip(dpr_of(out), dpr_of(tmp_path / "whole"), strict=True):
        found = [(hit["passage_id"], hit["score"]) for hit in mine["ctxs"]]
        assert found == [
            (hit["passage_id"], pytest.approx(hit["score"], abs=1e-3)) for hit in theirs["ctxs"]
        ]
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1 + len(QUESTIONS)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"k": 2}, r"k \(5, now 2\)"),
        ({"scoring": Scoring(exponent=1.0)}, "scoring"),
    ],
)
def test_answers_of_another_search_are_not_mixed(ready, config, tmp_path, change, named):
    out = tmp_path / "out"
    search_ngrams(ready.index, ready.questions, config=config, out=out)
    before = dpr_of(out)
    with pytest.raises(InputError, match=f"answers of another search; different: {named}"):
        search_ngrams(ready.index, ready.questions, config=replace(config, **change), out=out)
    assert dpr_of(out) == before
    fresh = replace(config, **change)
    search_ngrams(ready.index, ready.questions, config=fresh, out=out, fresh=True)
    assert dpr_of(out) != before


def test_broken_answers_are_refused(ready, config, tmp_path):
    out = tmp_path / "out"
    search_ngrams(ready.index, ready.questions, config=config, out=out)
    path = out / "answers.jsonl"
    header, *rest = path.read_text().splitlines(keepends=True)
    for content in ("nonsense\n", "[]\n", "{}\n", header + "{broken}\n" + "".join(rest)):
        path.write_text(content)
        with pytest.raises(InputError, match="cannot be read") as caught:
            search_ngrams(ready.index, ready.questions, config=config, out=out)
        assert "--fresh" in str(caught.value)


def test_without_a_model_it_is_said_how_to_get_one(ready, tmp_path):
    for model, got in ((None, "no model is given"), (tmp_path, "no model in it")):
        with pytest.raises(InputError, match=got) as caught:
            search_ngrams(
                ready.index, ready.questions, config=NgramSearchConfig(model=model), out=tmp_path
            )
        assert "argus research generative train" in str(caught.value)
        assert "seq2seq checkpoint" in str(caught.value)


def test_a_generative_search_is_a_retriever_by_its_name(ready, config, tmp_path):
    name = f"generative:{ready.index},model={ready.model}"
    own = NgramRetriever(ready.index, NgramSearchConfig(model=ready.model, k=5))
    with opened(name) as retriever:
        answers = retriever.ask([Query(q, text) for q, text in QUESTIONS.items()], 5)
        assert retriever.identity, "its answers are kept"
    assert not answers.failed
    assert answers.run == own.search([Query(q, text) for q, text in QUESTIONS.items()], 5)
    compared = argus.compare_retrievers(
        name, name, queries=[Query(q, t) for q, t in QUESTIONS.items()], out=tmp_path, k=3
    )
    assert compared.summary["overlap"]["mean"] == 1
    for wrong in (f"generative:{ready.index},beams=3", f"generative:{ready.index},mode=x"):
        with pytest.raises(InputError, match="other settings"), opened(wrong):
            pass


def test_by_its_name_it_is_checked_tuned_explained_and_put_in_force(ready, minilm, tmp_path):
    name = f"generative:{ready.index},model={ready.model}"
    documents = read_corpus(ready.corpus)
    titled = [Query(d.id, d.title) for d in documents if d.title]
    asked = [Query(q, text) for q, text in QUESTIONS.items()]
    own = NgramRetriever(ready.index, NgramSearchConfig(model=ready.model))
    found = {q: ranking(scores) for q, scores in own.search([*titled, *asked], 10).items()}
    first = found["q1"][0]
    missing = next(d.id for d in documents if d.id not in {*found["q1"], *found["q2"]})

    argus.check(ready.corpus, retriever=name, out=tmp_path / "check")
    measured = json.loads((tmp_path / "check" / "summary.json").read_text())["exposure"]["title"]
    at_its_title = sum(q.id in found[q.id] for q in titled)
    assert 0 < at_its_title < len(titled)
    assert measured["success_at_k"] == at_its_title / len(titled)

    argus.build_index(documents, out=tmp_path / "index", encoder=minilm)
    trial = argus.repair_index(
        tmp_path / "index", retriever=name, config=RepairConfig(only_try=True), encoder=minilm,
        queries=asked, qrels={"q1": {first: 1}, "q2": {missing: 1}}, out=tmp_path / "try",
    )  # fmt: skip
    assert trial.summary["mine"] == name
    mine = {arm["ndcg10"]["mean_before"] for arm in trial.summary["arms"]}
    assert mine == {0.5}, "the first of q1, and of q2 none that is relevant"

    config = RunConfig(corpus=ready.corpus)
    place = argus.explain_retriever(QUESTIONS["q1"], first, name, config).standing
    assert (place.rank, place.run.of) == (1, len(found["q1"]))
    assert not argus.explain_retriever(QUESTIONS["q1"], missing, name, config).standing.came_back

    edges = tmp_path / "edges.csv"
    edges.write_text(f"superseder,superseded\n{missing},{first}\n")
    source = AuthoritySource(records=ready.corpus, edges=edges)
    answer = argus.search_authority(QUESTIONS["q1"], source, retriever=name)["results"][0]
    assert (answer["id"], answer["anchor"], answer["anchor_rank"]) == (missing, first, 1)
