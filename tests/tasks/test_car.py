"""The released files of CAR, against collections that were converted from them."""

import json

import pytest

from argus.authority.benchmarks.collection import read_benchmark
from argus.authority.rules import Edge
from argus.errors import InputError
from argus.tasks.opening import open_task
from tests.support.tasks import FINSUPERQA, event, lines, read_lines


def documents_of(folder):
    return {document["_id"]: document for document in read_lines(folder / "corpus.jsonl")}


def ghsa(folder, converted):
    """The released pairs, questions and hypothetical documents, written back."""
    documents = documents_of(converted)
    pairs = [
        {"id": id_.removesuffix("#patch"), "cve_id": patch["entities"]["cve_id"],
         "product": patch["entities"]["product"], "patch_text": patch["text"],
         "disclosure_text": documents[id_.replace("#patch", "#disclosure")]["text"]}
        for id_, patch in documents.items() if id_.endswith("#patch")
    ]  # fmt: skip
    folder.mkdir()
    (folder / "ghsa_real_pairs.json").write_text(json.dumps(pairs))
    queries = read_lines(converted / "queries.jsonl")
    lines(folder / "ghsa_freeform_cache.jsonl",
          *({"id": q["_id"], "query": q["text"]} for q in queries))  # fmt: skip
    hyde = read_lines(converted / "hyde.jsonl")
    lines(folder / "ghsa_hyde_cache.jsonl",
          *({"id": h["_id"], "hypothetical": h["hypothetical"]} for h in hyde))  # fmt: skip
    lines(folder / "distractors.jsonl",
          *({"doc_id": d["_id"], "text": d["text"], "event_type": d["type"],
             "entities": d["entities"]}
            for d in documents.values() if d["type"] == "distractor"))  # fmt: skip
    return folder / "ghsa_real_pairs.json"


def test_the_pairs_of_ghsa_are_the_converted_benchmark(shared, tmp_path):
    converted = read_benchmark(shared("authority/ghsa"))
    file = ghsa(tmp_path / "data", shared("authority/ghsa"))
    task = open_task(f"car:{file},distractors={file.with_name('distractors.jsonl')}")
    benchmark = task.benchmark
    assert len(benchmark.records) == 2318
    assert {r.id: r.text for r in benchmark.records} == {r.id: r.text for r in converted.records}
    assert set(benchmark.edges) == set(converted.edges)
    assert benchmark.hypotheticals == converted.hypotheticals
    own = {q.id: (q.text, q.gold, q.anchor, set(q.equivalent)) for q in benchmark.questions}
    assert own == {q.id: (q.text, q.gold, q.anchor, set(q.equivalent)) for q in converted.questions}
    assert len(open_task(file).documents) == 318


def test_the_pairs_of_scotus_ask_by_the_papers_template(shared, tmp_path):
    stubs = shared("authority/scotus") / "car44_stubs"
    documents, converted = documents_of(stubs), read_benchmark(stubs)
    pairs = []
    for question in converted.questions:
        older, newer = (documents[f"{question.id}#{kind}"] for kind in ("original", "overruling"))
        pairs.append({
            "id": question.id, "original_case": older["entities"]["case_name"],
            "original_citation": older["entities"]["us_cite"], "original_text": older["text"],
            "overruling_case": newer["entities"]["case_name"],
            "overruling_citation": newer["entities"]["us_cite"], "overruling_text": newer["text"],
        })  # fmt: skip
    file = tmp_path / "legal_real_pairs.json"
    file.write_text(json.dumps(pairs))
    task = open_task(file)
    assert task.name == "car/legal_real_pairs" and len(task.documents) == 88
    for own, theirs in (
        (task.queries, converted.questions), (task.benchmark.records, converted.records),
    ):  # fmt: skip
        assert {one.id: one.text for one in own} == {one.id: one.text for one in theirs}


FDA = {
    "id": "fda_0000", "norm_name": "nizatidine", "generic_name": "NIZATIDINE", "brand_name": "X",
    "query": "Is the drug for ulcers still approved?", "recall_date": "20200415",
    "anchor_text": "NIZATIDINE - Approved Drug Label. For ulcers.",
    "superseder_text": "FDA Drug Enforcement Action. Recall number: D-0.",
    "reason_for_recall": "CGMP Deviations",
}  # fmt: skip


def test_the_pairs_of_fda(tmp_path):
    file = tmp_path / "fda_recall_pairs.json"
    file.write_text(json.dumps([FDA]))
    task = open_task(f"car:{file}")
    label, recall = task.benchmark.records
    assert (label.id, recall.id) == ("fda_0000#label", "fda_0000#recall")
    assert (str(recall.time), recall.scope) == ("20200415", {"norm_name": "nizatidine"})
    assert task.benchmark.edges == [Edge("fda_0000#recall", "fda_0000#label")]
    assert task.qrels == {"fda_0000": {"fda_0000#recall": 1}}


@pytest.fixture
def finsuperqa(tmp_path):
    (tmp_path / "finsuperqa_test_ids.txt").write_text("fba01b1c-8c7\n")
    return lines(tmp_path / "finsuperqa_v1.jsonl", *FINSUPERQA)


def test_questions_with_their_events(finsuperqa):
    task = open_task(finsuperqa)
    calm, chain = task.benchmark.questions
    assert task.name == "car/finsuperqa" and len(task.documents) == 4
    assert (calm.gold, calm.anchor, calm.hop) == (("e23513f5",), ("e23513f5",), "T0")
    assert (chain.gold, chain.anchor, chain.hop) == (("7d710b9b",), ("9dd309f5",), "T2")
    assert chain.chain == ("9dd309f5", "632b958e", "7d710b9b") and chain.answer == "compliant"
    assert chain.scope == {"employee": "EMP018-Brown", "ticker": "ORCL"}
    assert task.benchmark.edges == [
        Edge("632b958e", "9dd309f5", "R1"), Edge("7d710b9b", "632b958e", "R3"),
    ]  # fmt: skip


def test_edges_of_the_other_generators(tmp_path):
    older = event("36546a9e", "ruling_issued", "14", "The court held that it is so.")
    newer = event("303edecd", "ruling_overruled", "20", "The earlier approach is overruled.")
    question = {
        "example_id": "leg-t1-0100", "hop_type": "type1_overruling_supersedes_ruling",
        "employee": "miller_v_phillips", "ticker": "LEGALQ-1101", "query": "Still good law?",
        "answer": "overruled", "kb": [older, newer],
        "supersession_edges": [
            {"trigger_id": "303edecd", "target_id": "36546a9e", "rule": "R_LEG1"}],
    }  # fmt: skip
    benchmark = open_task(lines(tmp_path / "legalprecedentqa_v1.jsonl", question)).benchmark
    assert benchmark.questions[0].gold == ("303edecd",) and benchmark.questions[0].hop == "T1"
    assert benchmark.edges == [Edge("303edecd", "36546a9e", "R_LEG1")]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"query": " "}, "no text"),
        ({"kb": "none"}, "list of objects"),
        ({"provenance": [{"event_id": "elsewhere"}]}, "no event of the question"),
        ({"kb": [FINSUPERQA[0]["kb"][0] | {"timestamp": "some day"}]}, "time"),
    ],
)
def test_broken_questions_are_refused_by_their_line(tmp_path, change, problem):
    file = lines(tmp_path / "finsuperqa_v1.jsonl", FINSUPERQA[1], FINSUPERQA[0] | change)
    with pytest.raises(InputError, match=problem) as error:
        open_task(file)
    assert (error.value.where.file, error.value.where.line) == (file, 2)
