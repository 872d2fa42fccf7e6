import pytest

from argus.knowledge.dumps.pages import PAGES, Page, PageSetup, is_disambiguation, read_pages
from argus.knowledge.dumps.site import Site, any_site

ENGLISH = Site("enwiki", "en", "first-letter", any_site().namespaces)


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
    return read_pages(RECORDS, PageSetup(ENGLISH))


def test_pages_count_once_under_the_first_reason_that_holds(part):
    assert part.counts == {
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
    assert part.pages.schema == PAGES
    rows = [tuple(row.values()) for row in part.pages.to_pylist()]
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
