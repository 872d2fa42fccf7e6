"""Jobs over a store: the vectors that it holds, measured in place."""

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

BRIEF = ExposureConfig(sentences=1)


@pytest.fixture(scope="module")
def spec(tmp_path_factory, wiki2, vectors):
    """A store of SQLite: the quickest to open."""
    return FILLS["sqlite-vec"](tmp_path_factory.mktemp("stores") / "sqlite", wiki2, vectors)


def test_exposure_is_that_of_a_file_and_no_stored_vector_goes_to_the_disk(
    spec, tmp_path, wiki2, encoder
):
    result = exposure(
        spec, out=tmp_path, encoder=encoder, config=BRIEF, fields=FieldNames(id="key")
    )
    own = dict(result.summary)
    facts = own.pop("stored_vectors")
    probes = own["title"]["probes"] + 2 * own["sentence"]["probes"]
    assert len(np.fromfile(tmp_path / "embeddings/keys.bin", "V16")) <= probes
    assert len({f"{d.title}: {d.text}" for d in wiki2} & set(encoder.asked)) <= 32
    assert (facts["template"], facts["records"]) == (TEMPLATE, N)
    assert facts["metric"] == "cosine" and facts["least"] > 0.999
    manifest = json.loads((tmp_path / "manifest.json").read_text())["exposure"]
    assert manifest["inputs"]["corpus"]["records"] == N
    assert manifest["encoder"]["stored"] == facts
    of_file = exposure(
        wiki2, out=tmp_path / "file", encoder=encoder, config=BRIEF,
        fields=FieldNames(template=TEMPLATE), store=tmp_path / "embeddings",
    )  # fmt: skip
    assert own == {**of_file.summary} and result.table.equals(of_file.table)


def test_an_index_of_a_store_is_searched(spec, tmp_path, wiki2, vectors, encoder):
    built = build_index(spec, out=tmp_path / "index", encoder=encoder)
    assert built.index.fingerprint == encoder.fingerprint
    snapshot = built.index.snapshot()
    rows = [snapshot.doc_ids.index(d.id) for d in wiki2]
    np.testing.assert_allclose(snapshot.vectors[rows], vectors, atol=1e-6)
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
