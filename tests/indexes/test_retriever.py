"""Retrievers over an index: what a hybrid search reads, and BM25 as it is kept."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from argus.data import Document, View
from argus.errors import InputError
from argus.indexes.job import build_index, compact_index
from argus.indexes.lexical import FOLDER, LexicalIndex
from argus.indexes.recipe import CORRECTION, QueryCorrection
from argus.indexes.retriever import IndexRetriever, search_index
from argus.indexes.views import ViewIndex

TEXTS = ["a river in France", "a mountain in Peru", "the painter of a red horse", "a steam engine"]


@pytest.fixture
def index(tmp_path, minilm):
    made = ViewIndex.create(tmp_path / "index", fingerprint=minilm.fingerprint, dim=minilm.dim)
    views = [View(f"d{i}", f"d{i}", "original", text) for i, text in enumerate(TEXTS)]
    made.add(views, minilm.encode_documents(TEXTS))
    return made


def test_a_hybrid_search_reads_no_snapshot_in_vain(index, minilm, monkeypatch):
    index.build_ann()
    monkeypatch.setattr(ViewIndex, "snapshot", lambda *_: pytest.fail("all was read"))
    answer = search_index("river", index.path, hybrid="min-max", encoder=minilm)
    assert answer["results"][0]["id"] == "d0" and answer["results"][0]["scenario"] is None


def test_a_hybrid_search_names_the_scenario_it_searched(index, minilm):
    needs = ["how long is the river", "who engraved the coin"]
    views = [
        View(
            f"d0#{i}", "d0", "scenario", need,
            json.dumps({"main_topic": "t", "information_need": need, "explanation": "e"}),
        )
        for i, need in enumerate(needs)
    ]  # fmt: skip
    rows = minilm.encode_documents(needs)
    index.add(views, rows, remedy="s-1")

    def best():
        answer = search_index("river length", index.path, hybrid="min-max", encoder=minilm)
        return next(hit["scenario"]["view"] for hit in answer["results"] if hit["id"] == "d0")

    assert best() == "d0#0"
    query = minilm.encode_queries(["river length"])[0]
    home = index.path / "remedies" / "c-1"
    home.mkdir(parents=True)
    moved = QueryCorrection(rows[1][:, None], query[:, None], 20.0, minilm.fingerprint)
    moved.save(home / CORRECTION)
    index.prescribe("c-1", corrects=True)
    assert best() == "d0#1"


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


def test_bm25_of_a_table_that_was_put_back_is_that_tables(index, minilm, tmp_path, builds):
    table = index.path / "views.lance"
    shutil.copytree(table, tmp_path / "copy")
    for new, old in (("a zeppelin", "waterfalls"), ("a waterfall", "zeppelin")):
        shutil.rmtree(table)
        shutil.copytree(tmp_path / "copy", table)
        view = View("new", "new", "original", new)
        ViewIndex.open(index.path).add([view], minilm.encode_documents([new]))
        assert words_of(index, minilm).search([new, old], 9).ids == [["new"], []]
    copied = shutil.copytree(index.path, tmp_path / "whole")
    assert words_of(ViewIndex.open(copied), minilm).search([new], 9).ids == [["new"]]
    assert builds == [5, 5]  # a copy of the whole index takes its words along


@pytest.mark.parametrize("damage", ["missing", "swapped"])
def test_bm25_whose_files_are_not_those_that_were_saved_is_built_again(
    index, minilm, tmp_path, builds, damage
):
    whole = words_of(index, minilm).search(["painter", "rivers"], 9)
    folder = next((index.path / FOLDER).iterdir())
    LexicalIndex.build(["a", "b", "c", "c"], ["x y", "z", "x", "y"]).save(tmp_path / "other")
    for name in sorted(path.name for path in folder.iterdir() if path.suffix == ".npy"):
        if damage == "missing":
            (folder / name).unlink()
        else:
            shutil.copy(tmp_path / "other" / name, folder / name)
        with pytest.raises(InputError, match=rf"{name} is missing|cannot be read"):
            LexicalIndex.open(folder)
        builds.clear()
        for _ in range(2):
            assert words_of(index, minilm).search(["painter", "rivers"], 9) == whole
        assert builds == [4]


def test_bm25_that_cannot_be_saved_is_built_each_time(index, minilm, builds):
    (index.path / FOLDER).write_text("in the way")
    for _ in range(2):
        assert words_of(index, minilm).search(["painter"], 9).ids == [["d2"]]
    assert builds == [4, 4] and (index.path / FOLDER).is_file()


def test_many_save_and_open_one_bm25_at_once(index, tmp_path):
    words = LexicalIndex.build(["a", "b"], ["a river", "a mountain"], made_of="it")
    words.save(tmp_path / "words")

    def save(_):
        words.save(tmp_path / "words")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(40)))
    assert LexicalIndex.open(tmp_path / "words").search(["river"], 2).ids == [["a"]]
    assert not list(tmp_path.glob(".*.partial"))


def test_a_fresh_build_leaves_no_words_of_the_one_before(minilm, tmp_path):
    for text in ("a river", "a mountain"):
        index = build_index([Document("d", text)], out=tmp_path, encoder=minilm, fresh=True).index
        assert words_of(index, minilm).search([text], 1).ids == [["d"]]
    assert len(list((tmp_path / FOLDER).iterdir())) == 1
