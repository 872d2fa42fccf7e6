import pytest

from argus.corpora.opening import read_corpus
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Span, State
from argus.errors import ArgusError
from argus.jobs.workspace import Record
from argus.remedies.config import ReferenceConfig
from argus.remedies.diagnosis import (
    Diagnosis,
    Risk,
    diagnose,
    write_diagnosis,
)
from tests.support.diagnosing import (
    CAPITALS,
    table,
)


@pytest.fixture(scope="module")
def wiki2(shared):
    return shared("wiki2") / "corpus.jsonl"


@pytest.fixture(scope="module")
def reference(wiki2):
    return ReferenceConfig(kb=(wiki2,))


@pytest.fixture(scope="module")
def diagnosed(wiki2, reference, minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("diagnosed") / "out"
    return diagnose(wiki2, out=out, reference=reference, encoder=minilm, limit=40)


# ---- what a diagnosis leaves ---------------------------------------------------------------------


def test_the_table_has_every_entity_with_its_state(diagnosed, wiki2):
    rows = table(diagnosed.folder)
    texts = {d.id: d.content for d in read_corpus(wiki2, limit=40)}
    assert len(rows) == len(diagnosed.diagnosis.risks) > 40
    assert list(rows[0]) == [
        "doc_id", "entity", "spans", "rps", "flagged", "state", "reason", "entity_ids",
    ]  # fmt: skip
    for row in rows:
        for span in row["spans"]:
            surface = texts[row["doc_id"]][span["start"] : span["end"]]
            assert " ".join(surface.split()) == row["entity"]
        assert row["flagged"] == (row["rps"] is not None and row["rps"] < 0.3)
        assert (row["rps"] is None) == (row["state"] != "measured") == bool(row["reason"])
        assert row["entity_ids"]
    assert len({(row["doc_id"], row["entity"]) for row in rows}) == len(rows)
    assert any(row["flagged"] for row in rows)


def test_a_figure_is_the_same_for_entities_counted_by_hand(tmp_path):
    def risk(doc_id, rps, state=State.MEASURED, reason="", spans=1):
        places = tuple(Span(i, i + 1) for i in range(spans))
        return Risk(doc_id, "x", places, (), rps, state, reason)

    found = Diagnosis(
        [
            risk("a", 0.1), risk("b", 0.3, spans=2), risk("c", 1.0),
            risk("c", None, State.FAILED, "too long", spans=2),
            risk("d", None, State.NOT_APPLICABLE, "far out"),
        ],
        0.3,
        9,
    )  # fmt: skip
    folder = ArtifactFolder(tmp_path)
    folder.open()
    summary = write_diagnosis(folder, found, Record("diagnosis", {}, {}))
    assert (summary["flagged"], summary["documents_at_risk"]) == (1, 1)
    assert summary["share_flagged"] == 0.333333 and summary["mean_rps"] == 0.466667
    assert summary["entities"]["reasons"] == {"too long": 1, "far out": 1}


# ---- nothing found, nothing to read --------------------------------------------------------------


def test_only_documents_without_text_cannot_be_diagnosed(minilm, tmp_path):
    with pytest.raises(ArgusError, match=r"no document has text\. Check --text-field"):
        diagnose([Document("e", " ")], out=tmp_path / "o", reference=CAPITALS, encoder=minilm)
    assert not (tmp_path / "o").exists()


# ---- interrupted, or out of space ----------------------------------------------------------------
