import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document
from argus.engine import EngineConfig
from argus.errors import EncodingError, InputError
from argus.knowledge import KnowledgeSource
from argus.retrievability.audit import findings as audit_findings
from argus.retrievability.geometry import project_bands
from tests.support.kb import write_kb
from tests.support.results import shown, sizes

TOPICS = ["river", "violin", "volcano", "bakery", "glacier", "orchid", "harbour", "comet"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """48 documents; each names the next one of its topic, and one has no text."""
    folder = tmp_path_factory.mktemp("corpus")
    rows, edges = [], ["subject\trelation\tobject"]
    for t, topic in enumerate(TOPICS):
        for i in range(6):
            id_ = f"{topic}-{i}"
            text = f"{topic.title()} {i} is a {topic} near the {topic} of place {i * 7 + t}."
            rows.append({"_id": id_, "title": f"{topic.title()} {i}", "text": text})
            edges.append(f"{id_}\tnext\t{topic}-{(i + 1) % 6}")
    rows[5]["text"] = ""
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (folder / "edges.tsv").write_text("\n".join(edges) + "\n")
    return folder


@pytest.fixture(scope="module")
def result(corpus, minilm, tmp_path_factory):
    return argus.audit(
        corpus,
        out=tmp_path_factory.mktemp("audit"),
        encoder=minilm,
        config=argus.AuditConfig(k=(3, 1), pool=(20, 30)),
    )


def test_the_table_has_one_row_per_entity_and_every_setting(result):
    assert result.table.num_rows == 48
    for name in ("id", "label", "rps", "low", "high", "related", "state", "band", "reason"):
        assert name in result.table.column_names
    for name in ("rps_k3_n30", "rps_k1_n20", "rps_k1_n30"):
        assert result.table[name].null_count == 1
    rows = result.table.to_pylist()
    for row in rows:
        if row["state"] == "measured":
            assert 0 <= row["low"] <= row["rps"] <= row["high"] <= 1
            assert (
                row["rps_k1_n20"] <= row["rps"] + 1e-12 and row["rps_k3_n30"] <= row["rps"] + 1e-12
            )


def test_terciles_stand_beside_the_fixed_bands(result):
    rows = [row for row in result.table.to_pylist() if row["state"] == "measured"]
    told = result.summary["terciles"]
    for name, count in told["counts"].items():
        assert sum(row["tercile"] == name for row in rows) == count
    assert max(r["rps"] for r in rows if r["tercile"] == "low") == pytest.approx(
        told["low_up_to"], abs=1e-6
    )
    assert {row["tercile"] for row in result.table.to_pylist() if row["rps"] is None} == {None}
    assert "Terciles, thirds of the entities" in result.report.read_text()


def test_an_entity_without_paragraph_is_not_applicable_and_null(result):
    row = next(r for r in result.table.to_pylist() if r["id"] == "river-5")
    assert (row["state"], row["reason"], row["rps"]) == ("not applicable", "no paragraph", None)
    assert result.summary["entities"]["reasons"] == {"no paragraph": 1}
    assert result.summary["pairs"]["without_vector"] == 4


def test_of_many_entities_a_sample_is_projected(result, corpus, minilm, tmp_path, monkeypatch):
    assert "sample" not in result.summary["projection"]
    projected = []

    def watched(vectors, bands, *, seed):
        projected.append(len(vectors))
        return project_bands(vectors, bands, seed=seed)

    monkeypatch.setattr(audit_findings, "PROJECTED", 20)
    monkeypatch.setattr(audit_findings, "project_bands", watched)
    config = argus.AuditConfig(k=(3, 1), pool=(20, 30))
    few = argus.audit(corpus, out=tmp_path, encoder=minilm, config=config)
    assert few.summary["projection"]["sample"] == 20 and projected == [20]
    placed = np.array([x is not None for x in few.table["x"].to_pylist()])
    assert placed.sum() == 20 and few.table["y"].null_count == 28
    assert not few.table.filter(placed)["rps"].null_count
    assert few.table.drop_columns(["x", "y"]).equals(result.table.drop_columns(["x", "y"]))
    assert "Where blind spots lie" in few.report.read_text()


def test_pairs_beside_a_sample_are_not_told_as_without_vector(minilm, tmp_path):
    def audited(name, **options):
        kb = write_kb(tmp_path / name, paragraphs, relations, [], **options)
        config = argus.AuditConfig(k=(1,), pool=(3,))
        return argus.audit(kb, out=tmp_path / f"{name}-out", encoder=minilm, config=config)

    names = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]
    paragraphs = {f"Q{i}": (name, f"{name} is a tree.") for i, name in enumerate(names)}
    paragraphs["Q6"] = ("Ginkgo", "")
    relations = [(f"Q{i}", "P1", f"Q{i + 1}", "wikidata") for i in range(6)]
    sampled = audited("sampled", targets=["Q0", "Q1"])
    pairs = sampled.summary["pairs"]
    assert (pairs["related"], pairs["without_vector"]) == (12, 2)
    assert (pairs["measured"], pairs["not_of_the_sample"]) == (3, 7)
    reasons = sampled.summary["entities"]["reasons"]
    assert reasons == {"came along with the sample": 4, "no paragraph": 1}
    assert "Alder" in sampled.report.read_text()
    whole = audited("whole").summary["pairs"]
    assert whole["without_vector"] == 2 and "not_of_the_sample" not in whole


def test_pair_ranks_are_written_with_ids(result):
    table = pq.read_table(result.folder / "pair_ranks.parquet")
    assert table.num_rows == len(result.ranks) == 8 * 12 - 4
    pair = table.slice(0, 1).to_pylist()[0]
    assert pair["entity"].split("-")[0] == pair["related"].split("-")[0]
    assert (np.array(table["above"]) <= np.array(table["pool"])).all()


def test_running_again_embeds_nothing_and_gives_the_same(result, corpus):
    class Unusable:
        """Has the fingerprint, cannot encode: whatever is needed must come from the store."""

        fingerprint = json.loads((result.folder / "manifest.json").read_text())["audit"]["encoder"][
            "fingerprint"
        ]
        dim = 384

        def encode_spans(self, texts, spans):
            raise EncodingError("must not be called")

        encode_queries = encode_documents = encode_spans

    again = argus.audit(
        corpus,
        out=result.folder,
        encoder=Unusable(),
        config=argus.AuditConfig(k=(3, 1), pool=(20, 30)),
    )
    assert again.table.equals(result.table)


def test_an_entity_that_cannot_be_embedded_is_failed_not_zero(corpus, minilm, tmp_path):
    class Picky:
        fingerprint, dim = "picky", minilm.dim

        def encode_spans(self, texts, spans):
            if any(text.startswith("Comet 2") for text in texts):
                raise EncodingError("too bright", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    result = argus.audit(
        corpus, out=tmp_path, encoder=Picky(), config=argus.AuditConfig(k=(3,), pool=(20,))
    )
    row = next(r for r in result.table.to_pylist() if r["id"] == "comet-2")
    assert (row["state"], row["reason"], row["rps"]) == ("failed", "too bright", None)
    assert result.summary["entities"]["failed"] == 1
    assert result.summary["entities"]["measured"] == 46


def test_pooling_changes_what_is_measured(result, corpus, minilm, tmp_path):
    sentence = argus.audit(
        corpus,
        out=tmp_path,
        encoder=minilm,
        config=argus.AuditConfig(k=(3,), pool=(20,), pooling="sentence"),
    )
    assert sentence.summary["pooling"] == "sentence"
    assert not np.allclose(result.ranks.similarity, sentence.ranks.similarity)


def test_relations_from_mentions_need_no_file(minilm, tmp_path):
    names = ["Alder Hall", "Birch House", "Cedar Lodge", "Dogwood Inn", "Elm Court", "Fir Gate"]
    documents = [
        Document(f"d{i}", f"{name} stands beside {names[(i + 1) % 6]}.", name)
        for i, name in enumerate(names)
    ]
    result = argus.audit(
        documents,
        out=tmp_path,
        source=KnowledgeSource(relations="mentions"),
        encoder=minilm,
        config=argus.AuditConfig(k=(1,), pool=(3,)),
    )
    assert result.summary["pairs"]["related"] == 12
    assert result.summary["entities"]["measured"] == 6


def test_a_reservoir_is_used_where_asked_and_its_error_is_stated(corpus, minilm, tmp_path):
    config = argus.AuditConfig(k=(3,), pool=(10,), reservoir=25)
    result = argus.audit(corpus, out=tmp_path, encoder=minilm, config=config)
    assert result.summary["reservoir"]["size"] == 25
    assert result.summary["reservoir"]["mean_standard_error"] > 0
    assert result.ranks.pool.max() <= 25


def test_two_documents_of_one_id_are_refused_from_python_too(minilm, tmp_path):
    documents = [Document("a", "one text", "A"), Document("a", "another", "B")]
    with pytest.raises(InputError, match="two documents have the id 'a'"):
        argus.audit(documents, out=tmp_path, encoder=minilm)


def test_an_encoder_without_token_vectors_is_reported_as_such(corpus, minilm, tmp_path):
    class SentencesOnly:
        fingerprint, dim, pools_spans = "sentences", minilm.dim, False

        def encode_spans(self, texts, spans):
            return minilm.encode_documents(texts)

        encode_queries = encode_documents = minilm.encode_documents

    config = argus.AuditConfig(k=(3,), pool=(20,))
    result = argus.audit(corpus, out=tmp_path, encoder=SentencesOnly(), config=config)
    assert result.summary["pooling"] == "sentence"


def test_a_run_without_any_score_still_ends_with_a_report(corpus, minilm, tmp_path):
    class OnlyOnePerTopic:
        fingerprint, dim = "only-one", minilm.dim

        def encode_spans(self, texts, spans):
            if any(not text.split(" is ")[0].endswith(" 0") for text in texts):
                raise EncodingError("refused", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    config = argus.AuditConfig(k=(1,), pool=(3,))
    result = argus.audit(corpus, out=tmp_path, encoder=OnlyOnePerTopic(), config=config)
    counts = result.summary["entities"]
    assert (counts["measured"], counts["failed"], counts["not applicable"]) == (0, 39, 9)
    assert result.summary["mean_rps"] is None and result.table["rps"].null_count == 48
    assert "These entities have no score" in result.report.read_text()


def test_a_manifest_names_no_workers_that_there_were_not(corpus, minilm, tmp_path):
    config, engine = argus.AuditConfig(k=(3,), pool=(20,)), EngineConfig(workers=2)
    argus.audit(corpus, out=tmp_path, encoder=minilm, config=config, engine=engine)
    section = json.loads((tmp_path / "manifest.json").read_text())["audit"]
    assert section["engine"] == {"name": "local", "workers": 0, "machines": 1}


def test_an_audit_shows_its_figures(result, monkeypatch):
    assert shown(result)[0].startswith("RPS at k=3, N=20: mean 0.")
    assert sizes(result, monkeypatch) == {"table": 48}
