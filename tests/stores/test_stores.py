"""What every store does in place: described, read, searched, written; on the real thing."""

from itertools import pairwise

import numpy as np
import pytest

from argus.errors import InputError
from argus.stores.protocol import Records
from argus.stores.spec import StoreConfig, open_store, parse_store
from tests.support.stores import DIM, N


@pytest.fixture(scope="module")
def store(filled):
    with open_store(filled.spec, StoreConfig(**filled.options)) as opened:
        yield opened


def test_every_record_is_read_once_with_its_vector(store, filled):
    pages = list(store.iterate(25))
    ids = [id_ for page in pages for id_ in page.ids]
    assert sorted(ids) == sorted(filled.ids) and max(len(page.ids) for page in pages) <= 25
    read = dict(zip(ids, np.concatenate([page.vectors for page in pages]), strict=True))
    expected = dict(zip(filled.ids, filled.vectors, strict=True))
    for id_, vector in read.items():
        np.testing.assert_allclose(vector, expected[id_], atol=1e-6)
    assert not any(page.broken for page in pages)


def test_a_search_agrees_with_a_plain_one(store, filled):
    answers = store.search(filled.vectors[:8], 5)
    best = np.argsort(-(filled.vectors[:8] @ filled.vectors.T), axis=1)[:, :5]
    assert [[id_ for id_, _ in hits] for hits in answers] == [
        [filled.ids[row] for row in rows] for rows in best
    ]
    assert all(a >= b for hits in answers for (_, a), (_, b) in pairwise(hits))
    if store.can_search_exactly:
        assert store.search(filled.vectors[:8], 5, exact=True) == answers


def test_a_filter_hides_the_rest(store, filled):
    if filled.spec.startswith("faiss"):
        with pytest.raises(InputError, match="holds no fields"):
            store.search(filled.vectors[:1], 5, matching={"tenant": 1})
        return
    (hits,) = store.search(filled.vectors[:1], N, matching={"tenant": 1})
    assert {id_ for id_, _ in hits} == {id_ for i, id_ in enumerate(filled.ids) if i % 3 == 1}


def test_records_are_written_and_removed(store, filled):
    new = "999" if filled.ids[0].isdecimal() else "0999"  # a text that looks like a number
    vector = np.eye(DIM, dtype=np.float32)[:1]
    text = "document" if filled.spec.startswith("chroma") else "text"
    payloads = [{text: "new text", "tenant": 7}]
    store.upsert(Records([new], vector, payloads))
    assert store.describe().records == N + 1
    assert store.search(vector, 1)[0][0][0] == new
    store.upsert(Records([new], -vector, payloads))  # in its place
    assert store.describe().records == N + 1
    assert store.search(-vector, 1)[0][0][0] == new
    store.delete([new])
    assert store.describe().records == N
    assert new not in {id_ for page in store.iterate(50) for id_ in page.ids}


def test_what_is_not_there_is_told(filled):
    is_file = filled.spec.startswith("faiss")
    wrong = filled.spec + "x" if is_file else filled.spec.removesuffix("docs") + "dosc"
    problem = r"no such file|no collection 'dosc'; expected one of .*docs"
    config = StoreConfig(**filled.options)
    with pytest.raises(InputError, match=problem), open_store(wrong, config):
        pass


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("qdrant", "names no store"),
        ("redis:here/docs", "names no store"),
        ("qdrant:docs", "names no collection"),
        ("qdrant:http://127.0.0.1:6333/", "names no collection"),
        ("pgvector:postgresql://me:secret@host/", "names no collection"),
    ],
)
def test_a_name_that_is_none_is_told_without_its_password(text, problem):
    with pytest.raises(InputError, match=problem) as error:
        parse_store(text)
    assert "secret" not in str(error.value)
