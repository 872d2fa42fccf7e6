import posixpath
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge.pages import path_key, resolve_link

PATHS = [
    "index.html", "README.md", "a.md", "b/index.md", "b/c.html", "b/c/d.md", "e f.md",
    "Ünï.md", "x.y.md", "deep/b/c.txt", "b.md", "100%.md", "Release-Notes.md",
]  # fmt: skip
IDS = {path_key(id_): id_ for id_ in (posixpath.splitext(path)[0] for path in PATHS)}


@pytest.mark.parametrize(
    ("page", "target", "destination"),
    [
        ("b/c", "../B/C/D.MD", "b/c/d"), ("b/c", "./d.md", ""), ("b/c", "c/d", "b/c/d"),
        ("a", "b/c/", "b/c"), ("b/c", "/", "index"), ("b/c", "..", "index"),
        ("a", "e%20f.md?x=1#y", "e f"), ("a", "U%CC%88ni%CC%88.md", "Ünï"), ("a", "x.y", "x.y"),
        ("a", "/../a.md", "a"), ("a", "#there", "a"), ("a", "x" * 5000, ""),
        ("a", "nul%00.md", ""), ("a", "HTTPS://x.org/a.md", None), ("a", "mailto:a@x.org", None),
    ],
)  # fmt: skip
def test_paths_lead_to_pages(page, target, destination):
    assert resolve_link(page, target, IDS) == destination


@given(st.sampled_from(PATHS), st.sampled_from(PATHS), st.booleans(), st.booleans())
@settings(deadline=None)
def test_the_relative_path_between_two_pages_links_them(start, end, rooted, encoded):
    path = "/" + end if rooted else posixpath.relpath(end, posixpath.dirname(start) or ".")
    path = quote(path) if encoded or "%" in path else path
    page = resolve_link(posixpath.splitext(start)[0], path, IDS)
    assert page == posixpath.splitext(end)[0]
