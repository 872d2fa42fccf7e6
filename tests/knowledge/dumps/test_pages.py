import pytest

from argus.knowledge.dumps import Page, is_disambiguation, parse_page, read_pages
from argus.knowledge.raw import PAGES
from argus.knowledge.wikitext import Site
from tests.support.dumps import any_site

ENGLISH = Site("enwiki", "en", any_site().namespaces)


def record(title="Foo", text="Bar", *, ns=0, redirect=None):
    target = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page>\n  <title>{title}</title><ns>{ns}</ns><id>12</id>{target}"
        f'<revision><id>3</id><text xml:space="preserve">{text}</text></revision>\n</page>'
    ).encode()


def test_a_page_is_read_as_it_stands():
    text = "'''A''' &lt;ref&gt;\n é"
    assert parse_page(record("A &amp; B", text)) == Page("A & B", 0, None, "'''A''' <ref>\n é")


@pytest.mark.parametrize(
    "broken",
    [b"", record()[:-8], record().replace(b"Bar", b"\x02"), record().replace(b"Bar", b"\xff\xfe"),
     b"<item><title>A</title></item>", record(" "), record(ns="x")],
)  # fmt: skip
def test_a_broken_record_is_counted(broken):
    assert read_pages([broken], ENGLISH)[1] == {"broken XML": 1}


RECORDS = [
    record("Foo", "'''Foo''' is a [[bar]] of things.\n\n== x ==\n[[baz]]"),
    record("Fu", "#REDIRECT [[Foo]]", redirect="foo#x"),
    record("Talk:Foo", "Foo is a bar of things.", ns=1),
    record("Fo", "'''Fo''' may be:\n* [[Foo]]\n{{Disambig|geo}}"),
    record("Nothing", "  "),
    record("Boxes", "{{Infobox}}\n== x ==\nFoo is a bar of things."),
    record("Short", "It is short."),
    b"<page><title>Broken</title>",
    record("Away", "", redirect="Wikipedia:Away"),
]


def test_pages_count_once_under_the_first_reason_that_holds():
    tables, counts = read_pages(RECORDS, ENGLISH)
    assert counts == {
        "articles": 1, "redirects": 2, "not an article": 1, "disambiguation": 1, "no text": 1,
        "no first paragraph": 1, "paragraph too short": 1, "broken XML": 1,
    }  # fmt: skip
    assert tables["pages"].schema == PAGES
    assert [tuple(row.values()) for row in tables["pages"].to_pylist()] == [
        ("Foo", None, "", "Foo is a bar of things."),
        ("Fu", "Foo", "redirect", ""),
        ("Fo", None, "disambiguation", ""),
        ("Nothing", None, "no text", ""),
        ("Boxes", None, "no first paragraph", ""),
        ("Short", None, "paragraph too short", "It is short."),
        ("Away", "Wikipedia:Away", "redirect", ""),
    ]


@pytest.mark.parametrize(
    "text",
    ["{{disambiguation}}", "{{ Disambig }}", "{{DAB|x}}", "{{Template:hndis|Foo}}", "{{geodis\n}}",
     "{{human_name disambiguation}}", "__DISAMBIG__", "{{Airport disambiguation}}"],
)  # fmt: skip
def test_templates_and_magic_words_tell_disambiguation_pages(text):
    assert is_disambiguation(Page("Foo", 0, None, f"Foo may be:\n{text}"), ENGLISH)
