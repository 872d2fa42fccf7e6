"""What is searched: an index that changes under those who ask, and retrievers of other shapes."""

import shutil
import threading
import time

import pytest

from argus.data.types import View
from argus.indexes.views import ViewIndex
from argus.service import searcher as module
from argus.service.searcher import IndexSource

QUESTION = "archives that write outside of their folder"
ADDED = "Archives no longer write outside of their folder."


@pytest.fixture
def changing(story, tmp_path):
    shutil.copytree(story / "index", tmp_path / "index")
    return tmp_path / "index"


def add(path, encoder, id_="news"):
    view = View(id_, id_, "original", ADDED)
    ViewIndex.open(path).add([view], encoder.encode_documents([ADDED]))


def test_a_new_version_is_read_beside_the_one_that_answers(changing, minilm, monkeypatch):
    source = IndexSource(str(changing))
    before = source.answer([QUESTION], 1)[0]
    add(changing, minilm)
    held, reading = threading.Event(), threading.Event()
    warmed = module._warmed

    def slowly(retriever):
        reading.set()
        assert held.wait(20)
        return warmed(retriever)

    monkeypatch.setattr(module, "_warmed", slowly)
    monkeypatch.setattr(module, "CHECK_S", 0.0)
    assert source.answer([QUESTION], 1)[0].version == before.version
    assert reading.wait(20)  # another version is being read: who asks is answered by the old one
    assert source.answer([QUESTION], 1)[0] == before
    held.set()
    until = time.monotonic() + 20
    while (now := source.answer([QUESTION], 1)[0]).version == before.version:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert (now.hits[0]["id"], now.hits[0]["text"]) == ("news", ADDED)
