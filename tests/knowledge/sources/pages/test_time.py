"""Pages of a few hundred thousand signs that kept their readers busy for minutes."""

import time

import pytest

from argus.knowledge.sources.pages.html import parse_html
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
