"""Where a document would come under a blend that is not there: as it does come once it is."""

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.indexes.views import ViewIndex
from argus.remedies.blend import blend_index
from argus.remedies.blend_search import preview_blend
from tests.remedies.blend.test_job import TEXTS

QUESTIONS = ("forget the oldest entries", "opened as plain files are", "known as a queue")


@pytest.fixture
def built(minilm, tmp_path):
    documents = [Document(doc, text, doc.title()) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    return tmp_path / "ix"


def test_the_rank_is_the_one_that_the_blend_brings_once_it_is_added(built, minilm):
    before = open_retriever(built, minilm)
    version = before.index.version
    told = {
        (question, doc): preview_blend(question, doc, before) for question in QUESTIONS
        for doc in TEXTS
    }  # fmt: skip
    assert ViewIndex.open(built).version == version
    blend_index(built, Blend(hubs=0), encoder=minilm)
    after = open_retriever(built, minilm)
    moved = 0
    for question in QUESTIONS:
        ranked = list(after.search([Query("q", question)], 100)["q"])
        plain = list(before.search([Query("q", question)], 100)["q"])
        for doc in TEXTS:
            assert told[question, doc].rank == ranked.index(doc) + 1
        moved += ranked != plain
    assert moved
    assert told[QUESTIONS[0], "zlib"].documents == 5
    assert preview_blend(QUESTIONS[0], "deque", after) is None


def test_an_unknown_document_is_refused(built, minilm):
    retriever = open_retriever(built, minilm)
    with pytest.raises(InputError, match="unknown document"):
        preview_blend(QUESTIONS[0], "nothing", retriever)
