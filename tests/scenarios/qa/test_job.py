"""`scenarios qa` on real documents with real scenarios, and an endpoint that does as it is told."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pytest

from argus.data.types import Document, Query
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, InputError
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.llm import ChatConfig, LanguageModelError, Ledger, State
from argus.scenarios.context import MAX_CHARS
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.qa.config import QAConfig
from argus.scenarios.qa.estimate import estimate_answers
from argus.scenarios.qa.job import compare_answers
from argus.scenarios.views import scenario_views
from tests.support.qa import DOCUMENTS, asking, between, honest, is_judging, is_reasoning
from tests.support.results import shown, sizes

ARGUS = Path(sys.executable).parent / "argus"
ARMS = ["documents", "fused", "fused + scenarios", "oracle", "oracle + scenarios"]


@pytest.fixture(scope="module")
def given(tmp_path_factory, shared, minilm):
    return asking(tmp_path_factory.mktemp("qa"), shared("spike_scenarios"), minilm)


@pytest.fixture
def config(endpoint):
    """Settings for an honest endpoint; model options as `m_...`."""
    endpoint.behave = honest

    def make(**options):
        asked = {"base_url": endpoint.url, "model": "m", "backoff_s": 0.001}
        model = ChatConfig(**asked | options.pop("asked", {}))
        return QAConfig(model=model, **{"resamples": 1000, "k": 3} | options)

    return make


@pytest.fixture
def compare(given, config, minilm, tmp_path):
    """Compare answers on the small index; the settings and what else is given may be others."""

    def run(out=tmp_path / "out", queries=given.queries, index=given.index, chosen=None, **options):
        usual = {"answers": given.answers, "qrels": given.qrels, "encoder": minilm}
        return compare_answers(
            index, queries, config=chosen or config(), out=out, **usual | options
        )

    return run


def rows(result):
    return result.table.to_pylist()


def by_arm(result):
    return {arm["arm"]: arm for arm in result.summary["arms"]}


def contexts(endpoint):
    return [t for t in endpoint.texts if not is_judging(t)]


def test_every_question_is_answered_and_judged_in_every_arm(compare, endpoint):
    result = compare()
    arms = by_arm(result)
    assert list(arms) == ARMS
    for arm in arms.values():
        assert arm["states"] == {"measured": DOCUMENTS, "failed": 0, "not applicable": 0}
        assert arm["low"] < arm["mean"] < arm["high"]
    table = rows(result)
    assert len(table) == len(ARMS) * DOCUMENTS
    for name, arm in arms.items():
        own = [row["score"] for row in table if row["arm"] == name]
        assert arm["mean"] == pytest.approx(sum(own) / len(own))
    found = {(c["before"], c["after"]): c["found"] for c in result.summary["comparisons"]}
    pair = found["documents", "fused + scenarios"]
    assert pair["mean_difference"] == pytest.approx(
        arms["fused + scenarios"]["mean"] - arms["documents"]["mean"]
    )
    assert result.summary["notes"] == []
    assert len(contexts(endpoint)) == len({(r["query_id"], r["answer"]) for r in table})


def test_scenarios_are_in_the_context_of_their_arms_alone(compare, endpoint, given):
    table = rows(compare())
    for row in table:
        shown = json.loads(row["documents"])
        if "oracle" in row["arm"]:
            gold = {f"q{i:02}": d for i, d in enumerate(_documents(given))}
            assert shown == [gold[row["query_id"]]]
            assert row["nDCG@10"] is None
        else:
            assert len(shown) == 3
            assert 0 <= row["nDCG@10"] <= 1
    same = {(r["query_id"], r["arm"]): r["documents"] for r in table}
    assert all(same[q, "fused"] == same[q, "fused + scenarios"] for q, _ in same)
    with_scenarios = [t for t in contexts(endpoint) if "\nInformation need: " in t]
    assert with_scenarios
    assert all("<scenarios " in t for t in with_scenarios)
    assert len(with_scenarios) <= 2 * DOCUMENTS


def test_the_documents_arm_is_the_ranking_without_scenarios(compare, given, minilm):
    table = rows(compare())
    index = ViewIndex.open(given.index)
    vectors = minilm.encode_queries([q.text for q in given.questions])
    alone = index.search(vectors, 3, "original").doc_ids
    fused = index.search(vectors, 3, weight=0.7).doc_ids
    found = {(r["query_id"], r["arm"]): json.loads(r["documents"]) for r in table}
    assert [found[q.id, "documents"] for q in given.questions] == alone
    assert [found[q.id, "fused"] for q in given.questions] == fused
    assert alone != fused


def test_the_files_hold_what_is_returned_and_the_report_shows_it(compare):
    result = compare()
    summary = json.loads((result.folder / "summary.json").read_text())["scenarios_qa"]
    assert summary == json.loads(json.dumps(result.summary))
    assert pyarrow.csv.read_csv(result.folder / "scenarios_qa.csv").num_rows == len(rows(result))
    page = result.report.read_text()
    assert "Do scenarios help to answer?" in page
    assert "relevant documents with scenarios" in page
    manifest = json.loads((result.folder / "manifest.json").read_text())["scenarios_qa"]
    assert set(manifest["inputs"]) == {"queries", "answers", "qrels"}
    assert "api_key" not in json.dumps(manifest)


def test_the_same_command_asks_nothing_again_and_says_the_same(compare, endpoint):
    first = compare()
    asked = len(endpoint.requests)
    again = compare(fresh=True)
    assert len(endpoint.requests) == asked
    assert again.summary["arms"] == first.summary["arms"]
    assert again.summary["language_model"]["answering"]["tokens_in"] == 0


def test_votes_are_kept_apart_and_their_agreement_measured(compare, config, endpoint):
    def wavering(prompt, n):
        said = honest(prompt)
        system = endpoint.requests[n - 1]["messages"][0]["content"]
        if is_judging(prompt) and system.endswith("number 2."):
            said["text"] = "SCORE: 0"
        return said

    endpoint.behave = wavering
    result = compare(chosen=config(votes=3, limit=4, asked={"concurrency": 1}))
    agreement = result.summary["agreement"]
    assert agreement["votes"] == 3 * agreement["answers"]
    assert 0 < agreement["mean_difference"] < 100
    assert agreement["alpha"] < 1
    assert any("temperature 0" in note for note in result.summary["notes"])
    first = rows(result)[0]
    a, b, c = first["votes"].split("; ")
    assert (b, a) == ("0", c)
    assert first["score"] == float(a), "the median"
    judge = QAConfig(
        model=config().model,
        judge=ChatConfig(base_url=endpoint.url, model="m", temperature=1.0),
        votes=2, limit=2, resamples=1000,
    )  # fmt: skip
    noted = compare(out=result.folder.parent / "warm", chosen=judge).summary["notes"]
    assert not any("temperature" in note for note in noted)
    assert endpoint.requests[-1]["temperature"] == 1.0


def test_bad_judgements_failed_and_are_in_no_mean_or_pair(compare, given, endpoint):
    said = ["SCORE: 250", "I'm sorry, I cannot judge this.", "It is good."]
    bad = dict(zip((q.text for q in given.questions), said, strict=False))

    def behave(prompt, n):
        asked = between(prompt, "PROBLEM") if is_judging(prompt) else ""
        return {"text": bad[asked]} if asked in bad else honest(prompt)

    endpoint.behave = behave
    result = compare()
    for arm in by_arm(result).values():
        assert arm["states"]["failed"] == 3
        assert arm["failures"] == {"out of range": 1, "refused": 1, "unparsable": 1}
        assert arm["questions"] == DOCUMENTS - 3
    failed = [r for r in rows(result) if r["state"] == "failed"]
    assert all(r["score"] is None and r["answer"] and r["reason"] for r in failed)
    assert {r["stage"] for r in failed} == {"judgement"}
    for c in result.summary["comparisons"]:
        assert c["found"]["queries"] == DOCUMENTS - 3
    assert "the score 250 is not from 0 to 100" in result.report.read_text()


def test_without_judgements_there_is_no_oracle_and_that_is_said(compare):
    result = compare(qrels=None)
    assert list(by_arm(result)) == ARMS[:3]
    assert result.summary["retrieval"] is None
    [note] = result.summary["notes"]
    assert note.startswith("no judgements were given, so there is no oracle")
    assert "no judgements were given" in result.report.read_text()


def test_gold_that_the_index_lacks_is_counted(compare, given):
    docs = _documents(given)
    qrels = {f"q{i:02}": {doc: 1} for i, doc in enumerate(docs)} | {"q00": {"gone": 2}}
    qrels["q01"] = {docs[1]: 1, docs[2]: 3}
    result = compare(qrels=qrels)
    oracle = {r["query_id"]: r for r in rows(result) if r["arm"] == "oracle"}
    assert oracle["q00"]["state"] == "not applicable"
    assert json.loads(oracle["q01"]["documents"]) == [docs[2], docs[1]], "best grade first"
    assert result.summary["gold"]["ids"] == ["gone"]
    assert by_arm(result)["oracle"]["states"]["not applicable"] == 1


def test_reformulated_queries_search_and_the_question_stays(compare, given, endpoint):
    swapped = dict(
        zip([q.id for q in given.questions], [q.text for q in given.questions[::-1]], strict=True)
    )
    plain, other = rows(compare()), rows(compare(reasoned=swapped, out=given.index.parent / "r"))
    shown = [[r["documents"] for r in t if r["arm"] == "documents"] for t in (plain, other)]
    assert shown[1] == shown[0][::-1]
    assert [r["question"] for r in other] == [r["question"] for r in plain]


def test_reformulations_of_the_model_are_searched_for(compare, config, endpoint):
    def behave(prompt, n):
        if is_reasoning(prompt):
            return {"text": "<think>hm</think>capitalism, wages and poverty"}
        return honest(prompt)

    endpoint.behave = behave
    result = compare(chosen=config(reason=True))
    shown = {r["documents"] for r in rows(result) if r["arm"] == "documents"}
    assert len(shown) == 1, "all searched for the same words"
    assert sum(map(is_reasoning, endpoint.texts)) == DOCUMENTS
    assert result.summary["reasoned"] == "by the model"
    assert list(result.summary["language_model"]) == ["reformulating", "answering", "judging"]


def test_a_failed_reformulation_fails_in_every_arm(compare, config, given, endpoint):
    first = given.questions[0].text

    def behave(prompt, n):
        if is_reasoning(prompt) and prompt.startswith(first):
            return {"text": "cut", "finish": "length"}
        return honest(prompt)

    endpoint.behave = behave
    result = compare(chosen=config(reason=True))
    failed = [r for r in rows(result) if r["state"] == "failed"]
    assert [(r["query_id"], r["arm"]) for r in failed] == [("q00", arm) for arm in ARMS]
    assert all(r["stage"] == "retrieval" for r in failed)
    assert failed[0]["reason"].startswith("reformulating: the answer was cut off")


def test_without_any_reformulation_nothing_is_measured(compare, config, endpoint):
    endpoint.behave = lambda p, n: {"text": "cut", "finish": "length"}
    with pytest.raises(ArgusError, match=r"reformulating: the answer was cut off"):
        compare(chosen=config(reason=True))
    assert all(map(is_reasoning, endpoint.texts))


def test_a_limit_draws_questions_and_a_larger_one_keeps_them(compare, config):
    few, more, other = (
        {r["query_id"] for r in rows(compare(chosen=config(limit=n, seed=s)))}
        for n, s in ((3, 0), (7, 0), (3, 1))
    )
    assert (len(few), len(more)) == (3, 7)
    assert few < more
    assert other != few
    summary = compare(chosen=config(limit=3)).summary
    assert summary["questions"]["not drawn"] == DOCUMENTS - 3


def test_an_endpoint_that_dies_midway_costs_nothing_twice(
    compare, config, endpoint, second_endpoint, tmp_path
):
    whole = compare(out=tmp_path / "whole")
    needed = len(endpoint.requests)

    def twenty_and_gone(prompt, n):
        if n == 20:
            second_endpoint.stop()
        return honest(prompt)

    second_endpoint.behave = twenty_and_gone
    dying = config(
        asked={
            "base_url": second_endpoint.url, "attempts": 1, "concurrency": 1, "give_up_after": 2,
        }
    )  # fmt: skip
    with pytest.raises(LanguageModelError, match="run the same command again"):
        compare(chosen=dying)
    with Ledger(tmp_path / "out" / "answers.sqlite") as ledger:
        assert ledger.counts()[State.OK] == 20
    assert not (tmp_path / "out" / "summary.json").exists()
    before = len(endpoint.requests)
    result = compare()
    assert len(endpoint.requests) - before == needed - 20
    assert result.summary["arms"] == whole.summary["arms"]


def test_answers_that_never_came_are_asked_for_again(compare, config, given, endpoint):
    first = given.questions[0].text
    endpoint.behave = lambda p, n: {"drop": True} if first in p else honest(p)
    patient = config(asked={"attempts": 1, "give_up_after": 50})
    result = compare(chosen=patient)
    n = result.summary["unanswered"]
    assert n > 0
    assert result.summary["notes"] == [
        f"{n} prompts are without an answer; the same command asks only those"
    ]
    assert by_arm(result)["documents"]["failures"] == {"not answered": 1}
    before = len(endpoint.requests)
    endpoint.behave = honest
    again = compare(chosen=patient)
    assert again.summary["unanswered"] == 0
    assert len(endpoint.requests) - before == 2 * n, "each an answer and its judgement"


def test_a_budget_for_no_answer_is_an_error(compare, config):
    with pytest.raises(ArgusError, match=r"no answer got a score.*not asked.*asks only the rest"):
        compare(chosen=config(asked={"max_total_tokens": 10}))


def test_documents_of_200k_characters_are_cut_and_counted(config, endpoint, minilm, tmp_path):
    documents = [Document(f"d{i}", f"Bees number {i}. " + "honey " * 33_000) for i in range(3)]
    build_index(documents, out=tmp_path / "long", encoder=EncoderConfig(precision="float32"))
    profile = ScenarioProfile("Bees", (), (Scenario("A user asks about bees.", "It is on bees."),))
    views = scenario_views([Profiled("d1", ProfileState.OK, profile)])
    ViewIndex.open(tmp_path / "long").add(
        views, minilm.encode_documents([v.text for v in views]), remedy="scenarios-1"
    )
    result = compare_answers(
        tmp_path / "long", [Query("q", "What do bees make?")], config=config(),
        out=tmp_path / "out", answers={"q": "honey"}, encoder=minilm,
    )  # fmt: skip
    for row in rows(result):
        assert row["documents_cut"] == 3
        assert MAX_CHARS - 3_000 < row["context_chars"] <= MAX_CHARS
    assert by_arm(result)["documents"]["documents_cut"] == 3
    assert all(": the first " in text for text in contexts(endpoint))


def test_an_estimate_asks_nothing_and_is_exact_after_a_run(
    given, config, compare, endpoint, minilm, tmp_path
):
    options = {"answers": given.answers, "qrels": given.qrels, "encoder": minilm}
    out = tmp_path / "out"

    def estimated():
        return estimate_answers(given.index, given.queries, config=config(), out=out, **options)

    before = estimated()
    assert endpoint.requests == []
    assert not out.exists()
    assert not before["exact"]
    compare()
    assert before["stages"]["answering"]["to_ask"] == len(contexts(endpoint))
    assert before["total"]["to_ask"] >= len(endpoint.requests)
    after = estimated()
    assert after["exact"]
    assert after["total"]["to_ask"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": None}, r"no reference answers: the queries have none of the fields answer, "),
        ({"answers": Path("nowhere.jsonl")}, r"no such file"),
        ({"answers": {"x": "y"}}, r"the answers name none of the 16 queries \(they name 'x'; the"),
        ({"answers": {"q00": "  "}}, r"no question can be asked \(there is no reference answer\)"),
        ({"reasoned": {"x": "y"}}, r"the reformulated queries name none of the 16 queries"),
        ({"qrels": {"x": {"d": 1}}}, r"the judgements name none of the 16 queries"),
        ({"qrels": {"q00": {"gone": 1}}}, r"holds none of the 1 relevant documents"),
    ],
)
def test_input_that_does_not_fit_is_refused_before_writing(
    compare, endpoint, tmp_path, change, message
):
    with pytest.raises(InputError, match=message):
        compare(**change)
    assert endpoint.requests == []
    assert not (tmp_path / "out").exists()


def test_an_index_without_scenarios_is_refused(compare, given):
    with pytest.raises(InputError, match=r"@original: holds no scenarios.*argus remedy scenarios"):
        compare(index=f"{given.index}@original")


def test_two_ways_to_reformulate_are_refused(compare, config):
    with pytest.raises(InputError, match="one of --reasoned and --reason"):
        compare(chosen=config(reason=True), reasoned={"q00": "x"})


def test_answers_of_unknown_queries_are_counted(compare, given):
    some = {q: text for q, text in given.references.items() if q != "q03"} | {"stranger": "x"}
    result = compare(answers=some)
    questions = result.summary["questions"]
    assert questions["reasons"] == {"there is no reference answer": 1}
    assert questions["asked"] == DOCUMENTS - 1
    assert result.summary["notes"] == ["1 reference answers are for ids that are no query's"]


def test_answers_stand_in_the_queries_or_their_metadata(compare, given, tmp_path):
    path = tmp_path / "queries.jsonl"
    a, b = given.questions[:2]
    path.write_text(
        json.dumps({"_id": a.id, "text": a.text, "gold_answer": "Some answer."}) + "\n"
        + json.dumps({"_id": b.id, "text": b.text, "metadata": {"answer": "Another."}}) + "\n"
    )  # fmt: skip
    result = compare(queries=path, answers=None)
    assert {r["query_id"]: r["reference"] for r in rows(result)} == {
        a.id: "Some answer.",
        b.id: "Another.",
    }


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(given, config, compare, endpoint, tmp_path):
    command = [
        ARGUS, "scenarios", "qa", "--index", given.index, "--queries", given.queries,
        "--answers", given.answers, "--qrels", given.qrels, "--model", "m", "--base-url",
        endpoint.url, "--k", 3, "--out", tmp_path / "out", "--concurrency", 1,
    ]  # fmt: skip
    child = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def deadly(prompt, n):
        if n == 9:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        return honest(prompt)

    endpoint.behave = deadly
    assert child.wait(timeout=300) == -signal.SIGKILL
    with Ledger(tmp_path / "out" / "answers.sqlite") as ledger:
        assert ledger.counts() == {State.OK: 8, State.FAILED: 0}
    endpoint.behave = honest
    result = compare()
    assert len(set(endpoint.texts[9:]) & set(endpoint.texts[:8])) == 0
    assert by_arm(result)["documents"]["states"]["measured"] == DOCUMENTS


def _documents(given):
    lines = given.qrels.read_text().splitlines()
    return [json.loads(line)["doc_id"] for line in lines]


def test_answers_show_their_figures(compare, monkeypatch):
    result = compare()
    asked = result.summary["questions"]["asked"]
    assert shown(result)[0].startswith(f"questions: {asked} asked, ")
    assert sizes(result, monkeypatch) == {"table": len(rows(result))}
