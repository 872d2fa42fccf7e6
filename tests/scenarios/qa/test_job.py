"""`scenarios qa` on real documents with real scenarios, and an endpoint that does as it is told."""

import json

import pytest

from argus.errors import InputError
from argus.indexes.views import ViewIndex
from argus.llm import ChatConfig
from argus.scenarios.qa.job import QAConfig, compare_answers, estimate_answers
from tests.conftest import Endpoint, serving
from tests.support.qa import DOCUMENTS, asking, between, honest, is_judging

ARMS = ["documents", "fused", "fused + scenarios", "oracle", "oracle + scenarios"]


@pytest.fixture(scope="module")
def given(tmp_path_factory, shared, minilm):
    return asking(tmp_path_factory.mktemp("qa"), shared("spike_scenarios"), minilm)


@pytest.fixture
def compare(given, endpoint, minilm, tmp_path):
    """Compare answers on the small index, or estimate it; what is given may be others."""
    endpoint.behave = honest
    model = ChatConfig(base_url=endpoint.url, model="m", backoff_s=0.001)

    def run(job=compare_answers, **options):
        usual = {"answers": given.answers, "qrels": given.qrels, "encoder": minilm}
        config, out = QAConfig(model=model, resamples=1000, k=3), tmp_path / "out"
        return job(given.index, given.queries, config=config, out=out, **usual | options)

    return run


def rows(result):
    return result.table.to_pylist()


def by_arm(result):
    return {arm["arm"]: arm for arm in result.summary["arms"]}


def contexts(texts):
    return [t for t in texts if not is_judging(t)]


@pytest.fixture(scope="module")
def whole(given, minilm, tmp_path_factory):
    """A comparison by an honest endpoint, and what the same command says again."""
    endpoint, out = Endpoint(), tmp_path_factory.mktemp("whole")
    endpoint.behave = honest
    options = {"answers": given.answers, "qrels": given.qrels, "encoder": minilm}
    with serving(endpoint) as url:
        config = QAConfig(model=ChatConfig(base_url=url, model="m"), resamples=1000, k=3)
        first = compare_answers(given.index, given.queries, config=config, out=out, **options)
        texts = list(endpoint.texts)
        options["fresh"] = True
        again = compare_answers(given.index, given.queries, config=config, out=out, **options)
    assert len(endpoint.texts) == len(texts), "nothing is asked again"
    return first, again, texts


def test_every_question_is_answered_and_judged_in_every_arm(whole):
    result, again, texts = whole
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
    assert len(contexts(texts)) == len({(r["query_id"], r["answer"]) for r in table})
    assert again.summary["arms"] == result.summary["arms"]
    assert again.summary["language_model"]["answering"]["tokens_in"] == 0


def test_scenarios_are_in_the_context_of_their_arms_alone(whole, given):
    result, _, texts = whole
    docs = _documents(given)
    shown = {(r["query_id"], r["arm"]): json.loads(r["documents"]) for r in rows(result)}
    for query, arm in shown:
        assert shown[query, "oracle"] == [docs[int(query[1:])]]
        assert shown[query, arm] == shown[query, arm.removesuffix(" + scenarios")]
    with_scenarios = [t for t in contexts(texts) if "\nInformation need: " in t]
    assert 0 < len(with_scenarios) <= 2 * DOCUMENTS


def test_the_documents_arm_is_the_ranking_without_scenarios(whole, given, minilm):
    table = rows(whole[0])
    index = ViewIndex.open(given.index)
    vectors = minilm.encode_queries([q.text for q in given.questions])
    alone = index.search(vectors, 3, "original").doc_ids
    fused = index.search(vectors, 3, weight=0.7).doc_ids
    found = {(r["query_id"], r["arm"]): json.loads(r["documents"]) for r in table}
    assert [found[q.id, "documents"] for q in given.questions] == alone
    assert [found[q.id, "fused"] for q in given.questions] == fused
    assert alone != fused


def test_bad_judgements_failed_and_are_in_no_mean_or_pair(compare, given, endpoint):
    said = ["SCORE: 250", "I'm sorry, I cannot judge this.", "It is good."]
    bad = dict(zip((q.text for q in given.questions), said, strict=False))

    def behave(prompt, n):
        asked = between(prompt, "PROBLEM") if is_judging(prompt) else ""
        return {"text": bad[asked]} if asked in bad else honest(prompt)

    endpoint.behave = behave
    result = compare()
    for arm in by_arm(result).values():
        assert arm["failures"] == {"out of range": 1, "refused": 1, "unparsable": 1}
        assert arm["questions"] == DOCUMENTS - 3
    failed = [r for r in rows(result) if r["state"] == "failed"]
    assert all(r["score"] is None and r["answer"] and r["reason"] for r in failed)
    for c in result.summary["comparisons"]:
        assert c["found"]["queries"] == DOCUMENTS - 3


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


def test_an_estimate_asks_nothing_and_is_exact_after_a_run(compare, endpoint, tmp_path):
    before = compare(estimate_answers)
    assert endpoint.requests == [] and not (tmp_path / "out").exists()
    compare()
    assert before["stages"]["answering"]["to_ask"] == len(contexts(endpoint.texts))
    assert not before["exact"] and before["total"]["to_ask"] >= len(endpoint.requests)
    after = compare(estimate_answers)
    assert after["exact"] and after["total"]["to_ask"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": None}, r"no answer field among"),
        ({"answers": {"x": "y"}}, r"no question can be asked .*answers such as 'x'"),
        ({"reasoned": {"x": "y"}}, r"no question can be asked .*reformulated queries such as 'x'"),
        ({"qrels": {"x": {"d": 1}}}, r"the judgements name none of the 10 queries"),
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


def _documents(given):
    lines = given.qrels.read_text().splitlines()
    return [json.loads(line)["doc_id"] for line in lines]
