"""Chunks with nested fields, judged by document: every command takes them, and says the same."""

import contextlib
import json
import re
import runpy
import shutil
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from argus.cli.startable import ArgusCommands
from argus.data.fields import FieldNames
from argus.data.tables import read_table
from argus.evaluation.config import ChunkedCorpus
from argus.service.app import create_app
from argus.service.jobs.planning import JobRequest, plan_job
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.support.payloads import write_payloads

SUBJECTS = {
    "tea": ["Green tea is steamed in Japan.", "Black tea is withered and rolled in Assam.",
            "White tea comes from young buds."],
    "rivers": ["The Danube flows through Vienna.", "The Nile floods every summer.",
               "The Rhine carries barges to Rotterdam."],
    "looms": ["Punched cards control a loom.", "Jacquard built his loom in Lyon.",
              "Silk threads break easily."],
    "bees": ["Bees dance to show where flowers are.", "A queen bee lays two thousand eggs.",
             "Honey never spoils in a sealed jar."],
    "bridges": ["A suspension bridge hangs from cables.", "Arches of stone carry old bridges.",
                "Steel trusses span wide valleys."],
    "clocks": ["A pendulum keeps the time of a clock.", "Quartz crystals beat in a watch.",
               "Sundials read the shadow of the sun."],
}  # fmt: skip
QUESTIONS = {
    "q-tea": ("where is tea rolled and withered?", "tea"),
    "q-rivers": ("which river carries barges to a port?", "rivers"),
    "q-looms": ("who made a loom with punched cards?", "looms"),
    "q-bees": ("how many eggs does a queen lay?", "bees"),
    "q-bridges": ("what hangs from cables?", "bridges"),
    "q-clocks": ("what beats in a quartz watch?", "clocks"),
}
FIELDS = (
    "--id-field", "chunk_ref", "--text-field", "payload.body", "--parent-field", "payload.doc.id",
)  # fmt: skip
JUDGED = ("--queries", "questions.jsonl", "--qrels", "judged.tsv")
SEARCH = '''
import json
from pathlib import Path

LINES = Path(__file__).with_name("chunks.jsonl").read_text().splitlines()
ROWS = [json.loads(line) for line in LINES]


def words(text):
    return {word.strip("?.,").lower() for word in text.split()}


def search(query, k):
    """Return chunks as a store hands them out: nested, with no id of the usual names."""
    best = sorted(ROWS, key=lambda row: -len(words(query) & words(row["payload"]["body"])))
    return best[:k]
'''


def run(*arguments: object) -> tuple[int, str]:
    """Run a command in this process; return its exit code and all that it said."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    return done.exit_code, f"{done.output}{done.exception or ''}"


def ran(*arguments: object) -> str:
    code, printed = run(*arguments)
    assert code == 0, printed
    return printed


def summary(folder: str, section: str) -> dict[str, object]:
    return json.loads((Path(folder) / "summary.json").read_text())[section]


def chunks() -> list[dict[str, object]]:
    return [
        {"chunk_ref": f"{name}/{i}", "payload": {"body": text, "doc": {"id": name}}}
        for name, texts in SUBJECTS.items()
        for i, text in enumerate([f"{texts[0]} {texts[1]}", f"{texts[1]} {texts[2]}", texts[2]])
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, minilm) -> Path:
    """Write the chunks, questions and judgements by document, a store of them and an index."""
    home = tmp_path_factory.mktemp("fields")
    rows = chunks()
    (home / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (home / "search.py").write_text(SEARCH)
    questions = [{"_id": q, "text": text} for q, (text, _) in QUESTIONS.items()]
    (home / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions))
    lines = [f"{q}\t{document}\t1" for q, (_, document) in QUESTIONS.items()]
    header = "question_id\tdocument\trelevance"
    (home / "judged.tsv").write_text("\n".join([header, *lines]) + "\n")
    bodies = [row["payload"]["body"] for row in rows]
    write_payloads(home / "store", rows, minilm.encode_documents(bodies))
    with contextlib.chdir(home):
        ran("index", "build", "--corpus", "chunks.jsonl", *FIELDS[:4], "--out", "index")
    return home


BODIES = {row["chunk_ref"]: row["payload"]["body"] for row in chunks()}
ENCODER = ("--encoder", "all-MiniLM-L6-v2")


def means(folder: Path | str) -> dict[str, float]:
    (system,) = summary(folder, "evaluation")["systems"]
    return system["measures"]


def served(printed: str, **names: object) -> dict[str, str]:
    """Run the lines of Python that a command printed; return the texts of what came, by id."""
    lines = [line.strip() for line in printed.splitlines()]
    made = next(line for line in lines if line.startswith("retriever = "))
    asked = lines[lines.index(made) + 1]
    scope = dict(names)
    exec(f"import argus\n{made}\nretriever.k = 100\n{asked}\nretriever.close()", scope)
    return {page.metadata["chunk_ref"]: page.page_content for page in scope["documents"]}


@pytest.fixture
def index(here: Path, tmp_path: Path) -> Path:
    """Return a copy of the index, to be changed."""
    return Path(shutil.copytree("index", tmp_path / "index"))


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def test_a_retriever_whose_ids_are_not_found_names_the_option(here):
    (here / "other.py").write_text("def search(query, k):\n    return [{'key': 'tea/1'}]\n")
    code, printed = run("evaluate", *JUDGED, "--retriever", "other.py:search",
                        "--corpus", "chunks.jsonl", *FIELDS, "--out", "other")  # fmt: skip
    assert code and "--result-id" in printed


@pytest.mark.parametrize("header", [
    "question_id\tdocument\trelevance", "qid\tdoc_id\tgrade", "query_id\tdocument_id\tscore",
    "query-id\tcorpus-id\tscore", "question\tdoc\trelevant", "q\tpassage\thow_good",
])  # fmt: skip
def test_columns_of_judgements_are_recognised_or_named(here, header):
    lines = [f"{q}\t{document}\t1" for q, (_, document) in QUESTIONS.items()]
    Path("named.tsv").write_text("\n".join([header, *lines]) + "\n")
    columns = header.split("\t")
    named = ("query", "document", "grade") if columns[0] == "q" else ()
    options = [
        word for name, column in zip(named, columns, strict=False)
        for word in (f"--qrels-{name}-field", column)
    ]  # fmt: skip
    ran("evaluate", "--queries", "questions.jsonl", "--qrels", "named.tsv", *options,
        "--retriever", "search.py:search", "--corpus", "chunks.jsonl", *FIELDS,
        "--out", "named", "--fresh")  # fmt: skip
    assert means("named")["nDCG@10"] == 1
    assert read_table(Path("named/per_query.parquet"))["rank"].to_pylist() == [1] * 6


def test_a_column_of_judgements_that_is_not_there_is_told_with_the_header(here):
    code, printed = run("tune", "try", "--index", "index", *JUDGED, "--qrels-grade-field", "stars",
                        "--corpus", "chunks.jsonl", *FIELDS)  # fmt: skip
    assert code and "'question_id', 'document', 'relevance'" in printed
    assert "--qrels-grade-field" in printed


def test_the_two_lines_that_a_blend_prints_give_texts_and_ids(index):
    printed = ran(
        "tune", "apply", "blend", "--index", index, *JUDGED, "--corpus", "chunks.jsonl", *FIELDS
    )
    my_retriever = runpy.run_path("search.py")["search"]
    assert served(printed, my_retriever=lambda query: my_retriever(query, 100)) == BODIES


def test_the_two_lines_that_a_blend_in_a_store_prints_give_texts_and_ids(here, tmp_path):
    shutil.copytree("store", tmp_path / "store")
    printed = ran("tune", "apply", "blend", "--store", f"qdrant:{tmp_path}/store/docs", *ENCODER,
    *FIELDS,
                  "--out", tmp_path / "out")  # fmt: skip
    assert served(printed) == BODIES


def test_repair_counts_by_document(index):
    judged = (*JUDGED, "--corpus", "chunks.jsonl", *FIELDS)
    ran("tune", "try", "--index", index, *judged, "--only-try", "--out", index / "tried")
    ran("evaluate", "--index", index, *judged, "--out", index / "judged")
    by_document = means(index / "judged")["nDCG@10"]
    arms = {arm["arm"]: arm["ndcg10"] for arm in summary(index / "tried", "repair")["arms"]}
    before = {of["mean_before"] for of in arms.values()}
    assert [*before] == [pytest.approx(by_document)] and by_document > 0.5
    assert min(of["mean_after"] for of in arms.values()) > 0.5
    ran("tune", "apply", "RRF (60)", "--index", index, *judged, "--out", index / "fused")
    assert summary(index / "fused", "evaluation")["parents"]["documents"] == len(SUBJECTS)
    fused = summary(index / "fused", "evaluation")["systems"][1]["measures"]["nDCG@10"]
    assert fused == pytest.approx(arms["RRF (60)"]["mean_after"])


def test_explain_counts_by_document(here):
    asked = ("where is tea rolled and withered?", "tea", "--corpus", "chunks.jsonl", *FIELDS)
    for searched in (("--index", "index"), ("--retriever", "search.py:search"), ENCODER):
        printed = ran("explain", *asked, *searched, "--json")
        found = json.loads(printed[printed.index("{\n") :])
        assert found["came_back"] and found["standing"]["rank"] == 1, searched
    last = ("what beats in a quartz watch?", "tea", "--corpus", "chunks.jsonl", *FIELDS)
    printed = ran("explain", *last, "--index", "index", "--json")
    place = json.loads(printed[printed.index("{\n") :])["standing"]["dense"]
    assert place["of"] == len(SUBJECTS) and place["rank"] <= len(SUBJECTS)


def test_the_page_folds_by_the_field_that_names_the_document(index, here):
    chunks_file = Path("chunks.jsonl").resolve()
    fields = FieldNames(id="chunk_ref", text="payload.body")
    chunks = ChunkedCorpus(corpus=chunks_file, fields=fields, parent_field="payload.doc.id")
    place = open_workplace([index], chunks=chunks)
    with Client(create_app(place)) as client:
        asked = {"q": "what beats in a quartz watch?", "doc": "tea", "k": 1}
        page = client.get("/page/index/why-not", params=asked, headers={"accept": "text/html"})
        why = client.get("/explain", params={"query": asked["q"], "id": "clocks", "k": 1}).json()
        tried = client.get("/page/index/repairs", headers={"accept": "text/html"}).text
    assert page.status_code == 200 and "not in the index" not in page.text
    assert why["came_back"] and why["standing"]["dense"]["of"] == len(SUBJECTS)
    wanted = re.search(r'data-start="([^"]+only_try[^"]+)"', tried)
    request = JobRequest(**json.loads(unescape(wanted[1])))
    line = plan_job(request, place, ArgusCommands()).line
    assert f"--corpus={chunks_file}" in line and "--parent-field=payload.doc.id" in line
