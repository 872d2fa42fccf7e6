"""mteb: the folder of a data set."""

from argus.tasks.opening import open_task
from tests.support.tasks import lines, parquet

CORPUS = [
    {"_id": "d1", "title": "Tea", "text": "Leaves in hot water."},
    {"_id": "d2", "title": "", "text": "Beans, roasted and ground."},
]
QUERIES = [{"_id": "q1", "text": "hot leaves"}, {"_id": "q2", "text": "without judgement"}]
QRELS = [{"query-id": "q1", "corpus-id": "d1", "score": 1}]


def test_the_folder_of_the_hub(tmp_path):
    for part, rows in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}.items():
        parquet(tmp_path / "TeaRetrieval" / part / "test-00000-of-00001.parquet", *rows)
    task = open_task(tmp_path / "TeaRetrieval")
    assert task.name == "mteb/TeaRetrieval" and task.qrels == {"q1": {"d1": 1}}
    assert [query.id for query in task.queries] == ["q1"]
    assert [document.content for document in task.documents] == [
        "Tea Leaves in hot water.", "Beans, roasted and ground.",
    ]  # fmt: skip


def test_numbers_are_ids_and_instructions_are_read(tmp_path):
    folder = tmp_path / "e"
    parquet(folder / "corpus" / "test.parquet", {"id": 7, "text": "Beans."})
    parquet(folder / "queries" / "test.parquet", {"id": 1, "text": "coffee"})
    parquet(folder / "default" / "test.parquet", {"query-id": 1, "corpus-id": 7, "score": 2})
    lines(folder / "instruction" / "test.jsonl", {"query-id": "1", "instruction": "No tea."})
    task = open_task(folder)
    assert task.qrels == {"1": {"7": 2}} and dict(task.instructions) == {"1": "No tea."}
