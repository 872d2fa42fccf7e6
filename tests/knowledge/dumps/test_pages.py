import pytest

from argus.knowledge.dumps import (
    Page,
    is_disambiguation,
    parse_page,
    read_pages,
)
from argus.knowledge.raw import PAGES
from argus.knowledge.site import Site
from tests.support.dumps import any_site

PAGE = """<page>
  <title>{title}</title>
  <ns>{ns}</ns>
  <id>12</id>
  {redirect}
  <revision><id>3</id><timestamp>2015-01-01T00:00:00Z</timestamp>
    <text xml:space="preserve">{text}</text></revision>
</page>"""


ENGLISH = Site("enwiki", "en", any_site().namespaces)


def page(title="Foo", ns="0", text="Bar", redirect=""):
    return PAGE.format(title=title, ns=ns, text=text, redirect=redirect).encode()


def test_a_page_is_read_as_it_stands():
    record = page("A &amp; B", text="'''A''' &lt;ref&gt;\n é")
    assert parse_page(record) == Page("A & B", 0, None, "'''A''' <ref>\n é")


@pytest.mark.parametrize(
    "record",
    [
        b"",
        page()[:-8],
        page().replace(b"Bar", b"\x02"),
        page().replace(b"Bar", b"\xff\xfe"),
        b"<item><title>A</title></item>",
        page(title=" "),
        page(ns="x"),
    ],
)
def test_a_broken_record_is_counted(record):
    assert read_pages([record], ENGLISH)[1] == {"broken XML": 1}


def record(number, title, text, *, ns=0, redirect=None):
    target = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{target}"
        f"<revision><text>{text}</text></revision></page>"
    ).encode()


RECORDS = [
    record(1, "Foo", "'''Foo''' is a [[bar]] of things.\n\n== x ==\n[[baz]]"),
    record(2, "Fu", "#REDIRECT [[Foo]]", redirect="foo#x"),
    record(3, "Talk:Foo", "Foo is a bar of things.", ns=1),
    record(4, "Fo", "'''Fo''' may be:\n* [[Foo]]\n{{Disambig|geo}}"),
    record(5, "Nothing", "  "),
    record(6, "Boxes", "{{Infobox}}\n== x ==\nFoo is a bar of things."),
    record(7, "Short", "It is short."),
    b"<page><title>Broken</title>",
    record(9, "Away", "", redirect="Wikipedia:Away"),
]


@pytest.fixture(scope="module")
def part():
    return read_pages(RECORDS, ENGLISH)


def test_pages_count_once_under_the_first_reason_that_holds(part):
    assert part[1] == {
        "articles": 1,
        "redirects": 2,
        "not an article": 1,
        "disambiguation": 1,
        "no text": 1,
        "no first paragraph": 1,
        "paragraph too short": 1,
        "broken XML": 1,
    }


def test_rows_are_pages_of_the_main_namespace_in_order(part):
    assert part[0]["pages"].schema == PAGES
    rows = [tuple(row.values()) for row in part[0]["pages"].to_pylist()]
    assert rows == [
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
