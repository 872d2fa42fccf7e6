"""A blend in a store, as `BlendedRetriever` and by its name: the index's own exact ranking."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora import StoreCorpus
from argus.data.types import Document, Query
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.remedies.blend import blend_index
from argus.remedies.store_blend import blend_store
from argus.retrievers.blend_records import Bound, Numbers, open_records
from argus.retrievers.blended import BlendedRetriever
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import opened
from argus.stores.protocol import Records
from tests.support.blended import (
    REMEDY,
    UnitWords,
    blended_index,
    defined,
    numbered,
    payload,
    queries,
    same_ranking,
    texts,
)
from tests.support.blended_stores import LOCAL, in_memory, pgvector
from tests.support.draws import examples
from tests.support.stored_corpora import FILLS, opening

QUERIES = queries()


@pytest.fixture(params=[*LOCAL, "pgvector"])
def store(request, tmp_path, index):
    """Each kind of store, with the records of the index's blend."""
    if request.param == "pgvector":
        return pgvector(request.getfixturevalue("postgres"), numbered(index))
    return LOCAL[request.param](tmp_path / "store", numbered(index))


@pytest.fixture
def in_qdrant(index):
    return in_memory(numbered(index))


def test_a_store_ranks_as_the_index_does(store, index):
    with BlendedRetriever(store, IndexRetriever(index.index, index.encoder, hybrid="dense")) as own:
        for query in QUERIES:
            same_ranking(own.search([query], 10)[query.id], defined(index, query))
    with BlendedRetriever(store, index) as fused:
        assert fused.name.startswith("min-max(blend-1 in ")
        run = fused.search(QUERIES, 10)
    for query, expected in index.search(QUERIES, 60).items():
        same_ranking(run[query], expected, near=1e-4)


@given(
    st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.sampled_from([0.0, 0.15, 1.0]),
    st.integers(1, 60),
)  # fmt: skip
@settings(max_examples=examples(12), deadline=None)
def test_records_are_the_blend_whatever_its_weights(tmp_path_factory, seed, weight, hubs, k):
    folder = tmp_path_factory.mktemp("weights")
    blend = Blend(weight=weight, hubs=hubs, bm25=0)
    retriever = blended_index(folder / "index", 40, blend, seed=seed)
    with BlendedRetriever(in_memory(numbered(retriever)), retriever) as own:
        for query in queries(3, seed):
            same_ranking(own.search([query], k)[query.id], defined(retriever, query))


def test_a_few_records_are_asked_for_until_it_is_certain(in_qdrant, index):
    limits = []
    search = in_qdrant.search
    in_qdrant.search = lambda *a, **o: limits.append(a[1]) or search(*a, **o)
    own = BlendedRetriever(in_qdrant, encoder=index.encoder, correction=index.recipe.correction)
    limits.clear()
    for query in QUERIES:
        same_ranking(own.search([query], 3)[query.id], defined(index, query))
    assert min(limits) == 10 and max(limits) <= len(numbered(index))
    assert any(limit > 10 for limit in limits)


def test_what_cannot_be_certain_is_told_once(in_qdrant, index):
    own = BlendedRetriever(in_qdrant, encoder=index.encoder, most=12)
    with pytest.warns(UserWarning, match="after 12 records") as told:
        own.search(QUERIES, 10)
        own.search(QUERIES, 10)
    assert len(told) == 1
    own.close()
    with (
        warnings.catch_warnings(action="error"),
        BlendedRetriever(in_qdrant, encoder=index.encoder, most=12, exact=False) as quick,
    ):
        assert all(len(scores) <= 10 for scores in quick.search(QUERIES, 10).values())


def test_a_filter_holds_in_vectors_and_words(store, index):
    tenants = {f"d{i:03}" for i in range(60) if i % 3 == 1}
    with BlendedRetriever(store, index, where={"tenant": "1"}, k=30) as own:
        run = own.search(QUERIES, 30)
        assert all(set(scores) == tenants for scores in run.values())
        for page in own.invoke(QUERIES[0].text):
            assert page.metadata["tenant"] == 1 and page.id in tenants
        few = own.search(QUERIES, 3)
    plain = IndexRetriever(index.index, index.encoder, hybrid="dense")
    with BlendedRetriever(store, plain, where={"tenant": 1}) as own:
        for query in QUERIES:
            shown = {d: s for d, s in defined(index, query).items() if d in tenants}
            same_ranking(own.search([query], 5)[query.id], shown)
    assert all(set(few[q]) <= set(run[q]) for q in run)


def test_a_text_may_stand_in_any_field(index):
    there = [(i, v, {"says": f["text"], "id": 7, "score": 9} | {n: f[n] for n in f if n != "text"})
             for i, v, f in numbered(index)]  # fmt: skip
    with BlendedRetriever(in_memory(there), encoder=index.encoder) as own:
        with pytest.warns(UserWarning, match="text_field=") as told:
            assert not own.invoke(QUERIES[0].text)[0].page_content
            own.invoke(QUERIES[1].text)
        assert len([w for w in told if "text_field" in str(w.message)]) == 1
    with BlendedRetriever(in_memory(there), encoder=index.encoder, text_field="says") as own:
        page = own.invoke(QUERIES[0].text)[0]
    assert page.page_content == f"text of {page.id}" and "says" not in page.metadata
    assert (page.metadata["id"], page.metadata["score"]) == (7, 9)


def test_records_of_another_remedy_count_for_nothing(index):
    other = [(i, np.roll(v, 1), f) for i, v, f in numbered(index, "blend-2")]
    name = in_memory([*numbered(index), *other])
    with pytest.raises(InputError, match="one of blend-1, blend-2"):
        BlendedRetriever(name, encoder=index.encoder)
    with BlendedRetriever(name, IndexRetriever(index.index, index.encoder), remedy=REMEDY) as own:
        run = own.search(QUERIES, 10)
    for query, expected in index.search(QUERIES, 60).items():
        same_ranking(run[query], expected, near=1e-4)
    with pytest.raises(InputError, match="no record of blend-3"):
        BlendedRetriever(name, encoder=index.encoder, remedy="blend-3")


def test_what_was_written_or_removed_since_is_seen(in_qdrant, index):
    own = BlendedRetriever(in_qdrant, encoder=index.encoder)
    query = QUERIES[0]
    vector = index.encoder.encode_queries([query.text])
    fields = numbered(index)[0][2] | {"argus_parent": "new", "argus_scale": 1.0,
                                      "argus_penalty": -1.0}  # fmt: skip
    ids = ["00000000-0000-0000-0000-000000000001"]
    in_qdrant.upsert(Records(ids, vector, [fields]))
    assert next(iter(own.search([query], 3)["q0"])) == "new"
    in_qdrant.delete(ids)
    assert "new" not in own.search([query], 3)["q0"]


def test_opening_and_new_records_read_little(in_qdrant, index):
    pages, read = [], []
    iterate, payloads = in_qdrant.iterate, in_qdrant.payloads
    in_qdrant.iterate = lambda *a: (pages.append(1) or page for page in iterate(20))
    in_qdrant.payloads = lambda *a: read.append(1) or payloads(*a)
    own = BlendedRetriever(in_qdrant, encoder=index.encoder)
    assert len(pages) == len(read) == 1  # vectors of one page only
    query = QUERIES[0]
    before = own.search([query], 3)[query.id]
    row = own._ranking.records.numbers.row
    missing = {row.pop(id_) for id_ in list(row)[:50]}
    own._ranking.records.refresh = lambda: read.append(1)  # they stay unknown
    for _ in range(3):
        assert own.search([query], 3)[query.id]
    assert len(read) == 2 and missing and before


@given(st.integers(0, 10**6), st.floats(-1, 1), st.integers(0, 30))
@settings(max_examples=examples(60), deadline=None)
def test_the_bound_is_above_all_that_was_not_seen(seed, cosine, n):
    rng = np.random.default_rng(seed)
    scale, penalty, shown = rng.random(30), rng.normal(size=30), rng.random(30) < 0.7
    bound = Bound(Numbers(scale=scale, penalty=penalty), shown)
    seen = rng.choice(30, n, replace=False).tolist()
    others = shown & ~np.isin(np.arange(30), seen)
    if not others.any():
        assert bound.beyond(cosine, frozenset(seen)) == -np.inf
        return
    assert bound.beyond(cosine, frozenset(seen)) >= (cosine * scale - penalty)[others].max()


def test_ids_of_the_index_may_stand_in_a_field(index):
    there = [(i, v, f | {"argus_parent": f"row {i}", "doc": f["argus_parent"]})
             for i, v, f in numbered(index)]  # fmt: skip
    with BlendedRetriever(in_memory(there), index, id_field="doc") as own:
        run = own.search(QUERIES, 10)
    for query, expected in index.search(QUERIES, 60).items():
        same_ranking(run[query], expected, near=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"argus_scale": "much"}, "argus_scale"), ({"argus_penalty": None}, "argus_penalty"),
     ({"argus_parent": None}, "argus_parent")],
)  # fmt: skip
def test_a_broken_record_is_named(index, change, message):
    (id_, vector, fields), *others = numbered(index)
    name = in_memory([(id_, vector, fields | change), *others])
    with pytest.raises(InputError, match=message) as error:
        BlendedRetriever(name, encoder=index.encoder)
    assert "qdrant:" in str(error.value.where) and id_ in str(error.value)


def test_other_bad_input_is_refused(in_qdrant, index):
    plain = [(i, v, {"text": "t"}) for i, v, _ in numbered(index)]
    with pytest.raises(InputError, match="no record of a blend"):
        BlendedRetriever(in_memory(plain), encoder=index.encoder)
    long = [(i, 3 * v, f) for i, v, f in numbered(index)]
    with pytest.raises(InputError, match="does not score by cosine"):
        BlendedRetriever(in_memory(long, "Dot"), encoder=index.encoder)
    with pytest.raises(InputError, match="neither an index nor an encoder"):
        BlendedRetriever(in_qdrant)
    with pytest.raises(InputError, match="argus_kind") as error:
        BlendedRetriever(in_qdrant, index, where={"argus_kind": "document"})
    assert error.value.where == "where"
    with pytest.raises(InputError, match="tenants"):
        BlendedRetriever(in_qdrant, index, where={"tenants": "1"})

    class Wider(UnitWords):
        dim = 25

    with pytest.raises(InputError, match="25"):
        BlendedRetriever(in_qdrant, encoder=Wider())

    class Other(UnitWords):
        fingerprint = "others"

    with pytest.raises(FingerprintMismatch):
        BlendedRetriever(in_qdrant, encoder=Other(), correction=index.recipe.correction)
    with pytest.raises(InputError):
        BlendedRetriever(in_qdrant, index, k=0)
    with BlendedRetriever(in_qdrant, index) as own, pytest.raises(InputError, match="twice"):
        own.search([QUERIES[0], QUERIES[0]], 3)


@pytest.fixture
def in_chroma(tmp_path, index):
    return LOCAL["chroma"](tmp_path / "store", numbered(index))


def test_a_blend_in_a_store_is_asked_by_its_name(in_chroma, index, tmp_path):
    """Also of documents that are called otherwise; answers are cached apart from the store's."""
    name = f"blended:{in_chroma}"
    config, cache = AskingConfig(correction=index.index.path), tmp_path / "answers.sqlite"
    others = [Document(f"/d{i:03}", f"text of d{i:03}") for i in range(60)]
    for prefix, documents in (("", ()), ("/", others)):
        with opened(
            name, encoder=index.encoder, config=config, cache=cache, documents=documents
        ) as source:
            assert source.name.startswith("blended:") and source.fingerprint == "unit words"
            answers = source.ask(QUERIES, 10)
        assert not answers.failed and not answers.kept
        for query in QUERIES:
            expected = {f"{prefix}{id_}": s for id_, s in defined(index, query).items()}
            same_ranking(answers.run[query.id], expected)
    with opened(in_chroma, encoder=index.encoder, config=config, cache=cache) as source:
        assert not source.ask(QUERIES, 10).kept
    assert input_path(name) == tmp_path / "store"
    config = AskingConfig(where=("tenant=1",))
    with opened(name, encoder=index.encoder, config=config) as source:
        run = source.search(QUERIES, 5)
    assert all(payload(document)["tenant"] == 1 for hits in run.values() for document in hits)


def test_too_few_records_are_a_warning(in_chroma, index, monkeypatch):
    monkeypatch.setitem(open_records.__kwdefaults__, "most", 4)
    with opened(f"blended:{in_chroma}", encoder=index.encoder) as source:
        answers = source.ask([Query("q", "river bridge flood")], 10)
    assert "gave too few records to be certain" in answers.warning


@pytest.mark.parametrize(
    ("name", "where", "problem"),
    [
        ("blended:nothing", (), "names no store"),
        ("blended:", (), "names no store"),
        ("blended:http:file.yaml", (), "names no store"),
        ("blended:{store}", ("argus_kind=document",), "a filter of argus_kind"),
    ],
)
def test_a_name_or_filter_of_no_blend_is_refused(name, where, problem, in_chroma, index):
    config = AskingConfig(where=where)
    with (
        pytest.raises(InputError, match=problem),
        opened(name.format(store=in_chroma), encoder=index.encoder, config=config),
    ):
        pass


def test_a_written_blend_is_served_with_its_index_or_without(tmp_path):
    encoder, text = UnitWords(), {i: ". ".join(parts) + "." for i, parts in texts(40).items()}
    documents = [Document(*pair) for pair in text.items()]
    vectors = encoder.encode_documents([document.content for document in documents])
    spec = FILLS["chroma"](tmp_path / "store", documents, vectors)
    build_index(StoreCorpus(spec, opening(spec)), out=tmp_path / "index", encoder=encoder)
    blend_index(tmp_path / "index", encoder=encoder)
    retriever, written = open_retriever(tmp_path / "index", encoder), []
    for blend in (Blend(), Blend(weight=0.5)):
        if written:  # with one blend only
            with BlendedRetriever(f"{spec}_argus", retriever) as own:
                assert written[0] in own.name and written[0] != retriever.recipe.remedies[0]
                (query, *_) = QUERIES
                hits = [one.search([query], 5)[query.id] for one in (own, retriever)]
                assert list(hits[0]) == list(hits[1])
            with BlendedRetriever(f"{spec}_argus", encoder=encoder) as own:
                for page in own.invoke(query.text):
                    assert page.page_content == text[page.id] and page.metadata["key"] == page.id
                    assert "document" not in page.metadata

            class Other(UnitWords):
                fingerprint = "other words"

            with pytest.raises(FingerprintMismatch):
                BlendedRetriever(f"{spec}_argus", encoder=Other())
        options = {"encoder": encoder, "opening": opening(spec), "blend": blend}
        written.append(blend_store(spec, out=tmp_path / "out", **options).remedy)
    with pytest.raises(InputError, match="records of 2 remedies"):
        BlendedRetriever(f"{spec}_argus", retriever)
