import importlib
import json
import math
import resource
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document, Span, State
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import ArgusError, FingerprintMismatch, InputError
from argus.evaluation.diagnosed import read_entities
from argus.remedies.diagnosis.diagnose import Diagnosis, Risk
from argus.remedies.diagnosis.job import diagnose, risk_table, summarise, write_diagnosis
from argus.remedies.repair.config import ReferenceConfig
from argus.retrievability.probes import load_default
from tests.support.diagnosing import (
    BERN,
    CAPITALS,
    SentenceOnly,
    probe_for,
    table,
)
from tests.support.full_disk import full_disk_under
from tests.support.results import shown, sizes


class Breaking(SentenceTransformerEncoder):
    """The real model, cut off after so many batches."""

    left = math.inf

    def encode_spans(self, texts, spans):
        if self.left <= 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().encode_spans(texts, spans)


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


def contents(folder):
    return {p: p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


# ---- what a diagnosis leaves ---------------------------------------------------------------------


def test_the_table_has_every_entity_with_its_state(diagnosed, wiki2):
    rows = table(diagnosed.folder)
    texts = {d.id: d.content for d in read_corpus(wiki2, limit=40)}
    assert len(rows) == len(diagnosed.diagnosis.risks) > 40
    assert list(rows[0]) == [
        "doc_id", "entity", "spans", "rps", "flagged", "state", "reason", "unread", "entity_ids",
    ]  # fmt: skip
    for row in rows:
        for span in row["spans"]:
            surface = texts[row["doc_id"]][span["start"] : span["end"]]
            assert " ".join(surface.split()) == row["entity"]
        assert row["flagged"] == (row["rps"] is not None and row["rps"] < 0.3)
        assert (row["rps"] is None) == (row["state"] != "measured") == bool(row["reason"])
        assert row["entity_ids"] and row["unread"] == 0
    assert len({(row["doc_id"], row["entity"]) for row in rows}) == len(rows)
    assert any(row["flagged"] for row in rows)


def test_the_summary_counts_what_the_table_has(diagnosed):
    rows, summary = table(diagnosed.folder), diagnosed.summary
    states = Counter(row["state"] for row in rows)
    assert summary["entities"] == {
        "total": len(rows),
        "measured": states["measured"],
        "failed": states["failed"],
        "not applicable": states["not applicable"],
        "reasons": dict(Counter(row["reason"] for row in rows if row["rps"] is None)),
    }
    flagged = [row for row in rows if row["flagged"]]
    assert summary["flagged"] == len(flagged)
    assert summary["documents_at_risk"] == len({row["doc_id"] for row in flagged})
    assert summary["documents_with_entities"] == len({row["doc_id"] for row in rows})
    assert summary["documents"] == 40 and summary["documents_without_text"] == 0
    values = [row["rps"] for row in rows if row["rps"] is not None]
    assert summary["share_flagged"] == pytest.approx(len(flagged) / len(values), abs=1e-6)
    assert summary["mean_rps"] == pytest.approx(np.mean(values), abs=1e-6)
    assert sum(summary["histogram"]["entities"]) == len(values)
    assert summary["histogram"]["edges"][0] == 0 and summary["histogram"]["edges"][-1] == 1


def test_the_folder_has_summary_manifest_and_report(diagnosed, wiki2):
    folder = diagnosed.folder
    assert diagnosed.report == folder / "report.html" and diagnosed.report.is_file()
    assert json.loads((folder / "summary.json").read_text())["diagnosis"] == diagnosed.summary
    manifest = json.loads((folder / "manifest.json").read_text())["diagnosis"]
    assert manifest["config"]["tau"] == 0.3 and manifest["config"]["limit"] == 40
    assert manifest["config"]["probe"] == load_default(manifest["encoder"]["fingerprint"]).family
    assert manifest["config"]["finder"].startswith("gazetteer names=")
    assert manifest["inputs"]["kb 1"]["file"].endswith("corpus.jsonl")
    assert manifest["counts"] == diagnosed.summary["entities"]
    assert "diagnosing" in manifest["timings_s"]


def test_explain_reads_what_diagnose_writes(diagnosed):
    risk = diagnosed.diagnosis.risks[0]
    read = [row for row in read_entities(diagnosed.folder) if row["doc_id"] == risk.doc_id]
    assert read[0]["entity"] == risk.entity and read[0]["rps"] == risk.rps


def test_documents_in_memory_give_what_the_file_gives(
    diagnosed, wiki2, reference, minilm, tmp_path
):
    documents = read_corpus(wiki2, limit=40)
    again = diagnose(
        iter(documents), out=tmp_path / "out", reference=reference, encoder=minilm,
        store=diagnosed.folder / "embeddings",
    )  # fmt: skip
    assert table(again.folder) == table(diagnosed.folder)
    assert not (tmp_path / "out" / "embeddings").exists()


def test_another_threshold_flags_others_and_scores_the_same(diagnosed, wiki2, reference, minilm,
                                                            tmp_path):  # fmt: skip
    options = {"reference": reference, "encoder": minilm, "limit": 40,
               "store": diagnosed.folder / "embeddings"}  # fmt: skip
    none = diagnose(wiki2, out=tmp_path / "none", tau=0, **options)
    most = diagnose(wiki2, out=tmp_path / "most", tau=1, **options)
    assert none.summary["flagged"] == 0 and none.summary["share_flagged"] == 0
    assert most.summary["flagged"] == most.summary["entities"]["measured"]
    assert none.summary["mean_rps"] == most.summary["mean_rps"] == diagnosed.summary["mean_rps"]


def test_a_figure_is_the_same_for_entities_counted_by_hand():
    def risk(doc_id, rps, state=State.MEASURED, reason="", spans=1, unread=0):
        places = tuple(Span(i, i + 1) for i in range(spans))
        return Risk(doc_id, "x", places, (), rps, state, reason, unread)

    found = Diagnosis(
        [
            risk("a", 0.1), risk("b", 0.3, spans=2, unread=1), risk("c", 1.0, unread=1),
            risk("c", None, State.FAILED, "too long", spans=2, unread=2),
            risk("d", None, State.NOT_APPLICABLE, "far out"),
        ],
        0.3,
        9,
    )  # fmt: skip
    summary = summarise(found)
    assert (summary["flagged"], summary["documents_at_risk"]) == (1, 1)
    assert summary["share_flagged"] == 0.333333 and summary["mean_rps"] == 0.466667
    assert summary["unread"] == {"entities": 2, "documents": 1}, "nowhere in what is read"
    assert summary["entities"]["reasons"] == {"too long": 1, "far out": 1}
    assert risk_table(found).column("unread").to_pylist() == [0, 1, 1, 2, 0]


# ---- nothing found, nothing to read --------------------------------------------------------------


def test_a_corpus_without_entities_still_has_a_report(minilm, tmp_path):
    documents = [Document("a", "nothing is named here"), Document("b", "nor there")]
    result = diagnose(documents, out=tmp_path / "out", reference=CAPITALS, encoder=minilm)
    summary = result.summary
    assert summary["entities"] == {
        "total": 0, "measured": 0, "failed": 0, "not applicable": 0, "reasons": {},
    }  # fmt: skip
    assert summary["documents"] == 2 and summary["documents_with_entities"] == 0
    assert summary["share_flagged"] is None and summary["mean_rps"] is None, "no zero, no NaN"
    assert table(result.folder) == [] and result.report.is_file()
    assert read_entities(result.folder) == []


def test_documents_without_text_are_counted_and_not_read(minilm, tmp_path):
    documents = [*BERN, Document("e", ""), Document("w", " \n\t", " ")]
    result = diagnose(documents, out=tmp_path / "out", reference=CAPITALS, encoder=minilm)
    assert result.summary["documents"] == 1 and result.summary["documents_without_text"] == 2
    assert {row["doc_id"] for row in table(result.folder)} == {"d"}


def test_only_documents_without_text_cannot_be_diagnosed(minilm, tmp_path):
    with pytest.raises(ArgusError, match=r"no document has text\. Check --text-field"):
        diagnose([Document("e", " ")], out=tmp_path / "o", reference=CAPITALS, encoder=minilm)
    assert not (tmp_path / "o").exists()


def test_halves_of_a_character_are_refused_before_any_work(minilm, tmp_path):
    documents = [*BERN, Document("s", "The bears of Bern \ud800 live in Switzerland")]
    with pytest.raises(InputError, match=r"half a surrogate pair .* of the text of document 's'"):
        diagnose(documents, out=tmp_path / "out", reference=CAPITALS, encoder=minilm)
    assert not (tmp_path / "out").exists()


def test_a_mention_beyond_the_window_is_reported(minilm, tmp_path):
    text = "The river runs past the old mill and the church on the hill. " * 40 + "Then Bern."
    result = diagnose(
        [Document("d", text)], out=tmp_path / "out", reference=CAPITALS, encoder=minilm
    )
    [row] = [row for row in table(result.folder) if row["entity"] == "Then Bern"] or [
        row for row in table(result.folder) if row["entity"] == "Bern"
    ]
    assert row["unread"] == 1 and row["state"] == "measured"
    assert result.summary["unread"] == {"entities": 1, "documents": 1}
    sentences = SentenceOnly(minilm.model, name=minilm.name)
    result = diagnose(
        [*BERN, Document("far", text)], out=tmp_path / "s", reference=CAPITALS, encoder=sentences,
        probe=probe_for(sentences),
    )  # fmt: skip
    [row] = [row for row in table(result.folder) if row["doc_id"] == "far"]
    assert (row["state"], row["rps"], row["flagged"]) == ("failed", None, False)
    assert row["reason"] == "beyond what the model reads of the document"


# ---- interrupted, or out of space ----------------------------------------------------------------


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(importlib.import_module("argus.encoders.embed"), "BATCH_TEXTS", 8)


def test_an_interrupted_diagnosis_goes_on(wiki2, reference, minilm, tmp_path, small_batches):
    breaking = Breaking(minilm.model, name=minilm.name)
    run = {"reference": reference, "encoder": breaking, "limit": 40}
    breaking.left = enough = 99
    whole = diagnose(wiki2, out=tmp_path / "whole", **run)
    batches = enough - breaking.left
    assert batches >= 4, "several batches"
    breaking.left = 2
    with pytest.raises(KeyboardInterrupt):
        diagnose(wiki2, out=tmp_path / "out", **run)
    store = tmp_path / "out" / "embeddings"
    stored = (store / "vectors.f32").read_bytes()
    whole_size = (tmp_path / "whole" / "embeddings" / "vectors.f32").stat().st_size
    assert 0 < len(stored) < whole_size, "what was embedded before is kept"
    assert not (tmp_path / "out" / "diagnosis.parquet").exists()
    breaking.left = batches - 2
    again = diagnose(wiki2, out=tmp_path / "out", **run)
    assert breaking.left == 0, "only what was missing was embedded"
    assert table(again.folder) == table(whole.folder)
    assert again.summary == whole.summary
    assert (store / "vectors.f32").read_bytes().startswith(stored)


def test_a_diagnosis_repeated_embeds_nothing(diagnosed, wiki2, reference, minilm):
    before = table(diagnosed.folder)
    breaking = Breaking(minilm.model, name=minilm.name)
    breaking.left = 0
    again = diagnose(wiki2, out=diagnosed.folder, reference=reference, encoder=breaking, limit=40)
    assert table(again.folder) == before


@pytest.mark.parametrize("name", ["diagnosis.parquet", "summary.json", "manifest.json"])
def test_a_full_disk_leaves_what_was_there(minilm, tmp_path, name):
    """/dev/full answers every write as a disk does that has no space left."""
    out = tmp_path / "out"
    run = {"out": out, "reference": CAPITALS, "encoder": minilm}
    diagnose(BERN, **run)
    earlier = contents(out)
    documents = [*BERN, Document("e", "Thun lies on the Aare.")]
    with full_disk_under(name), pytest.raises(OSError, match="No space left on device"):
        diagnose(documents, **run)
    assert (out / name).read_bytes() == earlier[out / name]
    assert not list(out.glob("*.partial")), "nothing half-written stays"
    assert table(out) and json.loads((out / "summary.json").read_text())["diagnosis"]
    result = diagnose(documents, **run)
    assert {row["doc_id"] for row in table(out)} == {"d", "e"}
    assert json.loads((out / "summary.json").read_text())["diagnosis"] == result.summary


def test_a_full_disk_under_the_vectors_says_how_to_go_on(minilm, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(ArgusError) as refused:
            diagnose(BERN, out=tmp_path / "out", reference=CAPITALS, encoder=minilm)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(refused.value).endswith(
        "writing vectors failed (File too large); the 0 vectors already there are whole. "
        "Free some space and run the same command again."
    )
    result = diagnose(BERN, out=tmp_path / "out", reference=CAPITALS, encoder=minilm)
    assert result.summary["entities"]["total"] == 2


def test_a_place_that_cannot_be_written_is_named(minilm, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError) as refused:
        diagnose(BERN, out=tmp_path / "file" / "out", reference=CAPITALS, encoder=minilm)
    assert "cannot be written (Not a directory)" in str(refused.value)


def test_writing_a_diagnosis_is_shared_with_remedies(diagnosed, tmp_path):
    """A remedy writes the same table and sections, and leaves out no document."""
    from argus.data.folders import ArtifactFolder
    from argus.jobs.workspace import Record

    folder = ArtifactFolder(tmp_path / "remedy")
    folder.open()
    summary = write_diagnosis(folder, diagnosed.diagnosis, Record("remedy", {}, {}))
    assert summary == diagnosed.summary and table(folder.path) == table(diagnosed.folder)


def test_fresh_deletes_nothing_when_the_probe_does_not_fit(minilm, tmp_path):
    out = tmp_path / "out"
    given = {"out": out, "reference": CAPITALS, "encoder": minilm}
    diagnose(BERN, probe=probe_for(minilm), **given)
    before = table(out)
    with pytest.raises(FingerprintMismatch, match="a probe of another encoder"):
        diagnose(BERN, probe=probe_for(minilm, fingerprint="other@1"), fresh=True, **given)
    assert table(out) == before


def test_a_diagnosis_shows_its_figures(diagnosed, monkeypatch):
    assert " of 40 documents: " in shown(diagnosed)[0]
    assert sizes(diagnosed, monkeypatch) == {"table": len(diagnosed.diagnosis.risks)}
