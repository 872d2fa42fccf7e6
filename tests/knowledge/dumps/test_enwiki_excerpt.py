"""The real head of an English dump, 206 pages: what is counted, and paragraphs read by eye.

All first paragraphs of its 97 articles that have one were read against their wikitext, by eye;
a few stand here, chosen for what their wikitext holds.
"""

import bz2
import re

import pytest

from argus.knowledge.dumps import read_pages
from argus.knowledge.wikitext import HEAD_BYTES, read_site

DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|''|<|\{\||\|\}|==|&\w+;|__|\x00|\||https?:|\bthumb\b"
    r"|\(\)|\( |\([;,:]| ,| ;| \)|[;,]\)|,,|  | \.(?!\.)|^\W* |\n|\[\]"
)

# Title to first paragraph.
WHOLE = {
    "Albedo": (
        'Albedo or reflection coefficient, derived from Latin albedo "whiteness" (or '
        'reflected sunlight) in turn from albus "white", is the diffuse reflectivity or '
        "reflecting power of a surface."
    ),
    "Andrei Tarkovsky": (
        "Andrei Arsenyevich Tarkovsky (Андре́й Арсе́ньевич Тарко́вский; 4 April 1932 – 29 "
        "December 1986) was a Soviet and Russian film-maker, writer, film editor, film "
        "theorist, theatre and opera director."
    ),
    "Allah": (
        "Allah (الله Allāh) is the Arabic word referring to God in Abrahamic religions. The "
        'word is thought to be derived by contraction from al ilāh, which means "the God", '
        "and has cognates in other Semitic languages, including Elah in Aramaic, ʾĒl in "
        "Canaanite and Elohim in Hebrew."
    ),
    "Aikido": (
        "Aikido (合気道, Aikidō) is a modern Japanese martial art developed by Morihei Ueshiba "
        "as a synthesis of his martial studies, philosophy, and religious beliefs. Aikido is "
        'often translated as "the way of unifying (with) life energy" or as "the way of '
        "harmonious spirit.\" Ueshiba's goal was to create an art that practitioners could use"
        " to defend themselves while also protecting their attacker from injury."
    ),
}


@pytest.fixture(scope="module")
def part(shared):
    dump = bz2.decompress((shared("enwiki_excerpt") / DUMP).read_bytes())
    site = read_site(dump[:HEAD_BYTES], where=DUMP)
    return read_pages(re.findall(rb"<page>.*?</page>", dump, re.DOTALL), site)


@pytest.fixture(scope="module")
def paragraphs(part):
    rows = part[0]["pages"].to_pylist()
    return {row["title"]: row["paragraph"] for row in rows if row["paragraph"]}


def test_every_page_is_counted_under_one_reason(part):
    assert part[1] == {
        "articles": 96, "redirects": 99, "disambiguation": 8, "not an article": 1,
        "no first paragraph": 1, "paragraph too short": 1,
    }  # fmt: skip


def test_short_first_paragraphs_are_as_read_by_eye(paragraphs):
    assert {title: paragraphs[title] for title in WHOLE} == WHOLE


def test_no_first_paragraph_holds_any_markup(paragraphs):
    assert len(paragraphs) == 97
    left = {title: MARKUP.findall(text) for title, text in paragraphs.items()}
    assert {title: marks for title, marks in left.items() if marks} == {}


def test_all_but_a_few_first_paragraphs_are_whole_sentences(paragraphs):
    cut = [title for title, text in paragraphs.items() if not text.endswith((".", '."', ".)"))]
    assert sorted(cut) == ["Affirming the consequent", "Transport in Angola"]  # lists follow
