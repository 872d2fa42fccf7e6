"""`blended:STORE`, a blend in a store as a retriever of every command."""

from __future__ import annotations

import pytest

from argus.data.types import Document, Query
from argus.errors import FingerprintMismatch, InputError
from argus.retrievers.blended.records import open_records
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import opened
from argus.stores.spec import asks_store
from tests.support.blended import UnitWords, defined, numbered, payload, queries, same_ranking
from tests.support.blended_stores import LOCAL

QUERIES = queries()


@pytest.fixture(params=LOCAL)
def store(request, tmp_path, index):
    return LOCAL[request.param](tmp_path / "store", numbered(index))


@pytest.fixture
def in_chroma(tmp_path, index):
    return LOCAL["chroma"](tmp_path / "store", numbered(index))


def asking(index, **settings):
    return AskingConfig(correction=index.index.path, **settings)


def test_a_blend_in_a_store_is_asked_by_its_name(store, index):
    with opened(f"blended:{store}", encoder=index.encoder, config=asking(index)) as source:
        assert source.name.startswith("blended:") and source.fingerprint == "unit words"
        answers = source.ask(QUERIES, 10)
    assert not answers.failed
    for query in QUERIES:
        same_ranking(answers.run[query.id], defined(index, query))


def test_only_documents_that_pass_a_filter_come_back(in_chroma, index):
    config = asking(index, where=("tenant=1",))
    with opened(f"blended:{in_chroma}", encoder=index.encoder, config=config) as source:
        run = source.search(QUERIES, 5)
    assert all(payload(document)["tenant"] == 1 for hits in run.values() for document in hits)
    assert all(run.values())


def test_documents_that_are_called_otherwise_are_known_by_a_field(in_chroma, index):
    documents = [Document(f"/d{i:03}", f"text of d{i:03}") for i in range(60)]
    config = asking(index)
    with opened(
        f"blended:{in_chroma}", encoder=index.encoder, config=config, documents=documents
    ) as source:
        run = source.search(QUERIES, 5)
    for query in QUERIES:
        expected = {f"/{document}": score for document, score in defined(index, query).items()}
        same_ranking(run[query.id], expected)


def test_answers_are_kept_apart_from_those_of_the_store_itself(in_chroma, index, tmp_path):
    own = {}
    for name in (in_chroma, f"blended:{in_chroma}", f"blended:{in_chroma}"):
        with opened(name, encoder=index.encoder, kept_in=tmp_path / "answers.sqlite") as source:
            answers = source.ask(QUERIES, 3)
        own[name] = (answers.run, answers.kept)
    assert own[f"blended:{in_chroma}"][1] == len(QUERIES)
    assert own[in_chroma][0] != own[f"blended:{in_chroma}"][0]


def test_too_few_records_are_told(in_chroma, index, monkeypatch):
    monkeypatch.setitem(open_records.__kwdefaults__, "most", 4)
    with opened(f"blended:{in_chroma}", encoder=index.encoder) as source:
        answers = source.ask([Query("q", "river bridge flood")], 10)
    assert "gave too few records to be certain" in answers.warning


def test_another_encoder_is_told(tmp_path, index):
    records = [(i, v, {**f, "argus_encoder": "unit words"}) for i, v, f in numbered(index)]
    store = LOCAL["chroma"](tmp_path / "store", records)

    class Foreign(UnitWords):
        fingerprint = "foreign"

    with pytest.raises(FingerprintMismatch), opened(f"blended:{store}", encoder=Foreign()):
        pass


@pytest.mark.parametrize("name", ["blended:nothing", "blended:", "blended:http:file.yaml"])
def test_what_is_no_store_is_told(name):
    with pytest.raises(InputError, match="names no store"), opened(name):
        pass


def test_a_collection_without_a_blend_and_a_filter_of_ours_are_told(tmp_path, in_chroma, index):
    plain = [(i, v, {"text": "x"}) for i, v, _ in numbered(index)]
    store = LOCAL["chroma"](tmp_path / "plain", plain)
    with (
        pytest.raises(InputError, match="no record of a blend"),
        opened(f"blended:{store}", encoder=index.encoder),
    ):
        pass
    config = AskingConfig(where=("argus_kind=document",))
    with (
        pytest.raises(InputError, match="a filter of argus_kind"),
        opened(f"blended:{in_chroma}", encoder=index.encoder, config=config),
    ):
        pass
    with pytest.raises(InputError, match="no encoder"), opened(f"blended:{in_chroma}"):
        pass


def test_its_path_is_the_stores(in_chroma, tmp_path):
    assert asks_store(f"blended:{in_chroma}") and not asks_store("search.py:find")
    assert input_path(f"blended:{in_chroma}") == tmp_path / "store"
