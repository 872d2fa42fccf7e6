from pathlib import Path

import pytest

from argus.errors import InputError
from argus.knowledge.wikitext import read_site, title_of

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>dewiki</dbname>
    <case>{case}</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Diskussion</namespace>
      <namespace key="4" case="first-letter">Wikipedia</namespace>
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="14" case="first-letter">Kategorie</namespace>
    </namespaces>
  </siteinfo>
  <page>"""


@pytest.fixture(scope="module")
def german():
    return read_site(HEAD.format(case="first-letter").encode(), where="x.bz2")


def test_a_dump_says_its_wiki_language_and_namespaces(german):
    assert (german.dbname, german.language) == ("dewiki", "de")
    names = german.namespaces
    assert names["datei"] == names["bild"] == names["file"] == names["image"] == 6
    assert names["kategorie"] == names["category"] == 14
    assert names["diskussion"] == names["talk"] == 1
    assert "" not in names


@pytest.mark.parametrize(
    ("head", "got"),
    [
        (b"", "it begins with ''"),
        (b"<!DOCTYPE html><html><body>404", "'<!DOCTYPE html><html><body>404'"),
        (HEAD.split("<namespaces>")[0].encode(), "a whole <siteinfo>"),
        (HEAD.replace("</case>", "").encode(), "mismatched tag"),
    ],
)
def test_what_is_no_export_is_said_with_what_to_give(head, got):
    with pytest.raises(InputError, match=r"expected a MediaWiki export.*pages-articles") as error:
        read_site(head, where=Path("dump.xml"))
    assert got in str(error.value) and str(error.value).startswith("dump.xml: ")


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("  alan __ Turing ", "Alan Turing"), (":Alan_Turing#Life", "Alan Turing"),
        ("AT&amp;T", "AT&T"), ("Caf%C3%A9", "Café"), ("Cafe\u0301", "Café"),
        ("100% Foo", "100% Foo"), ("élan", "Élan"), ("ßar", "ßar"), ("ლი", "ლი"),
        ("2001: A Space Odyssey", "2001: A Space Odyssey"), ("x", "X"),
    ],
)  # fmt: skip
def test_a_target_means_the_title_that_the_page_bears(german, target, title):
    assert title_of(target, german) == title
    assert title_of(title, german) == title
