"""What an index holds of remedies, written beside the documents of a real store."""

from __future__ import annotations

import json

import numpy as np
import pytest

from argus.corpora import StoreCorpus
from argus.data.types import Document, Query, View
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.remedies.blend import blend_index
from argus.remedies.index_writing import write_index
from argus.remedies.store_writing import list_in_store, rollback_in_store
from argus.retrievers.blended import BlendedRetriever
from argus.stores.opening import open_store
from tests.remedies.writing.test_of_store import breaks as breaks
from tests.support.blended import UnitWords, queries, texts
from tests.support.stored_corpora import FILLS, opening

ENCODER = UnitWords()
DOCUMENTS = [Document(id_, ". ".join(parts) + ".") for id_, parts in texts(40).items()]
NEEDS = {"d03": "granite harbour", "d07": "violet tram", "d21": "copper meadow"}


@pytest.fixture(params=["lancedb", "chroma", "sqlite-vec"])
def home(request, tmp_path):
    """A store of forty documents."""
    vectors = ENCODER.encode_documents([document.content for document in DOCUMENTS])
    return FILLS[request.param](tmp_path / "store", DOCUMENTS, vectors)


@pytest.fixture
def index(home, tmp_path):
    """An index of the same documents, with a blend, an expansion and scenarios."""
    folder = tmp_path / "index"
    build_index(StoreCorpus(home, opening(home)), out=folder, encoder=ENCODER)
    blend_index(folder, encoder=ENCODER)
    opened = ViewIndex.open(folder)
    some = sorted({*opened.rows()["doc_id"].to_pylist()})[3:6]
    for remedy, kind in (("expand-a", "expansion"), ("scenarios-b", "scenario")):
        views = [View(f"{doc}#{remedy}", doc, kind, text, "")
                 for doc, text in zip(some, NEEDS.values(), strict=True)]  # fmt: skip
        opened.add(views, ENCODER.encode_documents([v.text for v in views]), remedy=remedy)
    return folder


def write(index, home, tmp_path, **options):
    options = {"opening": opening(home), "out": tmp_path / "out", **options}
    return write_index(index, home, **options)


def state(home):
    """Return all records of all collections."""
    with open_store(home, opening(home)) as store:
        there = {"own": store, "argus": store.sibling(f"{store.collection}_argus")}
        return {
            name: sorted((i, v.tobytes(), json.dumps(p, sort_keys=True))
                         for page in of.iterate(100) for i, v, p in page.rows())
            for name, of in there.items() if of is not None
        }  # fmt: skip


QUESTIONS = [*queries(), *(Query(f"need {doc}", text) for doc, text in NEEDS.items())]


def test_a_repaired_index_is_served_by_the_store(home, index, tmp_path):
    before = state(home)
    result = write(index, home, tmp_path)
    counts, summary = result.summary["counts"], result.summary
    assert counts["documents"] == 40 and counts["written"] == counts["records"]
    assert {"sentence", "scenario"} <= {*counts["views"]}
    (section,) = json.loads((tmp_path / "out" / "manifest.json").read_text()).values()
    assert section["encoder"]["fingerprint"] == ENCODER.fingerprint
    assert summary["weight"] == 0.7 and summary["settings"]["weight"] == 0.7
    assert [r.partition("-")[0] for r in summary["remedies"]] == ["blend", "expand", "scenarios"]
    assert summary["reach"]["reached"]["share"] == 1.0
    with BlendedRetriever(f"{home}_argus", index, encoder=ENCODER, opening=opening(home)) as own:
        assert result.remedy in own.name
        for query in QUESTIONS:
            assert list(own.search([query], 5)[query.id]) == list(
                own.index.search([query], 5)[query.id]
            )
    listed = list_in_store(home, opening=opening(home))
    assert [(r["id"], r["kind"]) for r in listed] == [(result.remedy, "index")]
    rollback_in_store(home, result.remedy, opening=opening(home))
    assert state(home) == before


def test_a_state_is_written_as_it_was(home, index, tmp_path):
    first = write(f"{index}@original", home, tmp_path)
    assert first.summary["counts"]["views"] == {} and first.summary["settings"] is None
    assert any(line.endswith("no remedy: the documents alone") for line in first.headline())
    expanded = write(f"{index}@expand-a", home, tmp_path)
    assert expanded.summary["weight"] is None
    assert "expansion" in expanded.summary["counts"]["views"]
    assert expanded.summary["others"] == [first.remedy]


def test_what_was_stopped_at_its_report_tells_what_both_runs_wrote(
    home, index, tmp_path, monkeypatch
):
    def stopped(folder):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("argus.remedies.store_writing.write_report", stopped)
        write(index, home, tmp_path)
    counts = write(index, home, tmp_path).summary["counts"]
    assert (counts["there_before"], counts["written"]) == (0, counts["records"])
    counts = write(index, home, tmp_path).summary["counts"]  # another command: all is there
    assert (counts["there_before"], counts["written"]) == (counts["records"], 0)


def test_what_was_taken_out_behind_a_stopped_run_was_not_there(home, index, tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    remedy = write(index, home, tmp_path).remedy
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("argus.remedies.store_writing._search_for", stopped)
        write(index, home, tmp_path)
    rollback_in_store(home, remedy, opening=opening(home))
    counts = write(index, home, tmp_path).summary["counts"]
    assert (counts["there_before"], counts["written"]) == (0, counts["records"])


def test_ids_may_lie_in_a_field(tmp_path):
    vectors = ENCODER.encode_documents([document.content for document in DOCUMENTS])
    home = FILLS["qdrant"](tmp_path / "store", DOCUMENTS, vectors)  # its ids are numbers
    folder = tmp_path / "index"
    build_index(DOCUMENTS, out=folder, encoder=ENCODER)
    blend_index(folder, encoder=ENCODER)
    with pytest.raises(InputError, match="no record of the 40 documents") as error:
        write(folder, home, tmp_path)
    assert "--id-field" in error.value.fix
    written = write(folder, home, tmp_path, id_field="metadata.key")
    assert written.summary["counts"]["documents"] == 40 and written.summary["left_out"] == 0
    with BlendedRetriever(f"{home}_argus", folder, encoder=ENCODER, id_field="metadata.key") as own:
        for query in queries():
            assert list(own.search([query], 5)[query.id]) == list(
                own.index.search([query], 5)[query.id]
            )


def test_a_field_that_names_a_document_twice_is_refused(tmp_path):
    documents = [Document("d1", "A harbour.", "A"), Document("d2", "A tram.", "A")]
    vectors = ENCODER.encode_documents([d.content for d in documents])
    home = FILLS["chroma"](tmp_path / "store", documents, vectors)
    folder = tmp_path / "index"
    build_index([Document("A", "A harbour. A tram.")], out=folder, encoder=ENCODER)
    with pytest.raises(InputError, match="'A' is the title of 'd1' and 'd2'"):
        write(folder, home, tmp_path, id_field="title")


def test_documents_that_the_store_lacks_are_told(home, index, tmp_path):
    ViewIndex.open(index).add(
        [View("new", "new", "original", "a new one", "")],
        ENCODER.encode_documents(["a new one"]),
    )
    result = write(index, home, tmp_path)
    assert result.summary["left_out"] == 1
    assert "left out: 1 documents that are not in the store" in result.headline()


def test_a_store_of_another_dimension_is_refused(index, tmp_path):
    home = FILLS["chroma"](tmp_path / "other", DOCUMENTS, np.eye(40, 7, dtype=np.float32) + 0.1)
    with pytest.raises(InputError, match="vectors of 7 dimensions"):
        write(index, home, tmp_path)
