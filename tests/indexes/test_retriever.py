"""Retrievers over an index: what a hybrid search reads, and BM25 as it is kept."""

import pytest

from argus.data import View
from argus.errors import InputError
from argus.indexes.job import compact_index
from argus.indexes.lexical import FOLDER, LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex

TEXTS = ["a river in France", "a mountain in Peru", "the painter of a red horse", "a steam engine"]


@pytest.fixture
def index(tmp_path, minilm):
    made = ViewIndex.create(tmp_path / "index", fingerprint=minilm.fingerprint, dim=minilm.dim)
    views = [View(f"d{i}", f"d{i}", "original", text) for i, text in enumerate(TEXTS)]
    made.add(views, minilm.encode_documents(TEXTS))
    return made


@pytest.fixture
def builds(monkeypatch):
    """The number of documents of each BM25 that was built."""
    sizes, build = [], LexicalIndex.from_batches

    def counted(*args, **settings):
        words = build(*args, **settings)
        sizes.append(len(words))
        return words

    monkeypatch.setattr(LexicalIndex, "from_batches", counted)
    return sizes


def words_of(index, encoder, as_of=None):
    return IndexRetriever(ViewIndex.open(index.path), encoder, as_of).lexical()


def test_bm25_is_built_once_per_version_and_state(index, minilm, builds):
    first, second = (words_of(index, minilm) for _ in range(2))
    assert builds == [4] and second.analyzer is first.analyzer
    assert second.search(["paintings of horses"], 9) == first.search(["paintings of horses"], 9)
    index.add([View("new", "new", "original", "a zeppelin")], minilm.encode_documents(["a"]))
    said = View("d0#r", "d0", "said", "a waterfall")
    index.add([said], minilm.encode_documents(["a waterfall"]), remedy="r-1")
    assert words_of(index, minilm).search(["zeppelins", "waterfall"], 9).ids == [["new"], ["d0"]]
    for _ in range(2):
        assert words_of(index, minilm, "before:r-1").search(["waterfall"], 9).ids == [[]]
        assert words_of(index, minilm).search(["waterfall"], 9).ids == [["d0"]]
    assert builds == [4, 5, 5] and len(list((index.path / FOLDER).iterdir())) == 2
    index.rollback("r-1")
    assert words_of(index, minilm).search(["waterfall"], 9).ids == [[]]
    compact_index(index.path)
    assert not (index.path / FOLDER).exists()


def test_a_damaged_bm25_is_built_again(index, minilm, builds):
    whole = words_of(index, minilm).search(["painter", "rivers"], 9)
    (file,) = (index.path / FOLDER).iterdir()
    saved = file.read_bytes()
    for damaged in (b"", saved[:-9], saved[: len(saved) // 2], b"x" * len(saved)):
        file.write_bytes(damaged)
        assert not LexicalIndex.is_saved(file, made_of="")
        with pytest.raises(InputError) as error:
            LexicalIndex.open(file)
        assert error.value.where == file
        builds.clear()
        for _ in range(2):
            assert words_of(index, minilm).search(["painter", "rivers"], 9) == whole
        assert builds == [4]
