"""Gains of the blend stand beside its rivals, and repair says when questions are too few."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from argus.data.runs import ranking
from argus.data.types import Query
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.measures import evaluate
from argus.tuning.arms import FUSION_ARMS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "data"
JUDGED = ["--queries", str(DATA / "questions.jsonl"), "--qrels", str(DATA / "qrels.tsv")]
FUSIONS = ["min-max 0.3", "min-max 0.5", "RRF (60)", "DBSF"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims") / "index"
    corpus = ["--corpus", str(DATA / "chunks.jsonl"), "--title-field", "metadata.title"]
    assert run("index", "build", *corpus, "--out", folder).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def repaired(index):
    result = run("tune", "try", "--index", index, *JUDGED, "--only-try")
    assert result.exit_code == 0, result.output
    return result.output, json.loads((index / "repair" / "summary.json").read_text())["repair"]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_rival_is_the_plain_fusion_of_the_vectors_with_bm25(index, repaired, minilm):
    rows = map(json.loads, (DATA / "questions.jsonl").read_text().splitlines())
    questions = [Query(row["_id"], row["text"]) for row in rows]
    qrels = {}
    for line in (DATA / "qrels.tsv").read_text().splitlines()[1:]:
        query, doc, grade = line.split("\t")
        qrels.setdefault(query, {})[doc] = int(grade)
    opened = ViewIndex.open(index)
    words = IndexRetriever(opened, minilm).lexical().search([q.text for q in questions], 100)
    dense = IndexRetriever(opened, minilm).search(questions, 100)
    fused = {}
    for query, lexical in words.run([q.id for q in questions]).items():
        total = {}
        for scores in (dense[query], lexical):
            for rank, doc in enumerate(ranking(scores), 1):
                total[doc] = total.get(doc, 0) + 1 / (60 + rank)
        fused[query] = {doc: total[doc] for doc in ranking(total)[:10]}
    per_query = evaluate(fused, qrels, ["nDCG@10"]).per_query
    mean = sum(values["nDCG@10"] for values in per_query.values()) / len(per_query)
    (rrf,) = (arm for arm in repaired[1]["arms"] if arm["arm"] == "RRF (60)")
    assert rrf["ndcg10"]["mean_after"] == pytest.approx(mean, abs=1e-3)


HYBRID = """
from argus.data.types import Query
from argus.indexes.retriever import open_retriever

index = open_retriever({index!r}, hybrid="rrf")


def retrieve(question, k):
    return list(index.search([Query("q", question)], k)["q"])
"""


def test_a_hybrid_whose_vectors_alone_are_better_is_told_so_first(index, tmp_path):
    (tmp_path / "hybrid.py").write_text(HYBRID.format(index=str(index)))
    mine = ["--retriever", tmp_path / "hybrid.py:retrieve"]
    result = run("tune", "try", "--index", index, *JUDGED, *mine, "--only-try", "--out", tmp_path)
    lines = [line for line in result.output.splitlines() if "nDCG@10 " in line]
    assert result.exit_code == 0 and lines[0].endswith("what is added to the vectors hurts")
    summary = json.loads((tmp_path / "summary.json").read_text())["repair"]
    (vectors,) = (arm for arm in summary["arms"] if arm["arm"] == "vectors alone")
    assert vectors["passes"] and vectors["ndcg10"]["mean_difference"] > 0.2
    assert summary["mine"] and summary["questions_failed"] == 0


def test_the_claimed_gain_of_the_blend_and_its_rivals_are_the_benchmarks():
    from argus.verdict.verdict import BLEND_MEASURED

    stored = json.loads((ROOT / "benchmarks" / "results" / "tuning.json").read_text())
    tables = [one["nDCG@10"] for one in stored["result"]["collections"].values()]
    readme = (ROOT / "README.md").read_text("utf-8")

    def gain(arm):
        return f"{np.mean([table[arm] - table['vectors alone'] for table in tables]):+.3f}"

    best = [max(table[arm] for arm in FUSION_ARMS) - table["vectors alone"] for table in tables]
    assert f"{np.mean(best):+.3f}" in BLEND_MEASURED and f"{np.mean(best):+.3f}" in readme
    assert all(gain(arm) in BLEND_MEASURED for arm in ("blend", *FUSIONS))
    assert all(gain(arm) in readme for arm in ("blend", "min-max 0.3", "RRF (60)", "DBSF"))
