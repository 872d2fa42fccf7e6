"""What the command line names: a store that is searched, and others to compare with it."""

from types import SimpleNamespace

import pytest

from argus.corpora.opening import read_corpus
from argus.encoders import DEFAULT_MODEL
from argus.evaluation.config import ChunkedCorpus
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.support import stored_corpora
from tests.support.superseding import story_source

HTML, PART = {"accept": "text/html"}, {"hx-request": "true"}
QUESTION = "archives that write outside of their folder"
RETRIEVER = "def retrieve(query, k):\n    return [('flaw-3', 2.0), ('flaw-1', 1.0)][:k]\n"


@pytest.fixture(scope="module")
def stored(story, minilm, tmp_path_factory):
    """A service that searches a store on disk, with an index and a Python retriever beside it."""
    folder = tmp_path_factory.mktemp("stored")
    documents = read_corpus(story / "records.jsonl")
    vectors = minilm.encode_documents([one.content for one in documents])
    store = stored_corpora.sqlite_vec(folder / "store", documents, vectors)
    mine = folder / "mine.py"
    mine.write_text(RETRIEVER)
    place = open_workplace(
        [folder], store=store, encoder=DEFAULT_MODEL,
        chunks=ChunkedCorpus(corpus=story / "records.jsonl"),
        authority=story_source(story), beside=(f"{mine}:retrieve", str(story / "index")),
    )  # fmt: skip
    with Client(create_app(place, ServeConfig())) as client:
        yield SimpleNamespace(client=client, store=store)


def page(stored, name, headers=HTML, **values):
    return stored.client.get(f"/page/-/{name}", params=values, headers=headers)


def test_any_two_that_the_command_line_names_are_asked_side_by_side(stored):
    text = page(stored, "compare").text
    assert 'value="served"' in text and 'value="beside-1"' in text
    assert "argus evaluate --retriever" in text and stored.store in text
    asked = page(stored, "compare", PART, q=QUESTION, a="beside-1", b="served", k=2).text
    assert "mine.py:retrieve" in asked and ">docs<" in asked
    assert asked.index("Weak random numbers") < asked.index("Path traversal")
    assert asked.count("was 2") == 1  # flaw-1: second for the one, first for the other
    index = page(stored, "compare", PART, q=QUESTION, a="beside-1", b="/elsewhere").text
    assert "no system" in index
