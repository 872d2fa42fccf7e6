import pytest

from argus.knowledge.dumps import (
    Page,
    is_disambiguation,
    parse_page,
    read_pages,
    redirect_target,
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


ENGLISH = Site("enwiki", "en", "first-letter", any_site().namespaces)


def page(title="Foo", ns="0", text="Bar", redirect=""):
    return PAGE.format(title=title, ns=ns, text=text, redirect=redirect).encode()


def test_a_page_is_read_as_it_stands():
    record = page("A &amp; B", text="'''A''' &lt;ref&gt;\n é")
    assert parse_page(record) == Page(12, "A & B", 0, None, "'''A''' <ref>\n é")


@pytest.mark.parametrize(
    "text",
    ["#REDIRECT [[Foo bar]]", "  #redirect:[[Foo bar#X|y]]", "#WEITERLEITUNG [[Foo bar]]",
     "#REDIRECTION[[ Foo bar ]]", "#REDIRECCIÓN [[Foo bar]]", "#перенаправление [[Foo bar]]",
     "＃転送 [[Foo bar]]", "#重定向 [[Foo bar]]", "\ufeff#RINVIA [[Foo bar]]"],
)  # fmt: skip
def test_a_text_is_a_redirect_in_any_language(text):
    assert (redirect_target(text) or "").partition("#")[0] == "Foo bar"


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
        page().replace(b"<id>12</id>", b"", 1),
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
        (1, "Foo", None, "", "Foo is a bar of things."),
        (2, "Fu", "Foo", "redirect", ""),
        (4, "Fo", None, "disambiguation", ""),
        (5, "Nothing", None, "no text", ""),
        (6, "Boxes", None, "no first paragraph", ""),
        (7, "Short", None, "paragraph too short", "It is short."),
        (9, "Away", "Wikipedia:Away", "redirect", ""),
    ]


@pytest.mark.parametrize(
    "text",
    ["{{disambiguation}}", "{{ Disambig }}", "{{DAB|x}}", "{{Template:hndis|Foo}}", "{{geodis\n}}",
     "{{human_name disambiguation}}", "__DISAMBIG__", "{{Airport disambiguation}}"],
)  # fmt: skip
def test_templates_and_magic_words_tell_disambiguation_pages(text):
    assert is_disambiguation(Page(1, "Foo", 0, None, f"Foo may be:\n{text}"), ENGLISH)
