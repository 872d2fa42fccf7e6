"""Relations, entities and options that `research audit` refuses: a message, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_an_edge_to_an_unknown_id_names_line_field_and_option(text, refused, corpus: Path) -> None:
    edges = text(corpus.parent / "edges.tsv", "d00\tknows\td01\nd01\tknows\td99\n")
    message = refused(corpus=corpus)
    assert message == (
        f"argus: {edges}, line 2, field 'object': 'd99' is not the id of an entity; expected one "
        "of the 12 ids read. Add the entity, mend the id, or pass --skip-unknown."
    )


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        ("e.csv", "left,right\nd00,d01\n", "line 2: no edge's end field among 'left', 'right'"),
        ("e.tsv", "d00\tr\td01\textra\n", "line 1: 4 columns; expected 3 (subject, relation"),
        ("e.tsv", "d00\tr\td01\nd00\td01\n", "line 2: 2 columns; expected 3 columns"),
        ("e.jsonl", '{"a": "d00"}\n', "line 1: no edge's end field among 'a'"),
    ],
)
def test_edges_with_wrong_columns_name_line_and_columns(
    text, refused, corpus: Path, tmp_path: Path, name: str, content: str, where: str
) -> None:
    edges = text(tmp_path / name, content)
    assert refused("--relations", edges, corpus=corpus).startswith(f"argus: {edges}, {where}")


@pytest.mark.parametrize(
    ("arguments", "start", "expected"),
    [
        (("--k", "0"), "argus: --k: 0;", "a whole number from 1"),
        (("--pool", "0"), "argus: --pool: 0;", "a whole number from 1"),
        (("--k", "abc"), "argus: --k: 'abc';", "whole numbers, separated by commas"),
        (("--k", "2,"), "argus: --k: '2,';", "whole numbers, separated by commas"),
        (("--pool", "5.5"), "argus: --pool: '5.5';", "whole numbers, separated by commas"),
        (("--pooling", "mean"), "argus: --pooling: 'mean';", "one of span, sentence"),
        (
            ("--precision", "int3"),
            "argus: --precision: 'int3';",
            "one of auto, float32, bfloat16, float16",
        ),
    ],
)
def test_a_bad_option_is_named_with_what_was_expected(
    refused, corpus: Path, arguments: tuple[str, str], start: str, expected: str
) -> None:
    message = refused(*arguments, corpus=corpus)
    assert message.startswith(f"{start} expected {expected}. ")
