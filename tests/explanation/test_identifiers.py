"""Identifiers are those that a real n-gram search kept; keys of another search are refused."""

from __future__ import annotations

import json
import shutil

import pytest

from argus.data.runs import ranking, read_run
from argus.data.types import Document
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.explanation.identifiers import AnswerKeys, _holds, run_identifiers
from argus.explanation.run import explain_run
from argus.explanation.types import Cause, Verdict
from argus.generative.decode.settings import Decoding
from argus.generative.folders import index_folder
from argus.generative.index import NgramIndex
from argus.generative.jobs.search import search_ngrams
from argus.generative.jobs.settings import NgramSearchConfig
from argus.generative.settings import Scoring
from tests.support.ngrams import QUESTIONS, ROWS, make_ready

DECODING = Decoding(beams=3, body_tokens=4, title_tokens=6, query_tokens=6)
SCORING = Scoring(smoothing=0.05)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    return make_ready(tmp_path_factory.mktemp("ngrams"))


@pytest.fixture(scope="module")
def out(ready, tmp_path_factory):
    """Search both questions; return the folder of the results."""
    folder = tmp_path_factory.mktemp("found")
    config = NgramSearchConfig(model=ready.model, k=5, decoding=DECODING, scoring=SCORING)
    search_ngrams(ready.index, ready.questions, config=config, out=folder)
    return folder


@pytest.fixture
def copied(out, tmp_path):
    """Return a copy of the results that may be changed."""
    return shutil.copytree(out, tmp_path / "copy")


@pytest.fixture(scope="module")
def ranked(out):
    return ranking(read_run(out / "run.json")["q1"])


@pytest.fixture(scope="module")
def weights(out):
    """Return weight by identifier of each passage of the first question."""
    item = json.loads((out / "dpr.json").read_text("utf-8"))[0]
    return {c["passage_id"]: {text: w for text, _, w in c["keys"]} for c in item["ctxs"]}


def explained(folder, doc, query="q1", **options):
    return explain_run(query, doc, folder / "run.json", RunConfig(**{"k": 2} | options))


def weight_by_text(rows):
    return {row["text"]: row["weight"] for row in rows}


@pytest.mark.parametrize("source", ["answers.jsonl", "dpr.json"])
def test_identifiers_stand_beside_those_of_the_kth_passage(copied, ranked, weights, source, of):
    (copied / ("dpr.json" if source == "answers.jsonl" else "answers.jsonl")).unlink()
    doc, kth = ranked[3], ranked[1]
    found = explained(copied, doc)
    finding = of(found, Cause.IDENTIFIERS)
    assert finding.state is Verdict.FOUND and found.cause is Cause.IDENTIFIERS
    evidence = finding.evidence
    assert evidence["file"] == str(copied / source) and evidence["rank"] == 4
    assert weight_by_text(evidence["identifiers"]) == pytest.approx(weights[doc])
    assert evidence["rival"]["id"] == kth and evidence["rival"]["rank"] == 2
    assert weight_by_text(evidence["rival"]["identifiers"]) == pytest.approx(weights[kth])
    assert set(evidence["lacking"]) == set(weights[kth]) - set(weights[doc])
    views = {row["view"] for row in evidence["identifiers"]}
    assert (views == {None}) == (source == "dpr.json"), "DPR JSON does not tell the view"
    assert found.query == QUESTIONS["q1"], "the keys know the question"


def test_within_k_the_first_passage_is_set_against_it(out, ranked, of):
    second = of(explained(out, ranked[1]), Cause.IDENTIFIERS)
    assert second.state is Verdict.RULED_OUT
    assert second.evidence["rival"]["id"] == ranked[0]
    first = of(explained(out, ranked[0]), Cause.IDENTIFIERS)
    assert first.evidence["rival"] is None and first.summary.startswith("found by ")


def test_identifiers_of_others_are_named_where_it_has_none(ready, out, ranked, weights, of):
    lost = next(row["_id"] for row in ROWS if row["_id"] not in ranked and row["text"].strip())
    found = explained(out, lost, corpus=ready.corpus, k=3)
    finding = of(found, Cause.IDENTIFIERS)
    assert found.cause is Cause.IDENTIFIERS and "no identifier found it" in found.verdict
    first = ranked[:3]
    others = {row["text"]: row for row in finding.evidence["others"]}
    assert set(others) == {text for doc in first for text in weights[doc]}
    for text, row in others.items():
        held = [doc for doc in first if text in weights[doc]]
        assert row["passages"] == len(held) and row["weight"] == pytest.approx(
            sum(weights[doc][text] for doc in held), abs=1e-4
        )
    assert [row["weight"] for row in finding.evidence["others"]] == sorted(
        (row["weight"] for row in others.values()), reverse=True
    )


def test_what_the_lost_document_holds_itself_is_told(ready, copied, of):
    lines = (copied / "answers.jsonl").read_text("utf-8").splitlines()
    answer = json.loads(lines[1])
    answer["hits"][0]["keys"] = [
        [" lake", 9, 2.0, "body"],
        ["</s> Ada Lovelace @@", 2, 1.0, "title"],
        [" wrote", 1, 0.5, "body"],
        [" || what", 4, 0.1, "query"],
    ]
    hits = [hit for hit in answer["hits"] if hit["doc_id"] != "ada"]
    lines[1] = json.dumps(answer | {"hits": hits})
    (copied / "answers.jsonl").write_text("\n".join(lines) + "\n")
    run = json.loads((copied / "run.json").read_text("utf-8"))
    run["q1"].pop("ada", None)
    (copied / "run.json").write_text(json.dumps(run))
    evidence = of(
        explained(copied, "ada", corpus=ready.corpus, k=1), Cause.IDENTIFIERS
    ).evidence  # fmt: skip
    held = {row["text"]: row["in_the_document"] for row in evidence["others"]}
    assert held == {
        " lake": False, "</s> Ada Lovelace @@": True,
        " wrote": False,  # it occurs once, in the passage that it found
        " || what": None,
    }  # fmt: skip


TITLED = Document("ada", "She wrote the first <b> program.", "Ada Lovelace")


@pytest.mark.parametrize("border", ["</s>", "[SEP]", "<|endoftext|>", "##"])
def test_a_title_is_compared_behind_the_tokenizers_border(border):
    unknown = () if border == "##" else (None,)  # which no rule could tell from a word
    for told in (border, *unknown):
        assert _holds(TITLED, f"{border} Ada Lovelace @@", told)
        assert _holds(TITLED, f"{border}Ada Love", told)
        assert not _holds(TITLED, f"{border} Lovelace @@", told), "no passage begins like this"
        assert not _holds(TITLED, f"{border} Basel @@", told)
        assert _holds(TITLED, " first <b>", told) and not _holds(TITLED, " first <i>", told)


def test_without_a_border_a_text_may_begin_with_one_like_it():
    assert _holds(TITLED, "<b> program", None)
    assert not _holds(TITLED, "<b> rain", None)
    assert _holds(TITLED, " || who wrote", None) is None


def test_the_border_is_read_from_answers_and_unknown_of_dpr(out, ready):
    keys = run_identifiers(out / "run.json", None, "q1", None, None)
    assert isinstance(keys, AnswerKeys)
    header = json.loads((out / "answers.jsonl").read_text("utf-8").splitlines()[0])
    assert keys.border == header["border"]
    index = NgramIndex.open(index_folder(ready.index))
    (title,) = index.vocabulary.encode(["Ada Lovelace"])
    (key,) = index.vocabulary.decode_all([(index.border, *title, index.vocabulary.title_end)])
    assert key.startswith(keys.border) and _holds(TITLED, key, keys.border)
    from_dpr = run_identifiers(out / "run.json", out / "dpr.json", "q1", None, None)
    assert isinstance(from_dpr, AnswerKeys) and from_dpr.border is None


def test_keys_of_another_search_are_ignored_or_refused_if_named(copied, ranked, of):
    run = json.loads((copied / "run.json").read_text("utf-8"))
    run["q1"] = {doc: float(i) for i, doc in enumerate(ranked)}  # the other way round
    (copied / "run.json").write_text(json.dumps(run))
    finding = of(explained(copied, ranked[0]), Cause.IDENTIFIERS)
    assert finding.state is Verdict.UNCHECKED and "is not of this run" in finding.summary
    with pytest.raises(InputError, match="ranks other passages than the run, or in another order"):
        explained(copied, ranked[0], keys=copied / "dpr.json")


def test_a_run_that_was_cut_or_reranked_is_of_its_search(copied, ranked, of):
    run = json.loads((copied / "run.json").read_text("utf-8"))
    run["q1"] = ranked[:3]
    (copied / "run.json").write_text(json.dumps(run))
    finding = of(explained(copied, ranked[3]), Cause.IDENTIFIERS)
    assert finding.state is Verdict.FOUND and finding.evidence["rank"] == 4


def test_the_answer_to_the_question_as_it_is_asked_now_counts(ready, copied, ranked, of, tmp_path):
    lines = (copied / "answers.jsonl").read_text("utf-8").splitlines()
    older = json.loads(lines[1]) | {"question": "Another one?", "hits": []}
    with (copied / "answers.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(older) + "\n" + '{"query_id": "q1", "cut')
    finding = of(explained(copied, ranked[0], queries=ready.questions), Cause.IDENTIFIERS)
    assert finding.state is Verdict.RULED_OUT


def test_a_question_without_results_is_explained(copied, of):
    answer = {"query_id": "q3", "question": "Nothing?", "hits": []}
    with (copied / "answers.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(answer) + "\n")
    found = explained(copied, "bern", "q3")
    assert found.cause is Cause.IDENTIFIERS and found.standing.run.of == 0
    assert found.verdict == (
        "did not come back (not among the 0 of the run): the search found no passage for this "
        "question"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.json", None, "no such file; expected answers.jsonl, or DPR JSON"),
        ("x.jsonl", "", "cannot be read"),
        ("x.jsonl", '{"q1": 1}\n', "no settings in its first line"),
        ("x.jsonl", '{"settings": {}}\n{"query_id": "q1"}\n', "question: field required"),
        ("x.jsonl", '{"settings": {}}\n', "does not hold this question"),
        ("x.json", '[{"id": "q7", "question": "?", "ctxs": []}]', "no query has the id 'q1'"),
        ("x.json", '[{"id": "q1", "question": "?"}]', "expected ctxs"),
        (
            "x.json",
            '[{"id": "q1", "question": "?", "ctxs": [{"passage_id": "a", "score": 1}]}]',
            "was written without keys",
        ),
    ],
)
def test_named_keys_that_cannot_serve_are_refused(copied, ranked, name, content, message):
    if content is not None:
        (copied / name).write_text(content)
    with pytest.raises(InputError, match=message):
        explained(copied, ranked[0], keys=copied / name)


def test_without_keys_it_is_said_where_they_are_looked_for(copied, ranked, of):
    for name in ("answers.jsonl", "dpr.json"):
        (copied / name).unlink()
    finding = of(explained(copied, ranked[0]), Cause.IDENTIFIERS)
    assert finding.state is Verdict.UNCHECKED
    assert "answers.jsonl or dpr.json" in finding.summary and "--keys FILE" in finding.advice
