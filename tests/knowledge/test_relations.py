from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge import RelationGraph, read_relations

INDEX = {"a": 0, "b": 1, "c": 2, "d": 3}


def lists(g: RelationGraph) -> list[list[int]]:
    return [g.neighbours(i).tolist() for i in range(g.n)]


def read(path: Path, text: str) -> list[list[int]]:
    path.write_text(text, encoding="utf-8")
    return lists(read_relations(path, INDEX))


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
    ends = np.array(edges, np.int64).reshape(-1, 2)
    g = RelationGraph.from_edges(n, ends[:, 0], ends[:, 1])
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
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
    assert read(tmp_path / name, text) == [[1], [0, 2], [1], []]


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("a\tr\tb\nb\tr\tzzz\n", 2, "object"),
        ("subject\tobject\na\tb\nzzz\tb\n", 3, "subject"),
    ],
)
def test_an_unknown_end_names_line_and_field(
    tmp_path: Path, text: str, line: int, field: str
) -> None:
    place = f"line {line}, field '{field}': 'zzz' is not the id of an.*--skip-unknown"
    with pytest.raises(InputError, match=place):
        read(tmp_path / "e.tsv", text)


def test_unknown_ends_are_dropped_and_counted_on_request(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("a\tb\nzzz\tb\nyyy\tzzz\nc\tc\n")
    g = read_relations(path, INDEX, skip_unknown=True)
    assert lists(g) == [[1], [0], [], []]
    assert (g.triples, g.unknown, g.self_loops) == (4, 2, 1)
