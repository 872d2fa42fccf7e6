"""A blend in a store, as `BlendedRetriever` and by its name: the index's own exact ranking."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora import StoreCorpus
from argus.data.types import Document
from argus.errors import EncoderMismatch, InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.remedies.blend import blend_index
from argus.remedies.store_blend import blend_store
from argus.retrievers.blended import BlendedRetriever
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened
from tests.support.blended import (
    UnitWords,
    blended_index,
    defined,
    numbered,
    queries,
    same_ranking,
    texts,
)
from tests.support.blended_stores import LOCAL, in_memory, pgvector
from tests.support.draws import examples
from tests.support.stored_corpora import FILLS, opening
from tests.support.word_encoder import WordEncoder

QUERIES = queries()


@pytest.fixture(params=[*LOCAL, "pgvector"])
def store(request, tmp_path, index):
    """Each kind of store, with the records of the index's blend."""
    if request.param == "pgvector":
        return pgvector(request.getfixturevalue("postgres"), numbered(index))
    return LOCAL[request.param](tmp_path / "store", numbered(index))


@pytest.mark.slow
def test_a_store_ranks_as_the_index_does(store, index):
    with BlendedRetriever(store, IndexRetriever(index.index, index.encoder, hybrid="dense")) as own:
        for query in QUERIES:
            same_ranking(own.search([query], 10)[query.id], defined(index, query))
    with BlendedRetriever(store, index) as fused:
        assert fused.name.startswith("min-max(blend-1 in ")
        run = fused.search(QUERIES, 10)
    for query, expected in index.search(QUERIES, 60).items():
        same_ranking(run[query], expected, near=1e-4)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.integers(1, 60))
@settings(max_examples=examples(12), deadline=None)
def test_records_are_the_blend_whatever_its_weight(tmp_path_factory, seed, weight, k):
    folder = tmp_path_factory.mktemp("weights")
    blend = Blend(weight=weight, bm25=0)
    retriever = blended_index(folder / "index", 40, blend, seed=seed)
    with BlendedRetriever(in_memory(numbered(retriever)), retriever) as own:
        for query in queries(3, seed):
            same_ranking(own.search([query], k)[query.id], defined(retriever, query))


def test_a_filter_holds_in_vectors_and_words(store, index):
    tenants = {f"d{i:03}" for i in range(60) if i % 3 == 1}
    with BlendedRetriever(store, index, where={"tenant": "1"}, k=30) as own:
        run = own.search(QUERIES, 30)
        assert all(set(scores) == tenants for scores in run.values())
        for page in own.invoke(QUERIES[0].text):
            assert page.metadata["tenant"] == 1 and page.id in tenants
    plain = IndexRetriever(index.index, index.encoder, hybrid="dense")
    with BlendedRetriever(store, plain, where={"tenant": 1}) as own:
        for query in QUERIES:
            shown = {d: s for d, s in defined(index, query).items() if d in tenants}
            same_ranking(own.search([query], 5)[query.id], shown)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"argus_scale": "much"}, "argus_scale"), ({"argus_parent": None}, "argus_parent")],
)
def test_a_broken_record_is_named(index, change, message):
    (id_, vector, fields), *others = numbered(index)
    name = in_memory([(id_, vector, fields | change), *others])
    with pytest.raises(InputError, match=message) as error:
        BlendedRetriever(name, encoder=index.encoder)
    assert "qdrant:" in str(error.value.where) and id_ in str(error.value)


@pytest.mark.parametrize(
    ("name", "where", "problem"),
    [
        ("blended:nothing", (), "names no store"),
        ("blended:http:file.yaml", (), "names no store"),
        ("blended:{store}", ("argus_kind=document",), "a filter of argus_kind"),
    ],
)
def test_a_name_or_filter_of_no_blend_is_refused(name, where, problem, tmp_path, index):
    name = name.format(store=LOCAL["chroma"](tmp_path / "store", numbered(index)))
    config, refused = AskingConfig(where=where), pytest.raises(InputError, match=problem)
    with refused, opened(name, encoder=index.encoder, config=config):
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

            with pytest.raises(EncoderMismatch):
                BlendedRetriever(f"{spec}_argus", encoder=WordEncoder())
        options = {"encoder": encoder, "opening": opening(spec), "blend": blend}
        written.append(blend_store(spec, out=tmp_path / "out", **options).remedy)
    with pytest.raises(InputError, match="records of 2 remedies"):
        BlendedRetriever(f"{spec}_argus", retriever)
