import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.knowledge.sources.pages.page import Link, without_marks
from argus.knowledge.sources.pages.text import (
    parse_markdown,
    split_front_matter,
)


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("# H\n\nSome *text*\nin `two` lines.\n\nNext.", "Some text in two lines."),
        ("[a](a.md) | [b](b.md)\n\nProse.", "Prose."),
        ("![img](x.png)\n\n[![badge](b.svg)](https://x)\n\nProse ![y](y.png) here.", "Prose here."),
        ("| a | b |\n|---|---|\n| c | d |\n\nProse.", "Prose."),
        ("    indented code\n\n```\nfenced\n```\n\nProse.", "Prose."),
        ("<p align=left>HTML.</p>\n\n<!-- c -->\n\nProse <b>b</b> <!-- c -->end.", "Prose b end."),
        ("- item\n\n> quote\n\n1. one\n\nProse.", "Prose."),
        ("::: tip\nBox\n:::\n\n!!! note\n\nProse.", "Prose."),
        ("{% raw %}\n\n{{< youtube x >}}\n\nProse[^1] {#id}", "Prose"),
        ("---\n\n***\n\nProse &amp; more \\* here.", "Prose & more * here."),
        ("[[Link]]\n\nSee [[Page#part|a page]] and [[Other#part]].", "See a page and Other."),
        ("# Only a heading", ""),
    ],
)  # fmt: skip
def test_the_first_paragraph_of_prose(text, paragraph):
    assert parse_markdown(text).paragraph == paragraph


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](b.md) ![no](c.png) <https://auto.x>", [Link("b.md")]),
        ("[t][r] and [r]\n\n[r]: ../x.md 'title'", [Link("../x.md"), Link("../x.md")]),
        ("[[A b]] [[C|d]] ![[E#f]]", [Link("A b", True), Link("C", True), Link("E#f", True)]),
        ("| x |\n|---|\n| [[A\\|b]] [c](c.md) |", [Link("A", True), Link("c.md")]),
        ("`[[code]]` \\[[escaped]] [[1]](x.md)", [Link("x.md")]),
        ("<a href='x.html'>x</a> <a name=y>\n\n<div><a href=z.html>z</a></div>",
         [Link("x.html"), Link("z.html")]),
        ("<div><a href=first.html>z</a></div>", [Link("first.html")]),
        ("# [h](h.md)\n\n- [l](<a b.md>)\n\n> [q](q%20r.md)",
         [Link("h.md"), Link("a%20b.md"), Link("q%20r.md")]),
    ],
)  # fmt: skip
def test_links_of_the_whole_page(text, links):
    assert list(parse_markdown(text).links) == links


BROKEN = ["!!bool x", '!!int ""', '!!float ""', "!!timestamp x", "2024-13-45"]


@pytest.mark.parametrize(
    ("text", "values", "rest", "note"),
    [
        ("---\na: 1\n---\nrest", {"a": 1}, "rest", ""),
        ("---\r\na: 1\r\n---\r\nrest", {"a": 1}, "rest", ""),
        ("---\n---\nrest", {}, "rest", ""),
        ("+++\na = 1\n+++\nrest", {"a": 1}, "rest", ""),
        ("---\na: [\n---\nrest", {}, "rest", "broken front matter"),
        ("+++\na =\n+++\nrest", {}, "rest", "broken front matter"),
        *[(f"---\na: {value}\n---\nrest", {}, "rest", "broken front matter") for value in BROKEN],
        ("---\nA rule, then text.\n---\nrest", {}, "---\nA rule, then text.\n---\nrest", ""),
        ("---\nno end", {}, "---\nno end", ""),
        ("text\n---\na: 1\n---\n", {}, "text\n---\na: 1\n---\n", ""),
        ("---\na: x---\n---\nrest", {"a": "x---"}, "rest", ""),
    ],
)
def test_front_matter_is_split_off(text, values, rest, note):
    assert split_front_matter(text) == (values, rest, note)


MERGED = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{i}: &a{i}\n  <<: [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 7)
)
"""Each level merges the one before nine times."""


@pytest.mark.parametrize(
    "front_matter",
    [
        f"---\n{MERGED}---\n",
        "---\na: &a {x: 1}\nb:\n  <<: [" + "*a, " * 20_000 + "*a]\n---\n",
        "+++\n" + "a." * 5_000 + "a = 1\n+++\n",
        "---\n&a\n<<: [*a]\nx: 1\n---\n",
    ],
)
def test_front_matter_that_grows_when_it_is_read_is_broken(front_matter):
    assert split_front_matter(front_matter + "rest") == ({}, "rest", "broken front matter")


MARKS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\[\^[^\]\s]{1,200}\]", re.DOTALL)


@given(st.lists(st.sampled_from(["{", "}", "%", "[^", "]", "a", " ", "\n"]), max_size=30))
def test_marks_are_those_of_the_plain_expression(signs):
    text = "".join(signs)
    assert without_marks(text) == MARKS.sub("", text)


def test_openings_without_an_end_take_time_that_grows_with_the_text():
    """70,000 letters among 3,000 braces: the plain expression takes seconds for each."""
    text = "-" + "{" * 3_000 + "a" * 70_000 + "[^" * 3_000
    begin = time.process_time()
    assert without_marks(text) == text
    assert time.process_time() - begin < 0.5
