import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from argus.authority.benchmarks.collection import (
    Benchmark,
    Question,
    read_benchmark,
    write_benchmark,
)
from argus.authority.rules import Edge, Record, Rule, ScopeKey
from argus.authority.times import parse_moment
from argus.errors import InputError

RECORDS = [
    Record("new/1", "note", parse_moment("2024-05"), {"cve": ("A", "B")}, "Zwölf\n\u2028 sind es."),
    Record(
        "old", "advisory", None, {"cve": "A"}, "old text", "T", parse_moment("2023"), {"n": [1]}
    ),
    Record("lone", "page", None, {}, ""),
]
QUESTIONS = [
    Question("q1", "fixed?", ("new/1",), ("old",), ("old", "new/1"), ("new/1", "lone"),
             {"cve": "A"}, "Yes", "T1"),
    Question("q2", "and?", ("lone",), ("lone",), ("lone",), ("lone",)),
]  # fmt: skip
EDGES = [Edge("new/1", "old", rule="r", confidence=0.5, relation="fixes"), Edge("new/1", "lone")]
RULES = (Rule(("note",), ("advisory",), (ScopeKey("cve", "cve"),), name="r"),)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    bench = Benchmark("made", RECORDS, QUESTIONS, EDGES, RULES, {"q1": "It was fixed."})
    write_benchmark(tmp_path / "new" / "folder", bench, seed=3, settings={"hint": True})
    assert read_benchmark(tmp_path / "new" / "folder") == bench
    about = json.loads((tmp_path / "new" / "folder" / "benchmark.json").read_text())
    assert (about["seed"], about["settings"], about["records"]) == (3, {"hint": True}, 3)
    qrels = (tmp_path / "new" / "folder" / "qrels" / "test.tsv").read_text()
    assert qrels == "query-id\tcorpus-id\tscore\nq1\tnew/1\t1\nq2\tlone\t1\n"


def test_a_folder_of_somebody_elses_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("mine")
    (tmp_path / ".gitkeep").write_text("")
    with pytest.raises(InputError, match="no benchmark that Argus wrote"):
        write_benchmark(tmp_path, Benchmark("x", RECORDS, QUESTIONS, EDGES), seed=0)
    assert (tmp_path / "corpus.jsonl").read_text() == "mine"
    assert not (tmp_path / "qrels").exists()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("corpus", {"_id": "b"}, r"line 2.*id 'b' was already given at .*line 1"),
        ("corpus", {"_id": 7}, r"line 1.*'_id'.*7 is a number"),
        ("corpus", {"text": ["x"]}, r"line 1.*'text'.*list"),
        ("corpus", {"timestamp": "soon"}, r"line 1.*'timestamp'.*'soon'"),
        ("corpus", {"entities": {"cve": {"x": 1}}}, r"line 1.*'entities.cve'"),
        ("queries", {"gold": ["ghost"]}, r"line 1.*'gold'.*'ghost' is no document of the corpus"),
        ("queries", {"gold": []}, r"line 1.*'gold'.*question 'q' has no gold"),
        ("queries", {"anchor": ["ghost"]}, r"line 1.*'anchor'.*'ghost'"),
        ("queries", {"text": " "}, r"line 1.*'text'.*question 'q' has no text"),
        ("supersedes", {"superseded": "ghost"}, r"no record 'ghost'"),
        ("supersedes", {"superseded": "b"}, r"line 1.*supersedes itself"),
    ],
)
def test_broken_values_are_named_with_file_line_and_field(
    tmp_path: Path, name: str, change: dict[str, Any], message: str
) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "corpus": [{"_id": "a", "text": "old"}, {"_id": "b", "text": "new"}],
        "queries": [{"_id": "q", "text": "?", "gold": ["b"]}],
        "supersedes": [{"superseder": "b", "superseded": "a"}],
    }
    rows[name][0] |= change
    for file, values in rows.items():
        lines = "".join(json.dumps(value) + "\n" for value in values)
        (tmp_path / f"{file}.jsonl").write_text(lines)
    with pytest.raises(InputError, match=f"(?s){name}.jsonl.*{message}"):
        read_benchmark(tmp_path)


def test_the_real_collections_are_read(shared: Callable[[str], Path]) -> None:
    root = shared("authority")
    ghsa = read_benchmark(root / "ghsa")
    assert (len(ghsa.records), len(ghsa.questions), len(ghsa.edges)) == (2318, 159, 159)
    assert len(ghsa.hypotheticals) == 159
    assert sum(len(question.equivalent) > 1 for question in ghsa.questions) > 0
    for queries in ("queries.jsonl", "queries_issue.jsonl"):
        scotus = read_benchmark(root / "scotus", queries)
        assert (len(scotus.records), len(scotus.questions)) == (3699, 41)
    stubs = read_benchmark(root / "scotus" / "car44_stubs")
    assert (len(stubs.records), len(stubs.questions), len(stubs.edges)) == (88, 44, 44)
