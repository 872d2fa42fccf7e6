"""Jobs over a store: the vectors that it holds, measured in place."""

from __future__ import annotations

import json

import numpy as np
import pytest

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.errors import InputError
from argus.explanation.stored import find_in_corpus
from argus.indexes.job import build_index
from argus.indexes.retriever import search_index
from argus.jobs.workspace import keep_input
from argus.retrievability.config import ExposureConfig
from argus.retrievability.exposure import exposure
from tests.corpora.conftest import TEMPLATE, N
from tests.support.stored_corpora import FILLS

KEYED = FieldNames(id="key")
BRIEF = ExposureConfig(sentences=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(scope="module")
def spec(place, wiki2, vectors):
    """A store of SQLite: the quickest to open."""
    return FILLS["sqlite-vec"](place / "sqlite", wiki2, vectors)


@pytest.fixture(scope="module")
def embedded(place):
    """Where queries and other texts are embedded once for all."""
    return place / "embedded"


def test_exposure_is_that_of_a_file_with_the_same_vectors(spec, tmp_path, wiki2, encoder, embedded):
    fields = FieldNames(template=TEMPLATE)
    of_file = exposure(
        wiki2, out=tmp_path / "file", encoder=encoder, config=BRIEF, fields=fields, store=embedded
    )
    result = exposure(
        spec, out=tmp_path / "out", encoder=encoder, config=BRIEF, fields=KEYED, store=embedded
    )
    own = dict(result.summary)
    facts = own.pop("stored_vectors")
    assert own == {**of_file.summary}
    assert result.table.equals(of_file.table)
    assert (facts["template"], facts["records"]) == (TEMPLATE, N)
    assert facts["metric"] == "cosine" and facts["least"] > 0.999
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())["exposure"]
    assert manifest["inputs"]["corpus"]["records"] == N
    assert manifest["encoder"]["stored"] == facts


def test_no_stored_vector_goes_to_the_disk(spec, tmp_path, encoder, wiki2):
    result = exposure(spec, out=tmp_path, encoder=encoder, config=BRIEF)
    probes = result.summary["title"]["probes"] + 2 * result.summary["sentence"]["probes"]
    assert len(np.fromfile(tmp_path / "embeddings/keys.bin", "V16")) <= probes
    compared = {f"{d.title}: {d.text}" for d in wiki2} & set(encoder.asked)
    assert len(compared) <= 32


def test_an_index_of_a_store_is_searched(spec, tmp_path, wiki2, vectors, encoder):
    built = build_index(spec, out=tmp_path / "index", encoder=encoder)
    assert built.index.fingerprint == encoder.fingerprint
    order = np.argsort([d.id for d in wiki2])
    snapshot = built.index.snapshot()
    at = {id_: i for i, id_ in enumerate(snapshot.doc_ids)}
    rows = [at[wiki2[i].id] for i in order]
    np.testing.assert_allclose(snapshot.vectors[rows], vectors[order], atol=1e-6)
    answer = search_index(wiki2[7].title, tmp_path / "index", encoder=encoder)
    assert wiki2[7].id in [hit["id"] for hit in answer["results"]]
    again = build_index(spec, out=tmp_path / "index", encoder=encoder)
    assert again.summary["views"] == N
    document, place = find_in_corpus(wiki2[3].id, tmp_path / "index", None, FieldNames())
    assert (document.text, place) == (wiki2[3].text, spec)


def test_fresh_never_deletes_the_store(tmp_path, wiki2, vectors):
    spec = FILLS["sqlite-vec"](tmp_path / "store", wiki2[:40], vectors[:40])
    with pytest.raises(InputError) as error:
        keep_input(ArtifactFolder(tmp_path, fresh=True), [open_corpus(spec).origin])
    assert error.value.where == tmp_path
