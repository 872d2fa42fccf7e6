"""Explain an exact search by an encoder: with sparse and late ones, the matching terms."""

import json

import numpy as np
import pytest

from argus.encoders import EncoderConfig, load_any_encoder
from argus.explanation.config import RunConfig
from argus.explanation.run import explain_corpus
from argus.indexes.exact import scoring_of
from tests.support.sentence_models import make_late, make_model, make_sparse

ROWS = {
    "river": "a river bank", "bread": "bread and butter", "port": "a port by the river",
    "sea": "the sea", "tea": "tea is a drink", "void": " ",
    "long": "bread is baked by the old harbour each day, and then the ships carry rivers away",
}  # fmt: skip


QUERY = "which river is it?"


MAKE = {
    "sparse": make_sparse,
    "tokens": make_late,
    "dot": lambda folder: make_model(folder, normalize=False, similarity="dot"),
    "cosine": make_model,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    file = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    lines = [json.dumps({"_id": id_, "text": text}) for id_, text in ROWS.items()]
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    folders = {name: make(home / name) for name, make in MAKE.items()}
    configs = {name: EncoderConfig(model=str(path), precision="float32", device="cpu")
               for name, path in folders.items()}  # fmt: skip
    return {name: load_any_encoder(config) for name, config in configs.items()}


def scores(encoder):
    """Scores of all documents with text, best first."""
    ids = sorted(id_ for id_, text in ROWS.items() if text.strip())
    documents = encoder.encode_documents([ROWS[id_] for id_ in ids])
    query = encoder.encode_queries([QUERY])
    exact = scoring_of(documents).against(query, np.arange(len(ids))).tolist()
    return dict(sorted(zip(ids, exact, strict=True), key=lambda pair: -pair[1]))


@pytest.mark.parametrize("name", MAKE)
def test_the_place_is_that_of_an_exact_search(name, encoders, corpus):
    ranked = scores(encoders[name])
    for rank, (doc, score) in enumerate(ranked.items(), start=1):
        found = explain_corpus(QUERY, doc, encoders[name], RunConfig(k=2, corpus=corpus))
        assert (found.standing.rank, found.came_back) == (rank, rank <= 2)
        assert found.standing.run.score == pytest.approx(score, rel=1e-5)
        assert found.standing.run.of == len(ranked)
        assert found.run == encoders[name].fingerprint
