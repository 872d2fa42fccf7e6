"""Argus indexes and vector stores as retrievers: named, filtered, failing, kept."""

import time
from dataclasses import replace

import numpy as np
import pytest

from argus.data.types import Query
from argus.errors import EncoderMismatch, InputError
from argus.indexes.recipe import CORRECTION, QueryCorrection
from argus.indexes.retriever import open_retriever
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import opened
from argus.retrievers.protocol import note_lines, note_of
from argus.stores.spec import StoreConfig, open_store
from tests.support.blended import UnitWords
from tests.support.retrievable import DOCUMENTS, word_index, word_store
from tests.support.word_encoder import WordEncoder

QUERIES = [Query("q1", "hot leaves"), Query("q2", "reggae Jamaica"), Query("q3", " ")]
RIGHT = {"q1": "tea", "q2": "ska"}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return word_index(tmp_path_factory.mktemp("indexes") / "index")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return word_store(tmp_path_factory.mktemp("stores") / "qdrant")


class Slow(WordEncoder):
    """Takes its time for every text that holds a word. most: texts embedded at once."""

    def __init__(self, word, seconds):
        super().__init__()
        self.word, self.seconds = word, seconds
        self.now = self.most = 0

    def encode_queries(self, texts):
        self.now += 1
        self.most = max(self.most, self.now)
        if any(self.word in text for text in texts):
            time.sleep(self.seconds)
        self.now -= 1
        return super().encode_queries(texts)


def first(run):
    return {query: next(iter(scores)) for query, scores in run.items() if scores}


def test_an_index_is_asked_by_its_path_and_as_it_was(index):
    encoder = WordEncoder()
    expected = open_retriever(index, encoder).search(QUERIES, 3)
    for name in (index, f"index:{index}", f"{index}@original", f"index:{index}@original"):
        with opened(name, encoder=encoder) as source:
            assert source.ask(QUERIES, 3).run == expected
            assert source.name == str(name) and input_path(name) == index
    with opened(open_retriever(index, encoder)) as source:
        assert source.search(QUERIES, 3) == expected
    assert first(expected) == RIGHT


def test_an_index_needs_its_own_encoder(index):
    with pytest.raises(InputError, match="--encoder"), opened(str(index)):
        pass
    with pytest.raises(EncoderMismatch), opened(str(index), encoder=UnitWords()):
        pass
    with pytest.raises(InputError) as error, opened("index:nowhere"):
        pass
    assert "nowhere" in str(error.value.where)


def test_a_store_is_asked_and_its_records_are_documents(store):
    with opened(store, documents=DOCUMENTS, encoder=WordEncoder()) as source:
        run = source.search(QUERIES, 2)
        assert source.name == store and first(run) == RIGHT and len(run["q1"]) == 2
    with opened(store, encoder=WordEncoder()) as source:  # nobody says what its documents are
        assert first(source.search(QUERIES, 2)) == {"q1": "0", "q2": "2"}
    config = AskingConfig(id_field="doc_id")
    with opened(store, encoder=WordEncoder(), config=config) as source:
        assert first(source.search(QUERIES, 2)) == RIGHT
    unnamed = [replace(d, id=f"other {d.id}") for d in DOCUMENTS]
    with opened(store, documents=unnamed, encoder=WordEncoder()) as source:  # by their texts
        assert first(source.search(QUERIES, 2)) == {"q1": "other tea", "q2": "other ska"}


@pytest.mark.parametrize("place", ["index", "store"])
def test_a_time_out_counts_of_indexes_and_stores(place, request):
    slow, name = Slow("reggae", 0.6), str(request.getfixturevalue(place))
    config = AskingConfig(timeout_s=0.3, at_once=4)
    with opened(name, documents=DOCUMENTS, encoder=slow, config=config) as source:
        answers = source.ask(QUERIES, 2)
    assert answers.failed == {"q2": "no answer in 0.3 s"}
    assert first(answers.run) == {"q1": "tea"} and slow.most == 1


class Wide(WordEncoder):
    dim = 25


@pytest.mark.parametrize(
    ("encoder", "config", "where", "words"),
    [
        (None, AskingConfig(), "--encoder", "a store, and no encoder"),
        (Wide(), AskingConfig(), "--encoder", "25 dimensions"),
        (WordEncoder(), AskingConfig(id_field="nothing"), "--result-id", "nothing"),
        (WordEncoder(), AskingConfig(opening=StoreConfig(id_file="x")), "--store-ids", "x"),
    ],
)
def test_what_a_store_lacks_is_told(store, encoder, config, where, words):
    refused = pytest.raises(InputError, match=words)
    with refused as error, opened(store, encoder=encoder, config=config):
        pass
    assert error.value.where == where


def test_vectors_of_another_encoder_are_told(store):
    class Foreign(WordEncoder):
        def encode_documents(self, texts):
            return -super().encode_documents([f"{text} elsewhere" for text in texts])

    for encoder, is_told in ((WordEncoder(), False), (Foreign(), True)):
        with opened(store, documents=DOCUMENTS, encoder=encoder) as source:
            note = note_of(source.name, source.ask(QUERIES, 2))
        assert any("are not what words makes" in line for line in note_lines(note, 3)) is is_told


def test_queries_of_a_store_are_corrected(store, tmp_path):
    u, w = np.random.default_rng(0).normal(size=(2, WordEncoder.dim, 2)).astype(np.float32)
    correction = QueryCorrection(u, w, 1.0, "words")
    correction.save(tmp_path / CORRECTION)
    vectors = correction.apply(WordEncoder().encode_queries([q.text for q in QUERIES[:2]]))
    with open_store(store) as client:
        by_hand = client.search(vectors, 4)
    config = AskingConfig(correction=tmp_path)
    with opened(store, documents=DOCUMENTS, encoder=WordEncoder(), config=config) as source:
        assert source.name == f"{store} corrected"
        run = source.search(QUERIES[:2], 4)
    for query, hits in zip(("q1", "q2"), by_hand, strict=True):
        assert run[query] == pytest.approx({DOCUMENTS[int(id_)].id: s for id_, s in hits})
