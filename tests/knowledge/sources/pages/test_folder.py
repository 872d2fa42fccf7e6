import pytest

from argus.errors import InputError
from argus.knowledge.sources import PageFolder

ENTITIES = {
    "README": ("Acme Wiki", "Welcome to the wiki of Acme, where all is written down."),
    "broken": ("broken", "Text after broken front matter."),
    "company/about": ("About Acme", "Acme Corporation makes anvils and rockets."),
    "company/index": ("The company", "A text in no paragraph element counts too."),
    "company/people/Ada Smith": ("Ada Smith", "Ada Smith founded it."),
    "deck": ("deck", "Deck."),
    "guide/index": ("Setext heading", "The guide has a part and old."),
    "guide/part-two": ("Part two", "The second part of the guide, after guide/index."),
    "latin": ("Café", "The café – open daily."),
    "nowhere": ("nowhere", "It went away."),
    "people/coyote": ("coyote", "The coyote is our best customer."),
    "products/anvils": ("Anvils", "Anvils are heavy."),
    "products/rockets": (
        "Rockets: a guide", "Rockets fly up and come down, see products/anvils.",
    ),
    "sixteen": ("sixteen", "Sixteen bits a character here."),
    "undeclared": ("undeclared", "Naïve text of Windows."),
}  # fmt: skip
LINKS = {
    "README": ["company/about", "products/rockets", "products/anvils", "guide/index",
               "people/coyote", "company/people/Ada Smith", "company/index"],
    "company/about": ["README", "products/rockets", "products/anvils", "company/people/Ada Smith"],
    "company/index": ["company/about"],
    "guide/index": ["guide/part-two", "company/about"],  # [[old]] is a redirect
    "guide/part-two": ["guide/index"],
    "latin": ["products/anvils"],
    "products/rockets": ["products/anvils", "people/coyote", "products/rockets",
                         "products/rockets", "company/about", "products/rockets",
                         "products/anvils"],
}  # fmt: skip
COUNTS = {
    "entity": 15, "redirect": 2, "former path": 2, "redirect to no page": 1,
    "link": 23, "external link": 4, "dead link": 3, "link to the same page": 1,
    "link to a file that is no page": 1,
    "hidden folder": 2, "hidden file": 1, "link to a folder": 1, "no regular file": 1,
    "other ending": 1, "too large": 1, "empty page": 1, "not UTF-8": 2,
    "same page in another format": 1, "broken front matter": 1, "read as Windows-1252": 1,
}  # fmt: skip


@pytest.fixture
def raw(wiki, written):
    return written(PageFolder(wiki, max_bytes=20_000))


def test_pages_are_entities_with_label_and_first_paragraph(raw):
    assert {i: (e["label"], e["paragraph"]) for i, e in raw.entities.items()} == ENTITIES
    assert [e["id"] for e in raw.rows("entities")] == sorted(ENTITIES)
    assert all(e["article"] == e["label"] for e in raw.rows("entities"))
    assert raw.entities["products/rockets"]["description"] == "What flies."


def test_links_between_pages_relate_them(raw):
    links = [(r["subject"], r["object"]) for r in raw.rows("relations")]
    assert links == [(page, target) for page in sorted(LINKS) for target in LINKS[page]]
    assert {(r["property"], r["source"]) for r in raw.rows("relations")} == {("link", "hyperlink")}


def test_all_that_is_left_out_is_counted(raw):
    assert raw.counts == COUNTS


def test_a_folder_without_pages_says_what_it_holds(tmp_path, written):
    folder = tmp_path / "site"
    with pytest.raises(InputError, match="no such folder"):
        written(PageFolder(folder))
    folder.mkdir()
    with pytest.raises(
        InputError, match=r"site: holds no page that can be read; expected files of .md"
    ):
        written(PageFolder(folder))
    (folder / "x.doc").write_text("x")
    (folder / "x.md").write_text("")
    with pytest.raises(InputError, match=r"read \(1 empty page, 1 other ending\)"):
        written(PageFolder(folder))
    with pytest.raises(InputError, match="is a file"):
        written(PageFolder(folder / "x.doc"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<div>" * 5_000 + "<p>Deep text.</p>"),
        ("a.html", "<b>" * 5_000 + "Deep text."),
        ("a.md", ">" * 5_000 + " quoted\n\nDeep text."),
        ("a.md", "[" * 5_000 + "\n\nDeep text."),
        ("a.md", "---\naliases: &a [*a]\ntitle: [[x]]\n---\n\nDeep text."),
        ("a.md", "---\n" + "a: {" * 5_000 + "\n---\n\nDeep text."),
        ("a.md", "---\nwhen: 2024-13-45\n---\n\nDeep text."),
        ("a.md", "---\ntitle: !!bool x\n---\n\nDeep text."),
        ("a.md", '---\ntitle: "\\ud800"\n---\n\nDeep text.'),
        ("a.md", "+++\ntitle = 0x" + "f" * 5_000 + "\n+++\n\nDeep text."),
        ("a.html", "<base href='http://['><p>Deep text."),
        ("a.html", "<meta charset=idna><p>Deep text."),
    ],
)
def test_pages_that_nest_without_end_are_read(tmp_path, written, name, text):
    (tmp_path / name).write_text(text)
    raw = written(PageFolder(tmp_path))
    assert "a" in raw.entities
    if "[[[" not in text and "<b>" not in text:
        assert raw.entities["a"]["paragraph"] == "Deep text."
