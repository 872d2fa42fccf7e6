"""Instructions of tasks in front of queries, for models that take one."""

import pytest

from argus.encoders.config import EncoderConfig
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.suite.job import run_suite
from argus.tasks.opening import open_task
from tests.support.sentence_models import make_model
from tests.support.suites import draw
from tests.support.tasks import parquet

PROMPT = "Instruct: {instruction}\\nQuery: "
SUITE = """
k = 50
[[retrievers]]
name = "taught"
encoder = "{model}"
precision = "float32"
query_prompt = "{prompt}"
[[tasks]]
task = "rarb:{home}/hotpot"
[[tasks]]
task = "rarb:{home}/theorems"
"""
WORDS = {"hotpot": "Given a question, find its pages", "theorems": "Given a problem, find theorems"}


@pytest.fixture(scope="module")
def home(shared, tmp_path_factory):
    home = tmp_path_factory.mktemp("tasks")
    draw(shared("hotpot100"), home / "hotpot", questions=6, others=30)
    draw(shared("theoremqa_theorems"), home / "theorems", questions=6, others=30)
    for name, words in WORDS.items():
        (home / name / "instruction.txt").write_text(words, encoding="utf-8")
    make_model(home / "tiny")
    return home


def run(home, folder):
    file = folder / "suite.toml"
    file.write_text(SUITE.format(home=home, model=home / "tiny", prompt=PROMPT), encoding="utf-8")
    result = run_suite(file, out=folder / "out")
    return {row["name"]: row for row in result.summary["rows"]}


def alone(home, name, folder, prompt):
    """Measure one task with its prompt written out, as `argus index build` and `search` do."""
    task = open_task(home / name)
    encoder = EncoderConfig(model=str(home / "tiny"), precision="float32", query_prompt=prompt)
    build_index(task.documents, out=folder / name, encoder=encoder)
    answers = open_retriever(folder / name).search(task.queries, 50)
    return task.evaluate(answers, ["nDCG@50"]).aggregate["nDCG@50"]


def test_each_task_is_asked_with_its_own_instruction(home, tmp_path):
    cells = run(home, tmp_path)
    for name, words in WORDS.items():
        expected = alone(home, name, tmp_path, f"Instruct: {words}\nQuery: ")
        assert cells[name]["measures"]["nDCG@50"] == pytest.approx(expected, abs=1e-9)


def test_an_instruction_of_each_query_stands_behind_it(tmp_path):
    """As `_combine_queries_with_instruction_text` of mteb puts them together."""
    parquet(tmp_path / "corpus" / "test.parquet", {"_id": "d", "title": "", "text": "Tea."})
    parquet(tmp_path / "queries" / "test.parquet", {"_id": "q", "text": "hot leaves"})
    parquet(tmp_path / "qrels" / "test.parquet", {"query-id": "q", "corpus-id": "d", "score": 1})
    parquet(tmp_path / "instruction" / "test.parquet",
            {"query-id": "q", "instruction": "Green tea alone counts."})  # fmt: skip
    (query,) = open_task(f"mteb:{tmp_path}").with_instructions().queries
    assert query.text == "hot leaves Green tea alone counts."
