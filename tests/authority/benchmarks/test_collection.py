from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from argus.authority.benchmarks import cvepatchqa
from argus.authority.benchmarks.collection import (
    Benchmark,
    Question,
    read_benchmark,
    stale_gold,
    write_benchmark,
)
from argus.authority.domains import Domain, load_domain
from argus.authority.records import Record
from argus.authority.rules import Edge, Rule, ScopeKey
from argus.authority.times import parse_moment, zone_named
from argus.data import writing
from argus.data.writing import replacing
from argus.errors import InputError

Rows = dict[str, list[dict[str, Any]]]

RECORDS = [
    Record("new/1", "note", parse_moment("2024-05"), {"cve": ("A", "B")}, "Zwölf\n\u2028 sind es."),
    Record(
        "old", "advisory", None, {"cve": "A"}, "old text", "Title", parse_moment("2023"), {"n": [1]}
    ),
    Record("lone", "page", None, {}, ""),
]
QUESTIONS = [
    Question(
        "q1",
        "fixed?",
        ("new/1",),
        ("old",),
        ("old", "new/1"),
        ("new/1", "lone"),
        {"cve": "A"},
        "Yes",
        "T1",
    ),
    Question("q2", "and?", ("lone",), ("lone",), ("lone",), ("lone",)),
]
EDGES = [Edge("new/1", "old", rule="r", confidence=0.5, relation="fixes"), Edge("new/1", "lone")]
RULES = (Rule(("note",), ("advisory",), (ScopeKey("cve", "cve"),), name="r"),)

RULES_YAML = "name: x\nrules:\n  - {superseding: note, superseded: advisory, scope: cve}\n"


def with_types(rows: Rows) -> Rows:
    """Give the corpus types, as rules need them."""
    first, second = rows["corpus"]
    return rows | {"corpus": [first | {"type": "advisory"}, second | {"type": "note"}]}


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    return {
        "corpus": [{"_id": "a", "text": "old"}, {"_id": "b", "text": "new"}],
        "queries": [{"_id": "q", "text": "?", "gold": ["b"]}],
        "supersedes": [{"superseder": "b", "superseded": "a"}],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[Rows], Path]:
    def write(rows: Rows) -> Path:
        for name, values in rows.items():
            lines = "".join(json.dumps(value) + "\n" for value in values)
            (tmp_path / f"{name}.jsonl").write_text(lines)
        return tmp_path

    return write


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    bench = Benchmark("made", RECORDS, QUESTIONS, EDGES, RULES, {"q1": "It was fixed."})
    write_benchmark(tmp_path / "new" / "folder", bench, seed=3, settings={"hint": True})
    assert read_benchmark(tmp_path / "new" / "folder") == bench
    about = json.loads((tmp_path / "new" / "folder" / "benchmark.json").read_text())
    assert (about["seed"], about["settings"], about["records"]) == (3, {"hint": True}, 3)
    qrels = (tmp_path / "new" / "folder" / "qrels" / "test.tsv").read_text()
    assert qrels == "query-id\tcorpus-id\tscore\nq1\tnew/1\t1\nq2\tlone\t1\n"


def test_the_same_benchmark_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_benchmark(tmp_path / name, cvepatchqa.make(seed=1), seed=1)
    files = {p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()}
    assert {str(file) for file in files} == {
        "corpus.jsonl", "queries.jsonl", "supersedes.jsonl", "qrels/test.tsv", "rules.yaml",
        "benchmark.json",
    }  # fmt: skip
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_files_of_an_earlier_benchmark_do_not_stay(tmp_path: Path) -> None:
    bench = Benchmark("x", RECORDS, QUESTIONS, EDGES, RULES, {"q1": "It was fixed."})
    write_benchmark(tmp_path, bench, seed=0)
    write_benchmark(tmp_path, Benchmark("x", RECORDS, QUESTIONS, EDGES), seed=0)
    read = read_benchmark(tmp_path)
    assert (read.rules, read.hypotheticals) == ((), {})


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write_benchmark(tmp_path / "file", Benchmark("x", RECORDS, QUESTIONS, EDGES), seed=0)


@pytest.mark.parametrize("about", [None, "[]", "{", '{"name": "x"}'])
def test_a_folder_of_somebody_elses_is_not_written_over(tmp_path: Path, about: str | None) -> None:
    (tmp_path / "corpus.jsonl").write_text("mine")
    (tmp_path / ".gitkeep").write_text("")
    if about is not None:
        (tmp_path / "benchmark.json").write_text(about)
    with pytest.raises(InputError, match=r"no benchmark that Argus wrote, and holds '(bench|corp)"):
        write_benchmark(tmp_path, Benchmark("x", RECORDS, QUESTIONS, EDGES), seed=0)
    assert (tmp_path / "corpus.jsonl").read_text() == "mine"
    assert not (tmp_path / "qrels").exists()


def test_an_empty_folder_and_one_left_half_written_are_written(tmp_path: Path) -> None:
    (tmp_path / ".gitkeep").write_text("")
    bench = Benchmark("x", RECORDS, QUESTIONS, EDGES)
    write_benchmark(tmp_path, bench, seed=0)
    (tmp_path / "supersedes.jsonl").unlink()
    write_benchmark(tmp_path, bench, seed=1)
    assert read_benchmark(tmp_path) == bench


@pytest.mark.parametrize("stop", range(5))
def test_a_write_that_was_stopped_at_any_file_can_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    bench, whole = Benchmark("x", RECORDS, QUESTIONS, EDGES), iter(range(stop))

    def stopping(path: Path) -> AbstractContextManager[Path]:
        if next(whole, None) is None:
            raise KeyboardInterrupt
        return replacing(path)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(writing, "replacing", stopping)
        write_benchmark(tmp_path, bench, seed=0)
    write_benchmark(tmp_path, bench, seed=0)
    assert read_benchmark(tmp_path) == bench


def test_ids_texts_gold_and_edges_are_enough(folder: Callable[[Rows], Path], rows: Rows) -> None:
    bench = read_benchmark(folder(rows))
    assert bench.records == [Record(i, "document", text=t) for i, t in (("a", "old"), ("b", "new"))]
    assert bench.questions == [Question("q", "?", ("b",), ("a",), ("a", "b"), ("b",))]
    assert bench.edges == [Edge("b", "a")]


def test_gold_may_be_one_id_or_stand_in_the_qrels(
    folder: Callable[[Rows], Path], rows: Rows
) -> None:
    rows["queries"] = [{"_id": "q", "text": "?", "gold": "b"}, {"_id": "p", "text": "!"}]
    path = folder(rows)
    (path / "qrels").mkdir()
    (path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\np\tb\t0\np\ta\t1\n")
    first, second = read_benchmark(path).questions
    assert first.gold == ("b",)
    assert (second.gold, second.anchor, second.chain) == (("a",), ("a",), ("a",))


def test_rules_may_stand_for_edges(folder: Callable[[Rows], Path], rows: Rows) -> None:
    del rows["supersedes"]
    path = folder(with_types(rows))
    (path / "rules.yaml").write_text(RULES_YAML)
    bench = read_benchmark(path)
    assert (bench.edges, len(bench.rules)) == ([], 1)


def test_with_rules_every_record_needs_a_type(folder: Callable[[Rows], Path], rows: Rows) -> None:
    path = folder(rows)
    (path / "rules.yaml").write_text(RULES_YAML)
    with pytest.raises(InputError, match=r"corpus.jsonl.*line 1.*no type among '_id', 'text'"):
        read_benchmark(path)


def test_records_are_what_their_domain_reads(folder: Callable[[Rows], Path], rows: Rows) -> None:
    """One reader: scope values that say nothing, several values, other columns, and the zone."""
    entities = {"cve": ["A", "A", ""], "docket": "None", "host": None, "n": 7}
    rows["corpus"][0] |= {"entities": entities, "timestamp": "2024-05-01", "stars": 3}
    path = folder(with_types(rows))
    (path / "rules.yaml").write_text(RULES_YAML + "zone: America/New_York\n")
    found = read_benchmark(path).records
    assert found == load_domain(path / "rules.yaml").read(path)
    assert found[0].scope == {"cve": "A", "n": "7"}
    assert found[0].metadata == {"stars": 3}
    assert found[0].time == parse_moment("2024-05-01", zone=zone_named("America/New_York", None))
    assert found[0].time != parse_moment("2024-05-01")
    (path / "rules.yaml").unlink()
    assert read_benchmark(path).records == Domain("records", ()).read(path)


def test_records_may_have_the_shape_that_the_rules_say(
    folder: Callable[[Rows], Path], rows: Rows
) -> None:
    rows["corpus"] = [{"key": "a", "body": "old"}, {"key": "b", "body": "new"}]
    path = folder(rows)
    shape = "records:\n  - {id: key, type: note, text: body, scope: {k: key}}\n"
    rule = "rules:\n  - {superseding: note, superseded: note, scope: k}\n"
    (path / "rules.yaml").write_text(shape + rule)
    assert [r.text for r in read_benchmark(path).records] == ["old", "new"]


def test_a_corpus_without_a_word_is_refused(folder: Callable[[Rows], Path], rows: Rows) -> None:
    rows["corpus"] = [{"_id": "a", "words": "old"}, {"_id": "b", "words": "new"}]
    with pytest.raises(InputError, match=r"corpus.jsonl.*none of 2 documents has a text"):
        read_benchmark(folder(rows))


def test_other_questions_may_be_chosen(folder: Callable[[Rows], Path], rows: Rows) -> None:
    rows["queries_issue"] = [{"_id": "q", "text": "by issue?", "gold": ["b"]}]
    bench = read_benchmark(folder(rows), queries="queries_issue.jsonl")
    assert [question.text for question in bench.questions] == ["by issue?"]


def test_hypotheticals_of_other_questions_are_left_out(
    folder: Callable[[Rows], Path], rows: Rows
) -> None:
    rows["hyde"] = [{"_id": "q", "hypothetical": "x"}, {"_id": "z", "hypothetical": "y"}]
    assert read_benchmark(folder(rows)).hypotheticals == {"q": "x"}


BROKEN: list[tuple[str, int, dict[str, Any], str]] = [
    ("corpus", 1, {"_id": "a"}, r"line 2.*id 'a' was already given at .*line 1"),
    ("corpus", 1, {"_id": 7}, r"line 2.*'_id'.*7 is no id; expected text"),
    ("corpus", 1, {"text": ["x"]}, r"line 2.*'text'.*list"),
    ("corpus", 1, {"timestamp": "soon"}, r"line 2.*'timestamp'.*'soon'"),
    ("corpus", 1, {"timestamp": 20240101}, r"line 2.*'timestamp'.*is a number"),
    ("corpus", 1, {"published": "2024-13"}, r"line 2.*'published'.*2024-13"),
    ("corpus", 1, {"entities": ["x"]}, r"line 2.*'entities'.*expected an object"),
    ("corpus", 1, {"entities": {"cve": {"x": 1}}}, r"line 2.*'entities.cve'"),
    ("queries", 0, {"gold": ["ghost"]}, r"line 1.*'gold'.*'ghost' is no document of the corpus"),
    ("queries", 0, {"gold": []}, r"line 1.*'gold'.*question 'q' has no gold"),
    ("queries", 0, {"gold": [3]}, r"line 1.*'gold'"),
    ("queries", 0, {"gold": [None]}, r"line 1.*'gold'"),
    ("queries", 0, {"anchor": ["ghost"]}, r"line 1.*'anchor'.*'ghost'"),
    ("queries", 0, {"chain": ["ghost"]}, r"line 1.*'chain'.*'ghost'"),
    ("queries", 0, {"gold_equivalent": ["ghost"]}, r"line 1.*'gold_equivalent'.*'ghost'"),
    ("queries", 0, {"all_superseders": ["ghost"]}, r"line 1.*'all_superseders'.*'ghost'"),
    ("queries", 0, {"text": " "}, r"line 1.*'text'.*question 'q' has no text"),
    ("queries", 0, {"scope": ["x"]}, r"line 1.*'scope'"),
    ("supersedes", 0, {"superseded": "ghost"}, r"line 1.*'superseded'.*'ghost' is no document"),
    ("supersedes", 0, {"superseder": "ghost"}, r"line 1.*'superseder'.*'ghost' is no document"),
    ("supersedes", 0, {"superseded": "b"}, r"line 1.*supersedes itself"),
]


@pytest.mark.parametrize(("name", "line", "change", "message"), BROKEN)
def test_broken_values_are_named_with_file_line_and_field(
    folder: Callable[[Rows], Path],
    rows: Rows,
    name: str,
    line: int,
    change: dict[str, Any],
    message: str,
) -> None:
    rows[name][line] |= change
    with pytest.raises(InputError, match=f"(?s){name}.jsonl.*{message}"):
        read_benchmark(folder(rows))


def test_edges_in_a_circle_are_shown(folder: Callable[[Rows], Path], rows: Rows) -> None:
    rows["supersedes"].append({"superseder": "a", "superseded": "b"})
    with pytest.raises(InputError, match=r"(?s)supersedes.jsonl.*a cycle of 2: .*superseded by"):
        read_benchmark(folder(rows))


@pytest.mark.parametrize("missing", ["corpus", "queries", "supersedes"])
def test_missing_and_empty_files_are_named(
    folder: Callable[[Rows], Path], rows: Rows, missing: str
) -> None:
    path = folder(rows)
    (path / f"{missing}.jsonl").write_text("")
    with pytest.raises(InputError, match=f"(?s){missing}.jsonl.*no (row|record) in it"):
        read_benchmark(path)
    (path / f"{missing}.jsonl").unlink()
    with pytest.raises(InputError, match=f"(?s){missing}.jsonl.*no such file"):
        read_benchmark(path)


def test_a_name_that_cannot_be_read_is_refused(folder: Callable[[Rows], Path], rows: Rows) -> None:
    path = folder(rows)
    (path / "benchmark.json").write_text("[]")
    with pytest.raises(InputError, match=r"benchmark.json"):
        read_benchmark(path)


def test_gold_that_an_edge_supersedes_is_listed(folder: Callable[[Rows], Path], rows: Rows) -> None:
    rows["queries"].append({"_id": "p", "text": "?", "gold": ["a"]})
    assert stale_gold(read_benchmark(folder(rows))) == {"p": ["a"]}


def test_the_real_collections_are_read(shared: Callable[[str], Path]) -> None:
    root = shared("authority")
    ghsa = read_benchmark(root / "ghsa")
    assert (len(ghsa.records), len(ghsa.questions), len(ghsa.edges)) == (2318, 159, 159)
    assert len(ghsa.hypotheticals) == 159
    assert sum(len(question.equivalent) > 1 for question in ghsa.questions) > 0
    assert stale_gold(ghsa) == {}
    for queries in ("queries.jsonl", "queries_issue.jsonl"):
        scotus = read_benchmark(root / "scotus", queries)
        assert (len(scotus.records), len(scotus.questions)) == (3699, 41)
        assert stale_gold(scotus) == {"p021": ["oyez:1962.155"]}
    stubs = read_benchmark(root / "scotus" / "car44_stubs")
    assert (len(stubs.records), len(stubs.questions), len(stubs.edges)) == (88, 44, 44)
