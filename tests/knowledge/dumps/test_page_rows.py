import pickle

import pyarrow as pa
import pytest

from argus.knowledge.dumps.pages import LINKS, PAGES, Page, PageSetup, is_disambiguation, read_pages
from argus.knowledge.dumps.site import Site, any_site

ENGLISH = Site("enwiki", "en", "first-letter", any_site().namespaces)
GERMAN = Site("dewiki", "de", "first-letter", any_site().namespaces)


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
    ("scope", "targets"), [("lead", ["Bar"]), ("page", ["Bar", "Baz"]), ("none", [])]
)
def test_links_are_of_the_scope_that_is_asked_for(scope, targets):
    links = read_pages(RECORDS, PageSetup(ENGLISH, links=scope)).links
    assert links.schema == LINKS
    assert links.to_pylist() == [{"source": "Foo", "target": target} for target in targets]


def test_fewer_words_are_enough_where_the_setup_says_so():
    part = read_pages(RECORDS, PageSetup(ENGLISH, min_words=3))
    assert part.counts["articles"] == 2


def test_no_records_give_empty_tables():
    part = read_pages([], PageSetup(ENGLISH))
    assert part.pages.equals(PAGES.empty_table())
    assert part.links.equals(pa.table([[], []], schema=LINKS))
    assert part.counts == {}


def test_setup_and_result_go_to_another_process(part):
    setup = PageSetup(ENGLISH, links="page", min_words=2)
    assert pickle.loads(pickle.dumps(setup)) == setup
    assert pickle.loads(pickle.dumps(part)).pages.equals(part.pages)


def test_a_german_dump_is_read_by_german_names():
    foo = "[[Datei:a.jpg|mini|Ein Bild.]]\n'''Foo''' ist eine [[sache]] von hier.[[Kategorie:X]]"
    records = [
        record(1, "Foo", foo),
        record(2, "Fu", "#WEITERLEITUNG [[Foo]]"),
        record(3, "Fo", "'''Fo''' steht für vieles, nämlich:\n{{Begriffsklärung}}"),
    ]
    part = read_pages(records, PageSetup(GERMAN))
    assert part.counts == {"articles": 1, "redirects": 1, "disambiguation": 1}
    assert part.pages["paragraph"][0].as_py() == "Foo ist eine sache von hier."
    assert part.links.to_pylist() == [{"source": "Foo", "target": "Sache"}]


@pytest.mark.parametrize(
    "text",
    ["{{disambiguation}}", "{{ Disambig }}", "{{DAB|x}}", "{{Template:hndis|Foo}}", "{{geodis\n}}",
     "{{human_name disambiguation}}", "__DISAMBIG__", "{{Airport disambiguation}}"],
)  # fmt: skip
def test_templates_and_magic_words_tell_disambiguation_pages(text):
    assert is_disambiguation(Page(1, "Foo", 0, None, f"Foo may be:\n{text}"), ENGLISH)


@pytest.mark.parametrize(
    "text",
    ["{{surname}}", "{{given name}}", "{{disambiguation needed}}", "{{SIA}}", "disambig", "",
     "{{other uses|Foo (disambiguation)}}", "{{shipindex}}", "{{dp}}"],
)  # fmt: skip
def test_set_indices_and_mentions_are_articles(text):
    assert not is_disambiguation(Page(1, "Foo", 0, None, f"Foo is:\n{text}"), ENGLISH)


@pytest.mark.parametrize(
    ("language", "template"),
    [("de", "Begriffsklärung"), ("fr", "Homonymie"), ("es", "desambiguación"), ("it", "Disambigua"),
     ("nl", "Dp"), ("ru", "неоднозначность"), ("sv", "Förgrening"), ("pl", "Ujednoznacznienie"),
     ("ja", "Aimai"), ("zh", "消歧义"), ("pt", "desambiguação"), ("xx", "homonymie")],
)  # fmt: skip
def test_other_languages_have_templates_of_their_own(language, template):
    site = Site("", language, "first-letter", {})
    assert is_disambiguation(Page(1, "Foo", 0, None, f"Foo:\n{{{{{template}}}}}"), site)


def test_a_title_tells_too():
    assert is_disambiguation(Page(1, "Foo (disambiguation)", 0, None, ""), ENGLISH)
    assert is_disambiguation(Page(1, "Foo (Begriffsklärung)", 0, None, ""), GERMAN)
    assert not is_disambiguation(Page(1, "Disambiguation", 0, None, ""), ENGLISH)
