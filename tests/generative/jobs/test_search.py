"""Searches leave results that others read, go on after a kill, and refuse bad input."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from dataclasses import replace

import pytest

from argus.data.runs import ranking, read_run
from argus.data.types import Document, Query, Topic
from argus.errors import InputError
from argus.generative.decode.settings import Cure, Decoding
from argus.generative.failures.jobs.replaying import search_config
from argus.generative.failures.jobs.settings import ReplayConfig
from argus.generative.folders import NOTE
from argus.generative.index.job import build_ngrams
from argus.generative.index.settings import NgramBuildConfig
from argus.generative.jobs.answers import AnswerFile
from argus.generative.jobs.search import ask, search_ngrams
from argus.generative.jobs.settings import Format, NgramSearchConfig
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Mode, Scoring
from tests.support.ngrams import QUESTIONS, ROWS, write
from tests.support.results import shown, sizes

DECODING = Decoding(beams=3, body_tokens=4, title_tokens=6, query_tokens=6)
SCORING = Scoring(smoothing=0.05)
"""In a corpus of some hundred tokens, the published smoothing leaves nearly nothing a weight."""


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


@pytest.fixture
def asked_of(monkeypatch):
    """Collect the questions that a model is asked."""
    asked = []
    whole = GenerativeSearcher.search

    def noted(self, queries, k):
        asked.extend(query.id for query in queries)
        return whole(self, queries, k)

    monkeypatch.setattr(GenerativeSearcher, "search", noted)
    return asked


def run_of(folder):
    (path,) = folder.glob("run.*")
    return read_run(path)


def dpr_of(folder):
    return json.loads((folder / "dpr.json").read_text("utf-8"))


def settings_in(folder):
    return json.loads((folder / "answers.jsonl").read_text("utf-8").splitlines()[0])["settings"]


def test_all_formats_hold_the_same_passages_in_the_same_order(ready, config, tmp_path):
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    items = dpr_of(tmp_path / "out")
    kilt = (tmp_path / "out" / "kilt.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in kilt.splitlines()]
    run = run_of(tmp_path / "out")
    assert [item["question"] for item in items] == [*QUESTIONS.values()]
    for item, line in zip(items, lines, strict=True):
        ids = [hit["passage_id"] for hit in item["ctxs"]]
        assert 0 < len(ids) <= 5
        assert ids == [hit["passage_id"] for hit in line["output"][0]["provenance"]]
        assert {hit["passage_id"]: hit["score"] for hit in item["ctxs"]} == run[item["id"]]
        assert sorted(run[item["id"]].values(), reverse=True) == [h["score"] for h in item["ctxs"]]


def test_the_weights_of_a_passage_make_its_score(ready, config, tmp_path):
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    hits = [hit for item in dpr_of(tmp_path / "out") for hit in item["ctxs"]]
    for hit in hits:
        assert sum(weight for _, _, weight in hit["keys"]) == pytest.approx(hit["score"])
        assert all(count >= 1 for _, count, _ in hit["keys"])


def test_the_run_is_trec_where_ids_allow_it_else_json(ready, config, tmp_path):
    rows = [{**row, "_id": row["_id"].replace(" ", "-")} for row in ROWS]
    corpus = write(tmp_path / "c.jsonl", rows)
    build_ngrams(corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer=str(ready.model)))
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text("{}")
    search_ngrams(tmp_path / "ix", ready.questions, config=config, out=out)
    run = read_run(out / "run.trec")
    assert not (out / "run.json").exists()
    items = {item["id"]: [hit["passage_id"] for hit in item["ctxs"]] for item in dpr_of(out)}
    assert {query: set(scores) for query, scores in run.items()} == {
        query: set(ids) for query, ids in items.items()
    }
    everything = replace(config, k=len(ROWS))
    search_ngrams(ready.index, ready.questions, config=everything, out=tmp_path / "spaces")
    assert "old bern" in json.dumps(read_run(tmp_path / "spaces" / "run.json"))
    assert not (tmp_path / "spaces" / "run.trec").exists()


def test_a_run_is_evaluated_as_any_other(ready, config, tmp_path):
    from argus.evaluation.job import evaluate

    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    run = run_of(tmp_path / "out")
    best = ranking(run["q1"])[0]
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text(f"query-id\tcorpus-id\tscore\nq1\t{best}\t1\nq2\tnever\t1\n")
    found = evaluate(
        ready.questions, qrels, out=tmp_path / "measured", corpus=ready.corpus,
        runs=[*(tmp_path / "out").glob("run.*")],
    )  # fmt: skip
    assert found.summary["systems"][0]["measures"]["RR"] == 0.5


def test_only_the_formats_asked_for_are_written(ready, tmp_path):
    config = NgramSearchConfig(
        model=ready.model, k=2, decoding=DECODING, formats=(Format.DPR,), compact=True
    )
    result = search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    assert result.summary["files"] == {"dpr": str(tmp_path / "out" / "dpr.json")}
    assert not (tmp_path / "out" / "kilt.jsonl").exists()
    assert len((tmp_path / "out" / "dpr.json").read_text().splitlines()) == len(QUESTIONS) + 2


def test_a_killed_search_goes_on_and_ends_as_one_that_was_not(
    ready, config, tmp_path, monkeypatch, asked_of
):
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "whole")
    out = tmp_path / "out"
    with killed_after(1, monkeypatch):
        search_ngrams(ready.index, ready.questions, config=config, out=out)
    assert not (out / "dpr.json").exists()
    with (out / "answers.jsonl").open("a") as file:
        file.write('{"query_id": "q2", "question": "Who wr')  # what the kill left of a line
    del asked_of[:]
    assert (
        search_ngrams(ready.index, ready.questions, config=config, out=out).summary["answered_now"]
        == 1
    )
    assert asked_of == ["q2"]
    for mine, theirs in zip(dpr_of(out), dpr_of(tmp_path / "whole"), strict=True):
        found = [(hit["passage_id"], hit["score"]) for hit in mine["ctxs"]]
        assert found == [
            (hit["passage_id"], pytest.approx(hit["score"], abs=1e-3)) for hit in theirs["ctxs"]
        ]
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1 + len(QUESTIONS)


def test_answered_questions_need_no_model_again(ready, config, tmp_path, asked_of):
    out = tmp_path / "out"
    search_ngrams(ready.index, ready.questions, config=config, out=out)
    before = dpr_of(out)
    result = search_ngrams(ready.index, ready.questions, config=config, out=out)
    assert asked_of == [*QUESTIONS]
    assert (result.summary["answered_now"], result.summary["queries_per_s"]) == (0, None)
    assert dpr_of(out) == before


def test_new_and_changed_questions_alone_are_asked(ready, config, tmp_path, asked_of):
    out = tmp_path / "out"
    search_ngrams(ready.index, ready.questions, config=config, out=out)
    other = [Topic(Query("q1", "Something else?")), Topic(Query("q2", QUESTIONS["q2"])),
             Topic(Query("q3", "And this?"), ("yes",))]  # fmt: skip
    search_ngrams(ready.index, other, config=config, out=out)
    assert asked_of == ["q1", "q2", "q1", "q3"]
    assert [item["question"] for item in dpr_of(out)] == [t.query.text for t in other]
    assert dpr_of(out)[2]["answers"] == ["yes"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"k": 2}, r"k \(5, now 2\)"),
        ({"scoring": Scoring(exponent=1.0)}, "scoring"),
        ({"decoding": Decoding(beams=2)}, "decoding"),
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


def test_answers_of_another_index_or_model_are_not_mixed(ready, config, tmp_path):
    index, out = tmp_path / "ix", tmp_path / "out"
    shutil.copytree(ready.index, index)
    search_ngrams(index, ready.questions, config=config, out=out)
    build_ngrams([Document("new", "Newer.")], out=index, config=NgramBuildConfig(append=True))
    with pytest.raises(InputError, match=r"another search; different: index \("):
        search_ngrams(index, ready.questions, config=config, out=out)
    shutil.copytree(ready.model, tmp_path / "model")
    described = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps({**described, "dropout": 0.5}))
    other = replace(config, model=tmp_path / "model")
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "same")
    with pytest.raises(InputError, match=r"another search; different: model \("):
        search_ngrams(ready.index, ready.questions, config=other, out=tmp_path / "same")


def test_a_model_is_found_in_the_folder_of_its_training(ready, config, tmp_path):
    shutil.copytree(ready.model, tmp_path / "trained" / "model")
    trained = replace(config, model=tmp_path / "trained")
    found = ask(ready.index, "Who?", config=trained)
    assert found["results"] == ask(ready.index, "Who?", config=config)["results"]


def test_the_batch_is_no_setting_of_the_answers(ready, config, tmp_path, asked_of):
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    one = replace(config, decoding=replace(DECODING, batch=1))
    search_ngrams(ready.index, ready.questions, config=one, out=tmp_path / "out")
    assert asked_of == [*QUESTIONS]


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


def test_an_answer_file_cut_within_its_first_line_is_begun_again(tmp_path):
    from argus.generative.answer import Answer

    path = tmp_path / "answers.jsonl"
    path.write_text('{"settings": {"k"')
    answers, query = AnswerFile(path, {"k": 1}, "</s>"), Query("q", "?")
    answers.check()
    with answers.appending() as file:
        file.add(query, Answer("q", []))
    again = AnswerFile(path, {"k": 1}, "</s>")
    again.check()
    assert query in again
    assert again.read(query) == Answer("q", [])


def test_questions_without_text_are_not_asked_and_told(ready, config, tmp_path, asked_of):
    topics = [Topic(Query("q1", " ")), Topic(Query("q2", "Who?"))]
    result = search_ngrams(ready.index, topics, config=config, out=tmp_path / "out")
    assert asked_of == ["q2"]
    assert result.summary["questions"] == {
        "total": 2, "answered": 1, "nothing_found": 0, "without_text": 1,
    }  # fmt: skip
    assert [len(item["ctxs"]) > 0 for item in dpr_of(tmp_path / "out")] == [False, True]


def test_exact_texts_come_from_an_unchanged_corpus(ready, config, tmp_path):
    spaced = [{**row, "text": row["text"].replace(" ", "  ")} for row in ROWS]
    corpus = write(tmp_path / "c.jsonl", spaced)
    build_ngrams(corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer=str(ready.model)))

    def texts(folder, **options):
        search_ngrams(tmp_path / "ix", ready.questions, config=config, out=folder, **options)
        return {h["passage_id"]: h["text"] for item in dpr_of(folder) for h in item["ctxs"]}

    by_tokens, exact = texts(tmp_path / "a"), texts(tmp_path / "b", corpus=corpus)
    own = {row["_id"]: row["text"] for row in spaced}
    assert exact == {id_: own[id_] for id_ in by_tokens}
    assert by_tokens == {id_: " ".join(text.split()) for id_, text in exact.items()}
    write(corpus, [{**spaced[0], "text": "Other."}, *spaced[1:]])
    with pytest.raises(InputError, match=r"not the one that was indexed: 1 changed \(bern\)"):
        texts(tmp_path / "c", corpus=corpus)
    assert not (tmp_path / "c").exists()


def test_minder_reads_pseudo_queries_and_needs_them(ready, tmp_path):
    config = NgramSearchConfig(model=ready.model, mode=Mode.MINDER, k=5, decoding=DECODING)
    result = search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    assert result.summary["mode"] == "minder"
    build_ngrams(
        ready.corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer=str(ready.model))
    )
    with pytest.raises(InputError, match=r"no pseudo-queries; .*--pseudo-queries FILE"):
        search_ngrams(tmp_path / "ix", ready.questions, config=config, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_without_a_model_it_is_said_how_to_get_one(ready, tmp_path):
    for model, got in ((None, "no model is given"), (tmp_path / "none", "no such folder"),
                       (tmp_path, "no config.json"), (ready.corpus, "is a file")):  # fmt: skip
        with pytest.raises(InputError, match=got) as caught:
            search_ngrams(
                ready.index, ready.questions, config=NgramSearchConfig(model=model), out=tmp_path
            )
        assert "argus generative train" in str(caught.value)
        assert "seq2seq checkpoint" in str(caught.value)


def test_a_model_of_another_vocabulary_is_refused(ready, config, tmp_path):
    build_ngrams(ready.corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer="bpe:300"))
    with pytest.raises(InputError, match=r"vocabulary .* is not that of the index"):
        search_ngrams(tmp_path / "ix", ready.questions, config=config, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_no_seq2seq_model_is_refused(ready, config, tmp_path):
    shutil.copytree(ready.model, tmp_path / "gpt")
    described = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
    (tmp_path / "gpt" / "config.json").write_text(json.dumps(described))
    with pytest.raises(InputError, match="a gpt2 model, which has no encoder"):
        search_ngrams(
            ready.index, ready.questions, out=tmp_path / "out",
            config=replace(config, model=tmp_path / "gpt"),
        )  # fmt: skip


def test_what_is_no_index_is_refused(ready, config, tmp_path):
    with pytest.raises(InputError, match="no n-gram index in it"):
        search_ngrams(tmp_path, ready.questions, config=config, out=tmp_path / "out")
    with pytest.raises(InputError, match="is a file; expected the folder"):
        search_ngrams(ready.corpus, ready.questions, config=config, out=tmp_path / "out")


def test_fresh_never_deletes_what_is_read(ready, config):
    with pytest.raises(InputError, match="--fresh would empty the folder that holds"):
        search_ngrams(ready.index, ready.questions, config=config, out=ready.index, fresh=True)
    assert (ready.index / "ngrams" / "ngram.json").is_file()


def test_questions_twice_and_none_are_refused(ready, config, tmp_path):
    twice = [Topic(Query("q", "a")), Topic(Query("q", "b"))]
    for topics, message in ((twice, "two questions have the id 'q'"), ([], "no question")):
        with pytest.raises(InputError, match=message):
            search_ngrams(ready.index, topics, config=config, out=tmp_path / "out")
    with pytest.raises(InputError, match="expected a whole number from 1"):
        NgramSearchConfig(model=ready.model, k=0)


def test_one_question_is_answered_as_among_many(ready, config, tmp_path):
    found = ask(ready.index, QUESTIONS["q2"], config=config)
    search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    expected = dpr_of(tmp_path / "out")[1]["ctxs"]
    assert [hit["id"] for hit in found["results"]] == [hit["passage_id"] for hit in expected]
    for mine, theirs in zip(found["results"], expected, strict=True):
        assert mine["score"] == pytest.approx(theirs["score"], abs=1e-4)
        assert {key["view"] for key in mine["keys"]} <= {"title", "body", "question", "unigram"}
    with pytest.raises(InputError, match="an empty query"):
        ask(ready.index, " ", config=config)


def test_the_report_shows_every_question(ready, config, tmp_path):
    result = search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    page = result.report.read_text("utf-8")
    for text in QUESTIONS.values():
        assert text in page
    assert 'data-plot="generative_views"' in page


def test_a_search_shows_its_figures(ready, config, tmp_path, monkeypatch):
    result = search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "out")
    assert shown(result)[0].startswith(f"{len(QUESTIONS)} of {len(QUESTIONS)} questions answered")
    assert sizes(result, monkeypatch) == {"table": len(QUESTIONS)}


def test_single_tokens_hang_on_what_the_model_is(ready, config, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(ready.model, model)
    (model / NOTE).write_text(json.dumps({"base": {"name": "scratch"}}))
    plain = search_ngrams(ready.index, ready.questions, config=config, out=tmp_path / "plain")
    scratch = replace(config, model=model)
    small = search_ngrams(ready.index, ready.questions, config=scratch, out=tmp_path / "small")
    published = Scoring(smoothing=0.05, unigrams=5000)
    as_published = replace(scratch, scoring=published)
    same = search_ngrams(
        ready.index, ready.questions, config=as_published, out=tmp_path / "published"
    )
    views = [
        {key.view for _, answer in r.results for hit in answer.hits for key in hit.keys}
        for r in (plain, small, same)
    ]
    assert "unigram" in views[0] and "unigram" not in views[1]
    assert dpr_of(tmp_path / "published") == dpr_of(tmp_path / "plain")
    assert settings_in(tmp_path / "small")["scoring"]["unigrams"] == 0


def test_a_search_with_a_cure_is_replayed_with_it(ready, config, tmp_path):
    decoding = replace(DECODING, cure=Cure.BACKTRACKING, rounds=2)
    out = tmp_path / "out"
    search_ngrams(ready.index, ready.questions, config=replace(config, decoding=decoding), out=out)
    settings = settings_in(out)
    assert settings["decoding"]["cure"] == "backtracking" and settings["decoding"]["rounds"] == 2
    with pytest.raises(InputError, match="answers of another search; different: decoding"):
        search_ngrams(ready.index, ready.questions, config=config, out=out)
    read = search_config(settings, ready.model, ReplayConfig(model=ready.model))
    assert read.decoding == replace(decoding, batch=read.decoding.batch)
