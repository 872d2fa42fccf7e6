"""Jobs over a store: the vectors that it holds, measured in place."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from argus.corpora import StoreCorpus
from argus.corpora.opening import open_corpus, read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, filled
from argus.encoders.store import EmbeddingStore
from argus.errors import InputError
from argus.evaluation.compared_lists import compare_retrievers
from argus.explanation.stored import find_in_corpus
from argus.indexes.job import add_documents, build_index
from argus.indexes.retriever import search_index
from argus.jobs.workspace import keep_input
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.job import audit
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.job import exposure
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.fit import fit_probe
from argus.retrievability.probes.predict import predict_rps
from argus.scenarios.needs.job import audit_needs
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from tests.corpora.conftest import TEMPLATE, N
from tests.support.stored_corpora import FILLS, ListStore

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


def test_broken_records_fail_with_their_reason(tmp_path, wiki2, vectors, encoder, embedded):
    broken = vectors.copy()
    broken[4] = np.nan
    payloads = [{"text": d.text, "title": d.title} for d in wiki2]
    store = ListStore([d.id for d in wiki2], broken, payloads)
    result = exposure(
        StoreCorpus(store), out=tmp_path, encoder=encoder, config=BRIEF, store=embedded
    )
    counts = result.summary["documents"]
    assert (counts["total"], counts["failed"]) == (N, 1)
    assert counts["reasons"] == {"a value that is no number": 1}


def chained(file: Path, documents) -> KnowledgeSource:
    """Relations that lead from each document to the next."""
    ids = [d.id for d in documents]
    rows = [f"{one}\tnext\t{other}\n" for one, other in pairwise(ids)]
    file.write_text("subject\trelation\tobject\n" + "".join(rows))
    return KnowledgeSource(relations=file)


@pytest.fixture(scope="module")
def audited(spec, place, wiki2, remembering):
    return audit(
        spec, out=place / "audit", encoder=remembering, config=AuditConfig(k=(5,), pool=(20,)),
        source=chained(place / "edges.tsv", wiki2),
    )  # fmt: skip


def test_an_audit_scores_the_stored_vectors(audited, vectors, wiki2, remembering):
    assert audited.summary["pooling"] == "sentence"
    assert audited.summary["entities"]["measured"] == N
    table = audited.table.to_pydict()
    row = dict(zip(table["id"], table["vector"], strict=True))
    with EmbeddingStore(
        audited.folder / "embeddings", fingerprint=remembering.fingerprint, dim=384
    ) as store:
        kept = store.gather([bytes.fromhex(row[d.id]) for d in wiki2])
    np.testing.assert_allclose(kept, vectors, atol=1e-6)


class Words:
    """Texts as sums of random vectors of their words: quick, and no two texts alike."""

    fingerprint, dim, pools_spans = "words dim=32", 32, True

    def encode_documents(self, texts):
        rows = np.stack([sum(map(self._word, text.split())) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    encode_queries = encode_documents

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)

    @staticmethod
    @cache
    def _word(word):
        return np.random.default_rng(list(word.encode())).normal(size=32)


def test_a_probe_is_fitted_and_predicts_on_a_store(tmp_path, shared):
    documents = read_corpus(shared("wiki2"), limit=260)
    vectors = Words().encode_documents([filled(TEMPLATE, d.title, d.text) for d in documents])
    spec = FILLS["sqlite-vec"](tmp_path / "store", documents, vectors)
    source = chained(tmp_path / "edges.tsv", documents)
    measure = AuditConfig(k=(5,), pool=(50,))
    audit(spec, out=tmp_path / "audit", encoder=Words(), source=source, config=measure)
    fitted = fit_probe(tmp_path / "audit", config=ProbeConfig(families=("ridge",)))
    result = predict_rps(spec, out=tmp_path / "out", probe=fitted.folder, encoder=Words())
    assert result.summary["pooling"] == "sentence"
    counts = result.summary["entities"]
    assert (counts["total"], counts["failed"]) == (260, 0) and counts["predicted"] > 200
    assert result.summary["stored_vectors"]["template"] == TEMPLATE


def test_a_probe_of_names_in_their_texts_is_refused(spec, tmp_path, encoder):
    with pytest.raises(InputError) as error:
        predict_rps(spec, out=tmp_path, encoder=encoder)
    assert error.value.where == "--probe" and "sentence" in error.value.got


def test_an_index_of_a_store_is_searched(spec, tmp_path, wiki2, vectors, encoder):
    built = build_index(spec, out=tmp_path / "index", encoder=encoder)
    notes = built.summary["vectors"]
    assert (notes["file"], notes["template"], notes["foreign"]) == (spec, TEMPLATE, False)
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


def test_a_store_is_added_to_an_index(spec, tmp_path, encoder):
    build_index([Document("own", "A text of its own.")], out=tmp_path, encoder=encoder)
    encoder.asked.clear()
    added = add_documents(tmp_path, spec, encoder=encoder)
    assert added.summary["views"] == N + 1
    assert len({text for text in encoder.asked if ": " in text}) < 2 * 32
    with pytest.raises(InputError) as error:
        build_index(spec, out=tmp_path / "b", encoder=encoder, vectors="own.npy")
    assert error.value.where == "--vectors"


def test_a_file_of_vectors_tells_its_template(tmp_path, wiki2, vectors, encoder):
    np.save(tmp_path / "own.npy", vectors)
    built = build_index(wiki2, out=tmp_path / "a", encoder=encoder, vectors=tmp_path / "own.npy")
    notes = built.summary["vectors"]
    assert (notes["foreign"], notes["template"], notes["compared"]) == (False, TEMPLATE, 32)
    texts = dict(zip(*[built.index.texts()[name] for name in ("doc_id", "text")], strict=True))
    assert texts[wiki2[0].id] == f"{wiki2[0].title}: {wiki2[0].text}"
    foreign = build_index(
        wiki2, out=tmp_path / "b", encoder=encoder, vectors=tmp_path / "own.npy",
        fields=FieldNames(template="{text}"),
    )  # fmt: skip
    assert foreign.summary["vectors"]["foreign"]


def test_texts_of_a_store_serve_where_no_vector_is_wanted(spec, tmp_path, wiki2):
    for name in "ab":
        (tmp_path / f"{name}.trec").write_text(f"q1 Q0 {wiki2[0].id} 1 1.0 x\n")
    runs = [tmp_path / "a.trec", tmp_path / "b.trec"]
    compared = compare_retrievers(runs=runs, out=tmp_path / "out", corpus=spec)
    manifest = json.loads((compared.folder / "manifest.json").read_text())["comparison"]
    assert manifest["inputs"]["corpus"]["file"] == spec


def test_fresh_never_deletes_the_store(tmp_path, wiki2, vectors):
    spec = FILLS["sqlite-vec"](tmp_path / "store", wiki2[:40], vectors[:40])
    with pytest.raises(InputError) as error:
        keep_input(ArtifactFolder(tmp_path, fresh=True), [open_corpus(spec).origin])
    assert error.value.where == tmp_path


def test_a_folder_holds_results_of_one_corpus(audited, shared, encoder):
    with pytest.raises(InputError) as error:
        exposure(shared("wiki2"), limit=30, out=audited.folder, encoder=encoder, config=BRIEF)
    assert error.value.where == audited.folder


def test_needs_are_asked_of_the_stored_vectors(spec, tmp_path, wiki2, encoder):
    def profiled(document):
        needs = (Scenario(f"Where does one read of {document.title or 'it'}?", "It says so."),)
        profile = ScenarioProfile(document.title, ("facts",), needs)
        return Profiled(document.id, ProfileState.OK, profile)

    profiles = {d.id: profiled(d) for d in wiki2[:10]}
    result = audit_needs(spec, profiles, out=tmp_path, encoder=encoder)
    assert result.summary["documents"]["indexed"] == N
    assert result.summary["stored_vectors"]["template"] == TEMPLATE
    compared = {filled(TEMPLATE, d.title, d.text) for d in wiki2} & set(encoder.asked)
    assert len(compared) <= 32
