import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document, Query, View
from argus.data.folders import ArtifactFolder
from argus.encoders import EncoderConfig
from argus.errors import InputError, Location
from argus.evaluation.compared_lists import compare_indexes
from argus.evaluation.compared_results import compare_encoders, compare_folders
from argus.indexes.views import ViewIndex
from argus.knowledge import KnowledgeSource
from tests.support.results import unbound

DOCUMENTS = [
    Document("bread", "Sourdough rises slowly. Flour, water and salt are all it needs.", "Bread"),
    Document("tides", "The moon pulls the oceans. Harbours fill and empty with it.", "Tides"),
    Document("chess", "Bishops move along diagonals. The game ends with the king.", "Chess"),
]
FOUND = {"success_at_k": 1.0}
FIGURES = {"k": 1, "never_retrieved": 0, "title": FOUND, "sentence": FOUND}
FLOAT32 = EncoderConfig(precision="float32")


def exposed(out, minilm, documents=DOCUMENTS, k=1):
    config = argus.ExposureConfig(k=k, sentences=1)
    argus.exposure(documents, out=out, encoder=minilm, config=config)
    return out


def rewrite(folder, name, change):
    """Write a table again with `change(row)` applied: results of another encoder."""
    import pyarrow as pa

    table = pq.read_table(folder / f"{name}.parquet")
    rows = [change(dict(row)) for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{name}.parquet")


@pytest.fixture(scope="module")
def folders(minilm, tmp_path_factory):
    root = tmp_path_factory.mktemp("compare")
    return exposed(root / "a", minilm), exposed(root / "b", minilm)


def test_a_document_that_is_never_retrieved_any_more_is_lost(minilm, tmp_path):
    first, second = exposed(tmp_path / "a", minilm), unbound(exposed(tmp_path / "b", minilm))
    rewrite(
        second, "exposure",
        lambda row: row
        | ({"never_retrieved": True, "title_rank": 3} if row["id"] == "tides" else {}),
    )  # fmt: skip
    result = compare_folders(first, second, out=tmp_path / "out")
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["label"]) == ("tides", "Tides")
    assert (lost["before"], lost["after"]) == ("retrieved", "never retrieved")
    assert (lost["value_before"], lost["value_after"], lost["rank_change"]) == (1, 3, 2)
    assert lost["rps_change"] is None, "of entities alone: there more is better"
    back = compare_folders(second, first, out=tmp_path / "back")
    assert [row["id"] for row in back.summary["gained"]] == ["tides"]
    assert pq.read_table(tmp_path / "out" / "comparison.parquet").equals(result.table)
    assert result.table["verdict"].to_pylist()[0] == "lost", "what was lost comes first"


def test_documents_of_one_side_and_unmeasured_ones_are_no_loss(minilm, folders, tmp_path):
    more = [*DOCUMENTS[1:], Document("empty", ""), Document("opera", "A tenor sings.", "Opera")]
    other = exposed(tmp_path / "b", minilm, more)
    rows = {
        r["id"]: r
        for r in compare_folders(folders[0], other, out=tmp_path / "out").table.to_pylist()
    }
    assert rows["bread"]["verdict"] == "only before" and rows["opera"]["verdict"] == "only after"
    third = exposed(tmp_path / "c", minilm, [*DOCUMENTS, Document("empty", "")])
    fourth = exposed(tmp_path / "d", minilm, [*DOCUMENTS, Document("empty", "")])
    table = compare_folders(third, fourth, out=tmp_path / "out2").table.to_pylist()
    empty = next(row for row in table if row["id"] == "empty")
    assert empty["verdict"] == "not comparable" and empty["after"] == "no text"


def test_entities_move_between_bands(minilm, tmp_path):
    names = [
        "Ada Lovelace", "Charles Babbage", "Difference Engine", "Analytical Engine",
        "Luigi Menabrea", "Mary Somerville", "Augustus De Morgan", "Michael Faraday",
        "Royal Society", "Lord Byron", "Bernoulli Number", "Jacquard Loom",
    ]  # fmt: skip
    documents = [
        Document(f"e{i}", f"{name} was linked with {names[(i + 1) % 12]}.", name)
        for i, name in enumerate(names)
    ]
    for folder in ("a", "b"):
        argus.audit(
            documents, out=tmp_path / folder, encoder=minilm,
            config=argus.AuditConfig(k=(2,), pool=(5,)),
        )  # fmt: skip
    for folder, band, rps in (("a", "low", 0.1), ("b", "high", 0.9)):
        rewrite(
            unbound(tmp_path / folder), "retrievability",
            lambda row, band=band, rps=rps: row | {"band": band, "rps": rps}
            if row["id"] == "e3" else row,
        )  # fmt: skip
    result = compare_folders(tmp_path / "a", tmp_path / "b", out=tmp_path / "out")
    (gained,) = result.summary["gained"]
    assert (gained["kind"], gained["id"], gained["label"]) == ("entity", "e3", "Analytical Engine")
    assert (gained["before"], gained["after"]) == ("low", "high")
    assert gained["rps_change"] == pytest.approx(0.8) and gained["rank_change"] is None
    argus.audit(
        documents, out=tmp_path / "c", encoder=minilm,
        config=argus.AuditConfig(k=(1,), pool=(5,)),
    )  # fmt: skip
    with pytest.raises(InputError, match="measured at --k 2 and --k 1"):
        compare_folders(tmp_path / "a", tmp_path / "c", out=tmp_path / "out3")


def test_folders_that_cannot_be_compared_are_refused(minilm, folders, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        compare_folders(folders[0], tmp_path / "none", out=tmp_path / "out")
    with pytest.raises(InputError, match="no results of audit or exposure"):
        compare_folders(folders[0], tmp_path, out=tmp_path / "out")
    with pytest.raises(InputError, match="is one of the folders"):
        compare_folders(*folders, out=folders[1])
    other = exposed(tmp_path / "x", minilm, [Document("a", "Rain falls.", "Rain")])
    with pytest.raises(InputError, match="have no id in common"):
        compare_folders(folders[0], other, out=tmp_path / "out")
    deeper = exposed(tmp_path / "y", minilm, k=2)
    with pytest.raises(InputError, match="measured at --k 1 and --k 2"):
        compare_folders(folders[0], deeper, out=tmp_path / "out")
    (deeper / "exposure.parquet").unlink()
    with pytest.raises(InputError, match=r"no exposure\.parquet"):
        compare_folders(deeper, deeper.parent / "y", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_encoders_are_run_and_only_a_wanted_audit_is_missed(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    records = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    corpus.write_text("".join(json.dumps(r) + "\n" for r in records))
    result = compare_encoders(corpus, (FLOAT32, FLOAT32), out=tmp_path / "out")
    assert (tmp_path / "out" / "a" / "exposure.parquet").is_file()
    assert (tmp_path / "out" / "b" / "report.html").is_file()
    assert result.summary["verdicts"]["document"]["same"] == 3
    assert result.summary["notes"] == []
    source = KnowledgeSource(relations="mentions")
    missed = compare_encoders(corpus, (FLOAT32, FLOAT32), out=tmp_path / "out", source=source)
    (note,) = missed.summary["notes"]
    assert note.startswith("no audit: Nothing can be measured: no two related entities")
    assert result.summary["same_corpus"] is True


def noted(folder, name, **sections):
    """Write sections into a JSON file of results."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | sections))
    return path


def test_audits_of_an_earlier_run_are_left_out(minilm, tmp_path):
    before, after = exposed(tmp_path / "a", minilm), exposed(tmp_path / "b", minilm)
    audit = {"k": 1, "pool": 2, "mean_rps": None, "share_below_0.33": None}
    for folder in (before, after):  # left by a run with other relations
        noted(folder, "summary.json", audit=audit)
    result = compare_folders(before, after, out=tmp_path / "out", jobs=["exposure"])
    assert list(result.summary["kinds"]) == ["exposure"]
    with pytest.raises(InputError, match=r"no retrievability\.parquet"):
        compare_folders(before, after, out=tmp_path / "out2")


def test_broken_results_are_refused_with_file_and_field(minilm, tmp_path):
    whole, broken = exposed(tmp_path / "a", minilm), unbound(exposed(tmp_path / "b", minilm))
    summary = noted(broken, "summary.json", exposure=FIGURES | {"k": "1"})
    with pytest.raises(InputError) as error:
        compare_folders(whole, broken, out=tmp_path / "out")
    assert error.value.where == Location(summary, field="exposure.k")
    noted(broken, "summary.json", exposure=FIGURES)
    table = pq.read_table(broken / "exposure.parquet")
    pq.write_table(table.drop_columns(["title_rank"]), broken / "exposure.parquet")
    with pytest.raises(InputError, match="no column 'title_rank'") as error:
        compare_folders(whole, broken, out=tmp_path / "out")
    assert error.value.where == Location(broken / "exposure.parquet")
    manifest = noted(
        broken, "manifest.json", exposure={"encoder": {"fingerprint": 7}, "inputs": {}}
    )
    with pytest.raises(InputError) as error:
        compare_folders(whole, broken, out=tmp_path / "out")
    assert error.value.where == Location(manifest, field="exposure.encoder.fingerprint")


def test_fresh_does_not_empty_a_folder_that_is_compared(indexes, folders, tmp_path):
    index = Path(indexes[1])
    for folder in (index, folders[0].parent):
        ArtifactFolder(folder).open()  # as every folder that Argus wrote results into
    for names in ((indexes[0], indexes[1]), (indexes[1], indexes[0])):
        with pytest.raises(InputError, match="--fresh would empty the folder that holds"):
            compare_indexes(names, out=index, queries=[Query("q", "moon")], fresh=True)
    assert (index / "index.json").is_file() and (index / "views.lance").is_dir()
    for folder in folders:
        with pytest.raises(InputError, match="--fresh would empty the folder"):
            compare_folders(*folders, out=folder.parent, fresh=True)
        assert (folder / "exposure.parquet").is_file()


@pytest.fixture(scope="module")
def indexes(minilm, tmp_path_factory):
    """An index with a remedy that makes the chess document answer for bread."""
    path = tmp_path_factory.mktemp("indexes") / "index"
    made = ViewIndex.create(
        path, fingerprint=minilm.fingerprint, dim=minilm.dim,
        encoder={"model": "all-MiniLM-L6-v2", "precision": "float32"},
    )  # fmt: skip
    views = [View(d.id, d.id, "original", d.text) for d in DOCUMENTS]
    made.add(views, minilm.encode_documents([v.text for v in views]))
    extra = [View("chess:e", "chess", "expansion", "Bread")]
    made.add(extra, minilm.encode_documents([v.text for v in extra]), remedy="r1")
    return f"{path}@original", str(path)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    records = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_two_indexes_are_asked_for_every_document_by_its_title(indexes, corpus, tmp_path):
    queries = [Query("q", "moon and oceans")]
    result = compare_indexes(indexes, out=tmp_path / "o", queries=queries, corpus=corpus, k=1)
    (lost,) = result.summary["lost"]
    assert (lost["id"], lost["value_before"], lost["value_after"]) == ("bread", 1, 2)
    counted = {"titles": 3, "entities": 0, "given": 1, "failed": 0}
    assert result.summary["queries"] == counted
    changes = pq.read_table(tmp_path / "o" / "comparison_queries.parquet").to_pylist()
    assert [(r["text"], r["entered"], r["left"]) for r in changes if r["changed"]] == [
        ("Bread", "Chess", "Bread")
    ]
    assert result.summary["changed_queries"] == 1


def test_entities_of_a_diagnosis_are_asked_for_by_name(indexes, corpus, tmp_path):
    rows = [
        ("chess", "Bread", 0.1), ("chess", "Chess", None), ("tides", "moon and oceans", 0.9),
        ("elsewhere", "Atlantis", 0.2),
    ]  # fmt: skip
    diagnosis = pa.table(
        {
            "doc_id": [doc for doc, _, _ in rows],
            "entity": [name for _, name, _ in rows],
            "rps": [rps for *_, rps in rows],
            "state": ["failed" if rps is None else "measured" for *_, rps in rows],
            "reason": [""] * len(rows),
        }
    )
    pq.write_table(diagnosis, tmp_path / "diagnosis.parquet")
    result = compare_indexes(indexes, out=tmp_path / "out", corpus=corpus, diagnosis=tmp_path, k=1)
    named = {r["id"]: r for r in result.table.to_pylist() if r["kind"] == "entity"}
    assert {name: row["verdict"] for name, row in named.items()} == {
        "Bread": "gained", "Chess": "same", "moon and oceans": "same", "Atlantis": "not comparable"
    }  # fmt: skip
    bread = named["Bread"]
    assert bread["value_before"] > 1 and bread["value_after"] == 1
    assert (bread["before"], bread["after"]) == (f"rank {bread['value_before']:.0f}", "rank 1")
    assert bread["rank_change"] == 1 - bread["value_before"] and bread["rps_change"] is None
    assert result.summary["verdicts"]["entity"]["gained"] == 1
    assert result.summary["queries"]["entities"] == 4
    page = result.report.read_text(encoding="utf-8")
    assert "4 entities were asked for by name" in page and "rank by name, before" in page
    plain = compare_indexes(indexes, out=tmp_path / "plain", corpus=corpus, k=1)
    assert list(plain.summary["verdicts"]) == ["document"]
    assert "that needs a diagnosis" in plain.report.read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"no diagnosis\.parquet"):
        compare_indexes(indexes, out=tmp_path / "o", diagnosis=tmp_path / "plain")


def test_indexes_without_questions_or_common_ids_are_refused(indexes, minilm, tmp_path):
    with pytest.raises(InputError, match="no document has a title, and there are no queries"):
        compare_indexes(indexes, out=tmp_path / "o")
    other = ViewIndex.create(
        tmp_path / "other", fingerprint=minilm.fingerprint, dim=minilm.dim,
        encoder={"model": "all-MiniLM-L6-v2", "precision": "float32"},
    )  # fmt: skip
    other.add([View("z", "z", "original", "Rain")], minilm.encode_documents(["Rain"]))
    with pytest.raises(InputError, match="the indexes have no document in common"):
        compare_indexes((indexes[0], str(tmp_path / "other")), out=tmp_path / "o")
    assert not (tmp_path / "o").exists()
