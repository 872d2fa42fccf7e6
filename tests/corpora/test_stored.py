"""Records of real stores as documents, with their vectors; and stores that cannot be one."""

import numpy as np
import pytest

from argus.corpora import StoreCorpus
from argus.corpora.opening import open_corpus, read_corpus
from argus.corpora.stored import COMPARED
from argus.data.fields import FieldNames
from argus.data.types import Document
from argus.errors import InputError
from tests.corpora.conftest import TEMPLATE, N
from tests.support.stored_corpora import FILLS, ListStore, opening

KEYED = FieldNames(id="key")


@pytest.fixture(scope="module", params=list(FILLS))
def spec(request, tmp_path_factory, wiki2, vectors):
    """The name of each store in turn."""
    if request.param == "pgvector":
        place = request.getfixturevalue("postgres")
    else:
        place = tmp_path_factory.mktemp(request.param) / "store"
    return FILLS[request.param](place, wiki2, vectors)


def opened(corpus, encoder, limit=None):
    return open_corpus(corpus, limit=limit, asking=lambda: encoder)


def listed(documents, vectors):
    payloads = [{"text": d.text, "title": d.title} for d in documents]
    return StoreCorpus(ListStore([d.id for d in documents], vectors, payloads))


def test_records_are_documents_with_their_own_vectors(spec, wiki2, vectors, encoder):
    source = opened(StoreCorpus(spec, opening(spec)), encoder)
    documents = source.documents(KEYED)
    by_id = {d.id: (d, v) for d, v in zip(documents, source.stored.vectors, strict=True)}
    assert set(by_id) == {d.id for d in wiki2}
    for document, vector in zip(wiki2, vectors, strict=True):
        read, stored = by_id[document.id]
        assert (read.title, read.text) == (document.title, document.text)
        assert read.template == TEMPLATE
        np.testing.assert_allclose(stored, vector, atol=1e-5)
    assert len({d.content for d in documents} & set(encoder.asked)) <= COMPARED
    facts = source.stored.facts
    assert (facts["template"], facts["read"], facts["broken"]) == (TEMPLATE, N, {})
    assert facts["least"] > 0.999 and facts["compared"] == 32
    about = source.origin.describe()
    assert (about["file"], about["records"]) == (str(StoreCorpus(spec)), N)


def test_a_hash_does_not_depend_on_the_order(wiki2, vectors):
    def digest(documents, vectors):
        source = open_corpus(listed(documents, vectors))
        source.documents(FieldNames())
        return source.origin.describe()["sha256"]

    own = digest(wiki2, vectors)
    assert digest(wiki2[::-1], vectors[::-1]) == own
    assert digest([*wiki2[:-1], Document("u", "words")], vectors) != own
    other = vectors.copy()
    other[-1, 0] += 1e-3
    assert digest(wiki2, other) != own


def test_an_encoder_of_other_vectors_is_refused(wiki2, vectors, encoder):
    stale = vectors.copy()
    stale[0] = vectors[1]
    for wrong, words in [
        (vectors[::-1], "median"),
        (vectors[:, :100], "mine:docs holds 100"),
        (stale, repr(wiki2[0].id)),
    ]:
        with pytest.raises(InputError) as error:
            opened(listed(wiki2, wrong), encoder).documents(FieldNames())
        assert words in error.value.got and "mine:docs" in str(error.value)
        if words == "median":
            assert all(o in error.value.fix for o in ("--encoder", "--template", "prompt"))


def test_broken_vectors_and_ids_that_repeat_are_named(wiki2, vectors, encoder):
    wrong = vectors.copy()
    wrong[3], wrong[5] = np.nan, 0
    source = opened(listed(wiki2, wrong), encoder)
    source.documents(FieldNames())
    assert source.stored.broken == {3: "a value that is no number", 5: "all zeros"}
    twice = listed([*wiki2, wiki2[0]], np.concatenate([vectors, vectors[:1]]))
    with pytest.raises(InputError, match="two of them have the id"):
        read_corpus(twice)


def test_no_password_is_shown():
    corpus = StoreCorpus("pgvector:postgresql://me:hidden@host/db/docs")
    assert "hidden" not in repr(corpus) + str(corpus) + str(open_corpus(corpus).origin)
