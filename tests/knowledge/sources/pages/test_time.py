"""Pages of a few hundred thousand signs that kept their readers busy for minutes."""

import time

import pytest

from argus.knowledge.sources.pages.folder import (
    MOST_SUFFIXES,
    LinkResolver,
    PageFile,
    site_suffixes,
)
from argus.knowledge.sources.pages.html import parse_html
from argus.knowledge.sources.pages.page import Link
from argus.knowledge.sources.pages.text import decode_html, parse_markdown, parse_text

LONGEST_S = 10.0
SPACES = " " * 300_000


@pytest.fixture(autouse=True)
def soon():
    begin = time.process_time()
    yield
    assert time.process_time() - begin < LONGEST_S


@pytest.mark.parametrize("parse", [parse_html, parse_markdown, parse_text])
def test_white_space_within_a_paragraph(parse):
    begin = "<p>" if parse is parse_html else ""
    assert parse(f"{begin}Some text{SPACES}more of it.").paragraph == "Some text more of it."


@pytest.mark.parametrize("charset", ["punycode", "x-punycode"])
def test_an_encoding_that_no_browser_has(charset):
    text = f"<meta charset={charset}>-" + "a9" * 1_000_000
    assert decode_html(text.encode()) == (text, "")


@pytest.mark.parametrize("headings", ["<div>" * 8_000 + "<h1></h1>" * 8_000, "<h1><div>" * 8_000])
def test_empty_headings_below_each_other(headings):
    assert parse_html(f"<body>{headings}").heading == ""


@pytest.mark.parametrize(
    ("title", "suffixes"),
    [("A" + " - a" * 50_000, [" - a"] * MOST_SUFFIXES), (f"A{SPACES}-", []), ("A - b\n", [])],
)
def test_titles_of_many_parts_and_of_none(title, suffixes):
    assert site_suffixes([title] * 3) == suffixes


def test_marks_without_end_above_a_letter(tmp_path):
    name = "a" + "\u0301" * 100_000 + "\u0327" * 100_000
    resolver = LinkResolver(tmp_path, [PageFile("b.md", "b")])
    resolver.add_name(name, "b")
    assert resolver.resolve("b", Link(name, wiki=True)) == ("b", "")
