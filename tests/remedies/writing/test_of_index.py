"""What an index holds of remedies, written beside the documents of a real store."""

import json

import pytest

from argus.corpora import StoreCorpus
from argus.data.types import Document, Query, View
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.remedies.blend import blend_index
from argus.remedies.store_writing import list_in_store, rollback_in_store, write_index
from argus.retrievers.blended import BlendedRetriever
from argus.stores.spec import open_store
from tests.support.blended import UnitWords, queries, texts
from tests.support.stored_corpora import FILLS, opening

ENCODER = UnitWords()
DOCUMENTS = [Document(id_, ". ".join(parts) + ".") for id_, parts in texts(40).items()]
NEEDS = {"d03": "granite harbour", "d07": "violet tram", "d21": "copper meadow"}


@pytest.fixture
def home(tmp_path):
    """A store of forty documents."""
    vectors = ENCODER.encode_documents([document.content for document in DOCUMENTS])
    return FILLS["chroma"](tmp_path / "store", DOCUMENTS, vectors)


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


def check_answers(own, questions):
    """Check that the store ranks as the index of the retriever does."""
    for query in questions:
        ours, theirs = (of.search([query], 5)[query.id] for of in (own, own.index))
        assert list(ours) == list(theirs)


QUESTIONS = [*queries(), *(Query(f"need {doc}", text) for doc, text in NEEDS.items())]


def test_a_repaired_index_is_served_by_the_store(home, index, tmp_path):
    before = state(home)
    result = write(index, home, tmp_path)
    counts, summary = result.summary["counts"], result.summary
    assert counts["documents"] == 40
    assert {"sentence", "scenario"} <= {*counts["views"]}
    assert summary["weight"] == 0.7
    assert [r.partition("-")[0] for r in summary["remedies"]] == ["blend", "expand", "scenarios"]
    assert summary["reach"]["reached"]["share"] == 1.0
    with BlendedRetriever(f"{home}_argus", index, encoder=ENCODER, opening=opening(home)) as own:
        assert result.remedy in own.name
        check_answers(own, QUESTIONS)
    listed = list_in_store(home, opening=opening(home))
    assert [(r["id"], r["kind"]) for r in listed] == [(result.remedy, "index")]
    rollback_in_store(home, result.remedy, opening=opening(home))
    assert state(home) == before


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
        check_answers(own, queries())
