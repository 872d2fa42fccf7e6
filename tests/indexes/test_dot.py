"""An index of an encoder that ranks by dot product: vectors are kept, and searched, as they are."""

import numpy as np
import pytest

from argus.data import Document, Query
from argus.encoders import EncoderConfig, load_encoder
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from tests.support.sentence_models import make_model

WORDS = ["river", "bread", "harbour", "violin", "comet", "glacier", "sea"]
DOCUMENTS = [
    Document(f"d{i}{j}", f"{a} {b} " * (1 + (i * j) % 3), f"{a} {b}")
    for i, a in enumerate(WORDS)
    for j, b in enumerate(WORDS)
]
QUERIES = [Query(word, f"where is the {word}?") for word in WORDS]


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "dot"
    make_model(folder, normalize=False, similarity="dot", prompts={"passage": "passage: "})
    return EncoderConfig(model=str(folder), precision="float32", device="cpu")


@pytest.fixture(scope="module")
def index(config, tmp_path_factory):
    return build_index(DOCUMENTS, out=tmp_path_factory.mktemp("index"), encoder=config).index


def test_a_search_ranks_by_dot_product(config, index):
    encoder = load_encoder(config)
    vectors = encoder.encode_documents([d.content for d in DOCUMENTS]).astype(float)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.ptp(lengths) > 0.05  # or cosine would do
    kept = np.linalg.norm(index.snapshot().vectors, axis=1)
    np.testing.assert_allclose(kept, lengths, rtol=1e-5)  # documents are in the order of ids
    run = open_retriever(index.path).search(QUERIES, len(DOCUMENTS))
    for query in QUERIES:
        scores = vectors @ encoder.encode_queries([query.text])[0].astype(float)
        for document, score in zip(DOCUMENTS, scores, strict=True):
            assert run[query.id][document.id] == pytest.approx(score, rel=1e-5)


def test_vectors_of_ones_own_have_length_one_and_are_refused(config, tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((len(DOCUMENTS), 32), np.float32))
    own = tmp_path / "vectors.npy"
    with pytest.raises(InputError) as error:
        build_index(DOCUMENTS, out=tmp_path / "index", encoder=config, vectors=own)
    assert error.value.where == "--vectors"
