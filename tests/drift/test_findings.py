"""How chunks have drifted from their sources, by their paths and by their words alone."""

import pytest

from argus.data.types import Document
from argus.drift.sources import ABSENT, NO_NAME, Sources, names_of
from tests.support.drifted import drifted, kinds, pages

TEXT = " ".join(f"word{i}" for i in range(120))


@pytest.mark.parametrize("with_paths", [True, False])
@pytest.mark.parametrize("seed", [11, 12])
def test_sixteen_cases_are_told_apart(seed, with_paths, shared):
    made = drifted(pages(shared("authority") / "peps", seed), seed)
    got = kinds(made.chunks if with_paths else made.bare, made.sources)
    for kind in ("stale", "orphan", "missing", "truncated"):
        true = {name for name, one in made.truth.items() if one == kind}
        told = {name for name, one in got.items() if one == kind}
        assert len(true & told) >= 0.97 * max(len(true), len(told)), kind
    moved = [made.truth[name] for name, one in got.items() if one == "moved"]
    assert moved.count("moved") >= 0.97 * len(moved)
    assert bool(moved) is with_paths


CUT = TEXT[: TEXT.index(" word60")]
SAME = {
    "as it is": CUT,
    "white space and case": CUT.upper().replace(" ", "\r\n  "),
    "marks of Markdown": "# " + CUT.replace(" word7 ", " **word7**, "),
    "its title before it": f"A title of it\n\n{CUT}",
    "half a word at both ends": CUT[3:-1],
    "of two sources": TEXT[TEXT.index("word90") :]
    + " and then the other one begins in here, which goes on",
}
CHANGED = {
    "a number": CUT.replace("word30", "31"),
    "a word at its end": CUT.replace("word59", "else"),
    "words taken out of the source": CUT.replace("word30", "word30 with more in it"),
    "words put into the source": CUT.replace("word30 word31 word32 ", ""),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_looks_otherwise_is_no_drift(text):
    rest = TEXT[TEXT.index("word60") :]
    other = "and then the other one begins in here, which goes on for a while"
    chunks = [Document("a", text, "A title of it"), Document("b", rest), Document("c", other)]
    assert kinds([*chunks, Document("d", CUT)], {"one.md": TEXT, "two.md": other}).get("a") in (
        None, "duplicate",
    )  # fmt: skip


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_a_word_that_changed_is_drift(text):
    rest = TEXT[TEXT.index("word60") :]
    assert kinds([Document("a", text), Document("b", rest)], {"one.md": TEXT}) == {"a": "stale"}


def test_a_hash_that_is_its_sources_still_counts_before_words():
    import hashlib

    of = {"source": "one.md", "sha256": hashlib.sha256(TEXT.encode()).hexdigest()}
    other = {"source": "two.md", "sha256": "0" * 64}
    chunks = [Document("a", "read in another way", "", of), Document("b", "", "", other)]
    assert kinds(chunks, {"one.md": TEXT, "two.md": TEXT[::-1]}) == {"b": "stale"}


@pytest.mark.parametrize(
    ("value", "row"),
    [("guide/install.md", 0), ("/srv/docs/api/install.md", 1), ("C:\\docs\\guide\\install.md", 0),
     ("file:///srv/a/b.txt#3", 2), ("https://site.org/docs/faq", 3), ("./a/b.txt", 2),
     ("install.md", NO_NAME), ("other/b.txt", ABSENT), ("", NO_NAME)],
)  # fmt: skip
def test_a_path_names_a_source_by_its_end(value, row):
    ids = ("guide/install.md", "api/install.md", "a/b.txt", "faq.html")
    sources = Sources([Document(id_, "") for id_ in ids])
    chunks = [Document("x", "", "", {"from": value}), Document("y", "", "", {"from": "faq.html"})]
    assert names_of(chunks, sources, "from")[2].tolist() == [row, 3]
