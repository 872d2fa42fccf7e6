from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge import RelationGraph, read_relations, relations
from argus.knowledge.relations import read_edge_columns, read_relations_by_row
from tests.support.draws import examples

INDEX = {"a": 0, "b": 1, "c": 2, "d": 3}


def graph(n: int, *edges: tuple[int, int]) -> RelationGraph:
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return RelationGraph.from_edges(n, ends[:, 0], ends[:, 1])


def lists(g: RelationGraph) -> list[list[int]]:
    return [g.neighbours(i).tolist() for i in range(g.n)]


def read(path: Path, text: str, **options: bool) -> list[list[int]]:
    path.write_text(text, encoding="utf-8")
    return lists(read_relations(path, INDEX, **options))


def error_of(path: Path, text: str, **options: bool) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_relations(path, INDEX, **options)
    return str(caught.value)


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    n = draw(st.integers(1, 12))
    end = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(end, end), max_size=40))


@given(edge_lists(), st.data())
@settings(deadline=None)
def test_a_graph_holds_what_a_set_of_pairs_holds(
    given_edges: tuple[int, list[tuple[int, int]]], data: st.DataObject
) -> None:
    n, edges = given_edges
    g = graph(n, *edges)
    pairs = {(s, o) for s, o in edges if s != o} | {(o, s) for s, o in edges if s != o}
    assert lists(g) == [sorted(o for s, o in pairs if s == i) for i in range(n)]
    assert g.n_pairs == len(pairs)
    assert g.triples == len(edges)
    assert g.self_loops == sum(s == o for s, o in edges)
    keep = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    names = [i for i in range(n) if keep[i]]
    assert lists(g.restrict(np.array(keep))) == [
        sorted(names.index(o) for s, o in pairs if s == i and o in names) for i in names
    ]


EXPECTED = [[1], [0, 2], [1], []]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.tsv", "subject\trelation\tobject\na\tr\tb\nb\tr\tc\n"),
        ("e.tsv", "relation\tobject\tsubject\nr\ta\tb\nr\tc\tb\n"),
        ("e.tsv", "head\ttail\na\tb\nb\tc\n"),
        ("e.tsv", "a\tr\tb\nb\tr\tc\n"),
        ("e.tsv", "a\tb\nb\tc"),
        ("e.tsv", "\ufeffa\tr\tb\r\n\r\nb\tr\tc\r\n"),
        ("e.csv", 'subject,relation,object\na,"r, s",b\nb,r,c\n'),
        ("e.csv", "source,target\na,b\nb,c\n"),
        ("e.jsonl", '{"s": "a", "o": "b"}\n{"s": "b", "o": "c"}\n'),
    ],
)
def test_triples_and_pairs_are_read_from_text_files(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path / name, text) == EXPECTED


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("a\tr\tb\nb\tr\tzzz\n", 2, "object"),
        ("zzz\ta\n", 1, "subject"),
        ("subject\tobject\na\tb\nzzz\tb\n", 3, "subject"),
    ],
)
def test_an_unknown_end_names_line_and_field(
    tmp_path: Path, text: str, line: int, field: str
) -> None:
    path = tmp_path / "e.tsv"
    message = error_of(path, text)
    assert message.startswith(f"{path}, line {line}, field {field!r}: 'zzz' is not the id of an")
    assert "--skip-unknown" in message


def test_unknown_ends_are_dropped_and_counted_on_request(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("a\tb\nzzz\tb\nyyy\tzzz\nc\tc\n")
    g = read_relations(path, INDEX, skip_unknown=True)
    assert lists(g) == [[1], [0], [], []]
    assert (g.triples, g.unknown, g.self_loops) == (4, 2, 1)


def test_fb15k237_is_read_with_the_counts_of_its_readme(shared) -> None:
    root: Path = shared("fb15k237")
    ids: dict[str, int] = {}
    pairs: set[tuple[str, str]] = set()
    for line in (root / "edges.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        subject, _, object_ = line.split("\t")
        ids.setdefault(subject, len(ids))
        ids.setdefault(object_, len(ids))
        if subject != object_:
            pairs |= {(subject, object_), (object_, subject)}
    g = read_relations(root / "edges.tsv", ids)
    assert g.triples == 272_115
    assert g.n == 14_541 - 36
    assert g.n_pairs == len(pairs)
    assert g.degree.min() >= 0
    assert np.array_equal(np.bincount(g.indices, minlength=g.n), g.degree), "symmetric"


def outcome(read, path: Path, **options: bool) -> object:
    """What reading gives: neighbours and counters, or the error's text."""
    try:
        g = read(path, INDEX, **options)
    except InputError as error:
        return str(error)
    return lists(g), g.triples, g.self_loops, g.unknown


SUFFIXES = st.sampled_from([".tsv", ".csv", ".tsv.gz", ".csv.gz"])
FIELDS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "d",
        "zzz",
        "",
        " a",
        '"a"',
        'b"',
        "\ufeffa",
        "e\u0301",
        "N/A",
        "1",
        "x\0",
        "\x85",
    ]
)
ENDINGS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n \n"])
HEADERS = st.sampled_from(
    [
        *("", "subject,object", "subject,relation,object", "relation,to,from", "left,right"),
        *("s,o,s", "\ufeffsubject,object", '"subject",object', "head,tail,extra,more", "subject"),
    ]
)


@st.composite
def triples_files(draw: st.DrawFn) -> tuple[str, bytes]:
    """Mostly plain, sometimes odd: other widths, quotes, empty fields, stray returns, bytes."""
    suffix = draw(SUFFIXES)
    delimiter = "\t" if suffix.startswith(".tsv") else ","
    header = draw(HEADERS).replace(",", delimiter)
    width = draw(st.integers(2, 3)) if not header else header.count(delimiter) + 1
    field = draw(st.sampled_from([st.sampled_from("abcd"), FIELDS]))
    widths = draw(st.sampled_from([st.just(width), st.integers(1, 4)]))
    ending = draw(st.sampled_from([st.just("\n"), ENDINGS]))
    text = header + "\n" if header else ""
    for _ in range(draw(st.integers(0, 6))):
        text += delimiter.join(draw(field) for _ in range(draw(widths))) + draw(ending)
    data = (text[:-1] if draw(st.booleans()) else text).encode()
    if draw(st.integers(0, 9)) == 0:
        data += b"a" + delimiter.encode() + b"\xff\n"
    packed = gzip.compress(data) if suffix.endswith(".gz") else data
    return suffix, packed[: draw(st.sampled_from([None, None, None, -1]))]


@settings(
    max_examples=examples(300), deadline=None
)  # whether the other examples are slow is no matter here
@given(triples_files(), st.booleans(), st.booleans(), st.sampled_from([7, 1 << 26]))
@example((".tsv", b"a\tb\n\xff\tr\n"), True, False, 1 << 26)
@example((".tsv", b"subject\tobject\n\xef\xbb\xbfa\ta\n"), False, False, 1 << 26)
@example((".csv", b"subject,relation,object\na,\xff,b\n"), False, False, 1 << 26)
def test_columns_give_what_rows_give_errors_too(
    file: tuple[str, bytes], skip_unknown: bool, coerce_ids: bool, block: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "BLOCK_BYTES", block)
        path = Path(folder, "edges" + file[0])
        path.write_bytes(file[1])
        options = {"skip_unknown": skip_unknown, "coerce_ids": coerce_ids}
        by_column = outcome(read_relations, path, **options)
        assert by_column == outcome(read_relations_by_row, path, **options)


PLAIN = {
    "e.tsv": "a\tr\tb\n\nb\tr\tzzz\n",
    "e.csv": "subject,object\r\na,b\r\nb,zzz",
    "h.tsv": '\ufeffrelation\tto\tfrom\n"r"\tb\ta\nr\tzzz\tb\n',
    "e.tsv.gz": "a\tb\nb\tzzz\n",
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("block", [5, 1 << 26])
def test_plain_files_are_read_by_column(
    tmp_path: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "BLOCK_BYTES", max(block, 16))
    data = PLAIN[name].encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    columns = read_edge_columns(tmp_path / name, INDEX)
    assert columns is not None
    assert (columns.subjects.tolist(), columns.objects.tolist(), columns.unknown) == ([0], [1], 1)
