"""Compare identifiers of a real n-gram search; refuse keys of another one."""

from __future__ import annotations

import json
import shutil

import pytest

from argus.data.runs import ranking, read_run
from argus.errors import InputError
from argus.explanation.config import RunConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.run import explain_run
from argus.generative.jobs.search import search_ngrams
from argus.generative.settings import Decoding, NgramSearchConfig, Scoring
from tests.support.ngrams import QUESTIONS, make_ready

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


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.json", None, "no such file; expected answers.jsonl, or DPR JSON"),
        ("x.jsonl", "", "cannot be read"),
        ("x.jsonl", '{"q1": 1}\n', "no settings in its first line"),
        ("x.jsonl", '{"settings": {}}\n{"query_id": "q1"}\n', "cannot be read"),
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
