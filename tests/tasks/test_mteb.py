"""mteb: the folder of a data set."""

from __future__ import annotations

from argus.tasks.opening import open_task
from tests.support.tasks import lines, parquet, read_lines

CORPUS = [
    {"_id": "d1", "title": "Tea", "text": "Leaves in hot water."},
    {"_id": "d2", "title": "", "text": "Beans, roasted and ground."},
]
QUERIES = [{"_id": "q1", "text": "hot leaves"}, {"_id": "q2", "text": "without judgement"}]
QRELS = [{"query-id": "q1", "corpus-id": "d1", "score": 1}]


def hub(folder, write=parquet, prefix="", name="test-00000-of-00001.parquet"):
    for part, rows in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}.items():
        write(folder / f"{prefix}{part}" / name, *rows)
    return folder


def check(task):
    assert [query.id for query in task.queries] == ["q1"]
    assert [document.content for document in task.documents] == [
        "Tea Leaves in hot water.", "Beans, roasted and ground.",
    ]  # fmt: skip
    assert task.qrels == {"q1": {"d1": 1}}


def test_the_folder_of_the_hub(tmp_path):
    task = open_task(hub(tmp_path / "TeaRetrieval"))
    assert task.name == "mteb/TeaRetrieval"
    check(task)


def test_numbers_are_ids_and_instructions_are_read(tmp_path):
    folder = tmp_path / "e"
    parquet(folder / "corpus" / "test.parquet", {"id": 7, "text": "Beans."})
    parquet(folder / "queries" / "test.parquet", {"id": 1, "text": "coffee"})
    parquet(folder / "default" / "test.parquet", {"query-id": 1, "corpus-id": 7, "score": 2})
    lines(folder / "instruction" / "test.jsonl", {"query-id": "1", "instruction": "No tea."})
    task = open_task(folder)
    assert task.qrels == {"1": {"7": 2}} and dict(task.instructions) == {"1": "No tea."}


def test_a_real_collection_out_of_both_layouts_is_one(shared, tmp_path):
    source = shared("hotpot100")
    other = open_task(source)
    for part in ("corpus", "queries"):
        parquet(tmp_path / part / "test.parquet", *read_lines(source / f"{part}.jsonl"))
    table = (source / "qrels" / "test.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in table]
    grades = [{"query-id": q, "corpus-id": d, "score": int(s)} for q, d, s in rows]
    parquet(tmp_path / "qrels" / "test.parquet", *grades)
    task = open_task(f"mteb:{tmp_path}")
    assert [(d.id, d.content) for d in task.documents] == [
        (d.id, d.content) for d in other.documents
    ]
    assert list(task.queries) == list(other.queries) and task.qrels == other.qrels
