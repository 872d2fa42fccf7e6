import pytest

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Span, State
from argus.errors import ArgusError
from argus.jobs.workspace import Record
from argus.remedies.diagnosis import Diagnosis, Risk, diagnose, write_diagnosis
from tests.support.diagnosing import CAPITALS


def test_a_figure_is_the_same_for_entities_counted_by_hand(tmp_path):
    def risk(doc_id, rps, state=State.MEASURED, reason=""):
        return Risk(doc_id, "x", (Span(0, 1),), (), rps, state, reason)

    found = Diagnosis(
        [risk("a", 0.1), risk("b", 0.3), risk("c", 1.0), risk("c", None, State.FAILED, "too long"),
         risk("d", None, State.NOT_APPLICABLE, "far out")], 0.3, 9,
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
