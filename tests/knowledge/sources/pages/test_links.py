import posixpath
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge.sources.pages.folder import (
    LinkResolver,
    PageFile,
    label_of,
    name_of,
    site_suffixes,
)
from argus.knowledge.sources.pages.page import Link, ParsedPage

PATHS = [
    "index.html", "README.md", "a.md", "A.md", "b/index.md", "b/c.html", "b/c/d.md", "e f.md",
    "Ünï.md", "x.y.md", "deep/b/c.txt", "b.md", "100%.md", "Release-Notes.md",
]  # fmt: skip


@pytest.fixture
def resolver(tmp_path):
    (tmp_path / "file.pdf").write_text("x")
    return LinkResolver(tmp_path, [PageFile(p, posixpath.splitext(p)[0]) for p in PATHS])


@pytest.mark.parametrize(
    ("page", "target", "destination"),
    [
        ("b/c", "../a.md", "a"),
        ("b/c", "../A.md", "A"),
        ("b/c", "../B/C/D.MD", "b/c/d"),
        ("b/c", "./d.md", None),
        ("b/c", "c/d", "b/c/d"),
        ("a", "b/", "b/index"),
        ("a", "b", "b"),
        ("a", "b/c.md", "b/c"),
        ("a", "b/c/", "b/c"),
        ("b/c", "/", "index"),
        ("b/c", "..", "index"),
        ("b/c", ".", "b/index"),
        ("b/index", "", None),
        ("a", "e%20f.md?x=1#y", "e f"),
        ("a", "e f.md", "e f"),
        ("a", "U%CC%88ni%CC%88.md", "Ünï"),
        ("a", "x.y.md", "x.y"),
        ("a", "x.y", "x.y"),
        ("a", "100%25.md", "100%"),
        ("a", "100%.md", "100%"),
        ("a", "../../a.md", None),
        ("a", "/../a.md", "a"),
        ("a", "b\\c.html", "b/c"),
        ("a", "x" * 5000, None),
        ("a", "nul%00.md", None),
    ],
)
def test_paths_lead_to_pages(resolver, page, target, destination):
    assert resolver.resolve(page, Link(target))[0] == destination


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("https://x.org/a.md", "external link"), ("//x.org/a.md", "external link"),
        ("mailto:a@b.c", "external link"), ("#part", "link to the same page"),
        ("?q=1", "link to the same page"), (" ", "link to the same page"),
        ("file.pdf", "link to a file that is no page"), ("gone.md", "dead link"),
    ],
)  # fmt: skip
def test_what_leads_to_no_page_has_a_reason(resolver, target, reason):
    assert resolver.resolve("a", Link(target)) == (None, reason)


@pytest.mark.parametrize(
    ("page", "name", "destination"),
    [
        ("b/c", "a", "a"), ("b/c", "A", "A"), ("b/c", "c/d", "b/c/d"), ("deep/b/c", "d", "b/c/d"),
        ("b/c", "release notes", "Release-Notes"), ("b/c", "E_F#part", "e f"),
        ("b/c", "The title?", "a"), ("a", "c", "b/c"), ("a", "gone", None), ("a", "#part", None),
    ],
)  # fmt: skip
def test_names_lead_to_pages(resolver, page, name, destination):
    resolver.add_name("The  Title?", "a")
    assert resolver.resolve(page, Link(name, wiki=True))[0] == destination


@given(st.sampled_from(PATHS), st.sampled_from(PATHS), st.booleans(), st.booleans())
@settings(deadline=None)
def test_the_relative_path_between_two_pages_links_them(start, end, rooted, encoded):
    resolver = LinkResolver(None, [PageFile(p, posixpath.splitext(p)[0]) for p in PATHS])
    path = "/" + end if rooted else posixpath.relpath(end, posixpath.dirname(start) or ".")
    path = quote(path) if encoded or "%" in path else path
    page, _ = resolver.resolve(posixpath.splitext(start)[0], Link(path))
    assert page == posixpath.splitext(end)[0]


def test_the_part_of_titles_that_most_pages_share_is_the_sites():
    titles = ["Home | Docs | Acme", "A - B | Docs | Acme", "C | Docs | Acme", "Acme", "", "D"]
    assert site_suffixes(titles) == [" | Acme", " | Docs"]
    assert site_suffixes(["A - x", "B - x"]) == []
    assert site_suffixes([]) == []
    page = ParsedPage(site_title="A - B | Docs | Acme")
    assert label_of(page, "a", [" | Acme", " | Docs"]) == "A - B"


def test_labels_fall_back_from_front_matter_to_the_files_name():
    whole = ParsedPage(title="T", heading="H", site_title="S")
    assert label_of(whole, "x", ()) == "T"
    assert label_of(ParsedPage(heading="H", site_title="S"), "x", ()) == "H"
    assert label_of(ParsedPage(site_title="S"), "x", ()) == "S"
    assert label_of(ParsedPage(), "a/release-notes", ()) == "release notes"
    assert name_of("guide/index") == "guide"
    assert name_of("index") == "index"
    assert name_of("a/Well-known facts") == "Well-known facts"
