import pytest

from argus.errors import InputError
from argus.knowledge.pages import PageFolder

ENTITIES = {
    "README": ("Acme Wiki", "Welcome to the wiki of Acme, where all is written down."),
    "broken": ("broken", "Text after broken front matter."),
    "company/about": ("About Acme", "Acme Corporation makes anvils and rockets."),
    "company/index": ("The company - Acme Wiki", "It is old."),
    "company/people/Ada Smith": ("Ada Smith", "Ada Smith founded it."),
    "deck": ("deck", "Deck."),
    "guide/index": ("Setext heading", "The guide has a part of it."),
    "guide/part-two": ("Part two", "The second part of the guide, after the first."),
    "people/coyote": ("coyote", "The coyote is our best customer."),
    "products/anvils": ("Anvils", "Anvils are heavy."),
    "products/rockets": ("Rockets: a guide", "Rockets fly up and come down."),
}
LINKS = {
    "README": {"company/about", "products/rockets", "products/anvils", "guide/index",
               "company/index"},
    "company/about": {"README", "products/rockets", "products/anvils", "company/people/Ada Smith"},
    "company/index": {"company/about"},
    "guide/index": {"guide/part-two"},
    "guide/part-two": {"guide/index"},
    "products/rockets": {"company/about", "products/anvils"},
}  # fmt: skip


@pytest.fixture
def raw(wiki, written):
    return written(PageFolder(wiki))


def test_pages_are_entities_with_label_and_first_paragraph(raw):
    assert {i: (e["label"], e["paragraph"]) for i, e in raw.entities.items()} == ENTITIES
    assert [e["id"] for e in raw.rows("entities")] == sorted(ENTITIES)
    assert all(e["article"] == e["label"] for e in raw.rows("entities"))
    assert raw.entities["products/rockets"]["description"] == "What flies."


def test_links_between_pages_relate_them(raw):
    links = {}
    for row in raw.rows("relations"):
        if row["subject"] != row["object"]:
            links.setdefault(row["subject"], set()).add(row["object"])
    assert links == LINKS
    assert {(r["property"], r["source"]) for r in raw.rows("relations")} == {("link", "hyperlink")}
    assert raw.aliases == {("products/rockets", "Projectiles", "alias")}


def test_pages_and_links_are_counted(raw):
    counts = {"entity": 11, "empty page": 1, "other file": 2, "dead link": 3}
    assert raw.counts.items() >= counts.items()


def test_a_folder_without_pages_says_what_it_holds(tmp_path, written):
    folder = tmp_path / "site"
    with pytest.raises(InputError, match="no such folder"):
        written(PageFolder(folder))
    folder.mkdir()
    (folder / "x.doc").write_text("x")
    (folder / "x.md").write_text("")
    with pytest.raises(InputError, match=r"read \(1 empty page, 1 other file\)"):
        written(PageFolder(folder))
    with pytest.raises(InputError, match="is a file"):
        written(PageFolder(folder / "x.doc"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<div>" * 5_000 + "<p>Deep text.</p>"),
        ("a.md", "[" * 5_000 + "\n\nDeep text."),
        ("a.md", "---\naliases: &a [*a]\ntitle: [[x]]\n---\n\nDeep text."),
        ("a.md", '---\ntitle: "\\ud800"\n---\n\nDeep text.'),
        ("a.html", "<base href='http://['><p>Deep text."),
        ("a.html", "<meta charset=idna><p>Deep text."),
    ],
)
def test_pages_that_nest_without_end_are_read(tmp_path, written, name, text):
    (tmp_path / name).write_text(text)
    raw = written(PageFolder(tmp_path))
    assert "a" in raw.entities
    if "[[[" not in text:
        assert raw.entities["a"]["paragraph"] == "Deep text."
