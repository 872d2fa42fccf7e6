import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom

import argus
from argus.data import Document
from argus.errors import FingerprintMismatch, InputError, Location
from argus.reports.sections import SECTIONS
from argus.retrievability.probes import load_probe, sweep
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.data import read_audit
from argus.retrievability.probes.fit import fit_probe
from argus.retrievability.probes.predict import predict_rps
from tests.support.damage import missing_keys, wrong_types
from tests.support.results import shown, sizes, unbound

LIMIT = 400


@pytest.fixture(scope="module", autouse=True)
def small_grid():
    patch = pytest.MonkeyPatch()
    one = {"width": 32, "depth": 1, "learning_rate": 1e-3, "batch_size": 64}
    trees = {"n_estimators": 30, "max_depth": 3, "jobs": 1}
    patch.setattr(sweep, "QUICK", {"mlp": [one], "xgboost": [trees]})
    yield
    patch.undo()


@pytest.fixture(scope="module")
def collection(shared):
    return shared("fb15k237")


@pytest.fixture(scope="module")
def audited(collection, minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    config = argus.AuditConfig(k=(5,), pool=(100,))
    return argus.audit(collection, out=out, encoder=minilm, config=config, limit=LIMIT).folder


@pytest.fixture(scope="module")
def fitted(audited):
    return fit_probe(audited)


def test_an_audit_says_where_each_entitys_vector_is(audited, collection):
    table = pq.read_table(audited / "retrievability.parquet").to_pylist()
    manifest = json.loads((audited / "manifest.json").read_text())["audit"]
    assert manifest["encoder"]["store"] == "embeddings"  # relative, so that the folder may move
    read = read_audit(audited)
    scored = sorted(row["id"] for row in table if row["state"] == "measured")
    assert read.ids == scored and read.vectors.shape == (len(scored), 384)
    np.testing.assert_allclose(np.linalg.norm(read.vectors, axis=1), 1, atol=1e-5)
    by_id = {row["id"]: row for row in table}
    assert read.rps.tolist() == [by_id[id_]["rps"] for id_ in scored]
    assert all((row["vector"] is None) == (row["reason"] == "no paragraph") for row in table)


def test_the_variance_of_hits_is_that_of_each_score_s_pairs(audited):
    hits = {}
    for pair in pq.read_table(audited / "pair_ranks.parquet").to_pylist():
        chance = hypergeom.cdf(4, pair["pool"], pair["above"], 99)  # in the top 5 of 100
        hits.setdefault(pair["entity"], []).append(chance)
    read = read_audit(audited)
    assert set(read.related[np.isnan(read.hit_variance)]) == {1}
    for i, id_ in enumerate(read.ids):
        assert read.rps[i] == pytest.approx(np.mean(hits[id_]))
        if read.related[i] > 1:
            assert read.hit_variance[i] == pytest.approx(np.var(hits[id_], ddof=1), abs=1e-9)


def test_without_the_pairs_the_fit_says_what_it_can(audited, tmp_path):
    shutil.copytree(audited, tmp_path / "bare")
    (tmp_path / "bare" / "pair_ranks.parquet").unlink()
    result = fit_probe(tmp_path / "bare", config=ProbeConfig(families=("ridge",)))
    labels = result.summary["labels"]
    assert labels["std"] > 0 and labels["sampling_rmse"] is labels["sampling_pearson"] is None
    page = result.report.read_text()
    assert f"standard deviation of {labels['std']:.3f}" in page and "For reference" not in page


def test_a_fit_writes_all_its_parts(fitted, audited):
    summary = fitted.summary
    names = [row["family"] for row in summary["table"]]
    assert names == ["all zero", "all one", "mean", "ridge", "xgboost", "mlp"]
    best = min(summary["table"][3:], key=lambda row: row["validation_rmse"])
    assert summary["family"] == best["family"] and summary["test"] == best["test"]
    assert set(json.loads((audited / "summary.json").read_text())) == {"audit", "probe"}
    assert json.loads((audited / "manifest.json").read_text())["probe"]["config"]["seed"] == 0
    assert pq.read_table(audited / "trials.parquet").num_rows == summary["trials"] == 22
    predictions = pq.read_table(audited / "predictions.parquet").to_pylist()
    assert len(predictions) == summary["entities"]["test"]
    for row in predictions:
        assert row["residual"] == pytest.approx(row["rps"] - row["predicted"])
    again = load_probe(audited)
    read = read_audit(audited)
    np.testing.assert_array_equal(again.estimate(read.vectors), fitted.probe.estimate(read.vectors))


def test_the_report_shows_the_table_and_both_plots(fitted):
    page = fitted.report.read_text()
    assert "Can RPS be told from the vector?" in page
    for name in ("probe_density", "probe_residuals", "macro F1"):
        assert name in page
    labels = fitted.summary["labels"]
    assert f"its RPS would move by {labels['sampling_rmse']:.3f} RMSE" in page
    assert "bounds every probe" not in page and "noisy allow" not in page


def test_a_fit_elsewhere_repeats_itself_and_leaves_the_audit(fitted, audited, tmp_path):
    before = {p.name: p.stat().st_mtime_ns for p in audited.iterdir()}
    again = fit_probe(audited, out=tmp_path / "elsewhere")
    after = {p.name: p.stat().st_mtime_ns for p in audited.iterdir()}
    after.pop("embeddings"), before.pop("embeddings")  # its lock is taken
    assert before == after
    assert again.summary["table"] == fitted.summary["table"]
    assert (tmp_path / "elsewhere" / "report.html").is_file()


def test_fresh_forgets_trials_and_resume_uses_them(audited, tmp_path):
    config = ProbeConfig(families=("ridge",))
    ledger = tmp_path / "probe" / "trials.jsonl"
    fit_probe(audited, out=tmp_path, config=config)
    first, *rest = ledger.read_text().splitlines()
    slow = json.dumps(json.loads(first) | {"seconds": 987.654})
    ledger.write_text("".join(f"{line}\n" for line in [slow, *rest]))
    fit_probe(audited, out=tmp_path, config=config)
    assert ledger.read_text().splitlines() == [slow, *rest]
    fit_probe(audited, out=tmp_path, config=config, fresh=True)
    assert len(ledger.read_text().splitlines()) == 20 and "987.654" not in ledger.read_text()


def test_an_audit_of_an_earlier_version_is_told_to_run_again(audited, tmp_path):
    shutil.copytree(audited, tmp_path / "old")
    path = tmp_path / "old" / "retrievability.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["vector"]), path)
    with pytest.raises(InputError, match="Run argus audit again with the same --out"):
        fit_probe(tmp_path / "old")


def test_a_missing_audit_or_store_is_named(audited, tmp_path):
    with pytest.raises(InputError, match="no audit in it"):
        fit_probe(tmp_path)
    shutil.copytree(audited, tmp_path / "moved")  # with its store inside, a moved folder works
    assert len(read_audit(tmp_path / "moved").ids) == len(read_audit(audited).ids)
    shutil.rmtree(tmp_path / "moved" / "embeddings")
    with pytest.raises(InputError, match="the store of the audit's vectors is not there"):
        read_audit(tmp_path / "moved")
    assert not (tmp_path / "moved" / "embeddings").exists()


@pytest.mark.parametrize("dim", [-1, 32, 6_400, 0])
def test_a_manifest_of_another_dim_is_refused_and_no_vector_is_lost(audited, tmp_path, dim):
    folder = unbound(shutil.copytree(audited, tmp_path / "other"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["audit"]["encoder"]["dim"] = dim
    (folder / "manifest.json").write_text(json.dumps(manifest))
    stored = {path.name: path.stat().st_size for path in (folder / "embeddings").iterdir()}
    named = rf"manifest\.json: says vectors of dim {dim}, .*embeddings/store\.json of \d+"
    with pytest.raises(InputError, match=named):
        read_audit(folder)
    assert {p.name: p.stat().st_size for p in (folder / "embeddings").iterdir()} == stored
    del manifest["audit"]["encoder"]["dim"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    np.testing.assert_array_equal(read_audit(folder).vectors, read_audit(audited).vectors)


def test_families_that_do_not_exist_are_refused():
    for families in (("forest",), (), ("ridge", "ridge")):
        with pytest.raises(
            InputError, match="expected some of ridge, xgboost, mlp, distilled, each once"
        ):
            ProbeConfig(families=families)


def test_prediction_encodes_as_the_audit_did(fitted, audited, collection, minilm, tmp_path):
    """Without relations, the same entities get the vectors, hence the scores, of the audit."""
    result = predict_rps(collection, out=tmp_path, probe=audited, encoder=minilm, limit=LIMIT)
    read = read_audit(audited)
    rows = {row["id"]: row for row in result.table.to_pylist()}
    expected = fitted.probe.predict(read.vectors)
    for i, id_ in enumerate(read.ids):
        if rows[id_]["state"] == "predicted":
            assert rows[id_]["rps"] == pytest.approx(expected.rps[i], abs=1e-3)
        assert rows[id_]["domain_score"] == pytest.approx(expected.domain_score[i], abs=1e-2)
    counts = result.summary["entities"]
    assert counts["total"] == LIMIT == sum(v for k, v in counts.items() if k != "total")
    assert "Which entities are predicted not to come back?" in result.report.read_text()
    assert (tmp_path / "predicted.csv").is_file()


def test_entities_without_text_or_that_fail_are_counted_apart(minilm, tmp_path):
    from argus.data import Document
    from argus.errors import EncodingError

    class Picky:
        fingerprint, dim = minilm.fingerprint, minilm.dim

        def encode_spans(self, texts, spans):
            if any("Vesuvius" in text for text in texts):
                raise EncodingError("too hot", retryable=False)
            return minilm.encode_spans(texts, spans)

        encode_queries = encode_documents = minilm.encode_documents

    documents = [
        Document("1", "Lisbon is the capital of Portugal.", "Lisbon"),
        Document("2", "Vesuvius is a volcano near Naples.", "Vesuvius"),
        Document("3", "", "Nothing"),
        Document("4", "0x00 0x7f 0x10 0xff 7781 9920 1123 8812 0xab 0xcd " * 4, "0x7f 0x10"),
    ]
    result = predict_rps(documents, out=tmp_path, encoder=Picky())  # the shipped probe
    states = dict(
        zip(result.table["id"].to_pylist(), result.table["state"].to_pylist(), strict=True)
    )
    assert states == {"1": "predicted", "2": "failed", "3": "not applicable", "4": "abstained"}
    row = result.table.to_pylist()[3]
    assert row["rps"] is None and row["domain_score"] is not None and "unlike" in row["reason"]


def test_a_probe_of_another_encoder_or_pooling_is_refused(audited, minilm, tmp_path):
    class Other:
        fingerprint, dim = "other@1", 384

        encode_spans = encode_queries = encode_documents = None

    with pytest.raises(FingerprintMismatch, match=r"(?s)all-MiniLM-L6-v2.*other@1"):
        predict_rps([_city()], out=tmp_path / "a", probe=audited, encoder=Other())
    with pytest.raises(InputError, match="no probe ships for other@1"):
        predict_rps([_city()], out=tmp_path / "b", encoder=Other())

    class SentencesOnly(Other):
        fingerprint, pools_spans = minilm.fingerprint, False

    with pytest.raises(InputError, match="a probe of span-pooled vectors"):
        predict_rps([_city()], out=tmp_path / "c", probe=audited, encoder=SentencesOnly())
    with pytest.raises(InputError, match="neither --corpus nor --entities"):
        predict_rps(None, out=tmp_path / "d")
    with pytest.raises(InputError, match="'word'; expected one of span, sentence"):
        predict_rps([_city()], out=tmp_path / "e", pooling="word")


def test_fresh_refuses_to_delete_the_probe_that_it_was_given(audited, fitted, minilm, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(audited, folder)
    before = _contents(folder)
    for probe in (folder, folder / "probe"):
        with pytest.raises(InputError, match=r"--fresh would empty the folder .*/probe/probe.json"):
            predict_rps([_city()], out=folder, probe=probe, encoder=minilm, fresh=True)
    assert _contents(folder) == before
    predict_rps([_city()], out=tmp_path / "other", probe=folder, encoder=minilm, fresh=True)
    manifest = json.loads((tmp_path / "other" / "manifest.json").read_text())["prediction"]
    assert manifest["inputs"]["probe"]["file"] == str(folder / "probe" / "probe.json")


def test_a_probe_that_does_not_fit_comes_before_fresh_deletes(audited, fitted, minilm, tmp_path):
    class Other:
        fingerprint, dim, pools_spans = "other@1", 384, True

        encode_spans = encode_queries = encode_documents = minilm.encode_documents

    folder = tmp_path / "out"
    predict_rps([_city()], out=folder, probe=audited, encoder=minilm)
    before = _contents(folder)
    assert "predicted.parquet" in before and "embeddings/vectors.f32" in before
    refused = [
        {"probe": audited, "encoder": Other()},
        {"encoder": Other()},
        {"encoder": minilm, "pooling": "sentence"},  # none ships
    ]
    for options in refused:
        with pytest.raises((FingerprintMismatch, InputError), match=r"another encoder|no probe sh"):
            predict_rps([_city()], out=folder, fresh=True, **options)
        assert _contents(folder) == before


def _contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _city():
    from argus.data import Document

    return Document("1", "Lisbon is the capital of Portugal.", "Lisbon")


@pytest.mark.slow
def test_shuffled_labels_on_a_real_audit_give_no_correlation(audited, tmp_path):
    unbound(shutil.copytree(audited, tmp_path / "shuffled"))
    path = tmp_path / "shuffled" / "retrievability.parquet"
    table = pq.read_table(path)
    rps = table["rps"].to_numpy()
    scored = np.flatnonzero(~np.isnan(rps))
    mixed = rps.copy()
    mixed[scored] = np.random.default_rng(1).permutation(rps[scored])
    mixed = [None if np.isnan(value) else value for value in mixed]
    index = table.column_names.index("rps")
    pq.write_table(table.set_column(index, "rps", [mixed]), path)
    result = fit_probe(tmp_path / "shuffled")
    bound = 3 / np.sqrt(result.summary["entities"]["test"])
    for row in result.summary["table"][3:]:
        assert abs(row["test"]["pearson"] or 0) < bound


@pytest.mark.parametrize("name", ["probe", "prediction"])
def test_a_damaged_summary_is_refused_by_field(audited, fitted, minilm, tmp_path, name):
    folder = fitted.folder
    if name == "prediction":
        predict_rps([_city()], out=tmp_path, probe=audited, encoder=minilm)
        folder = tmp_path
    summary = json.loads((folder / "summary.json").read_text())[name]
    where = Location(folder / "summary.json", field=name)
    assert SECTIONS[name].build(folder, summary, where=where).brief
    missing = [(place, d) for place, d in missing_keys(summary) if "parameters." not in place]
    for place, damaged in (*wrong_types(summary), *missing):
        with pytest.raises(InputError) as error:
            SECTIONS[name].build(folder, damaged, where=where)
        assert error.value.where.field.startswith(f"{name}.{place}"), place


@pytest.mark.parametrize("file", ["manifest.json", "summary.json"])
def test_a_damaged_audit_is_refused_by_field(audited, tmp_path, file):
    shutil.copytree(audited, tmp_path / "audit", ignore=shutil.ignore_patterns("lock"))
    path = tmp_path / "audit" / file
    sections = json.loads(path.read_text())
    used = {"inputs", "encoder", "k", "pool", "pooling"} & sections["audit"].keys()
    for place, damaged in wrong_types({key: sections["audit"][key] for key in used}):
        if place.startswith(("encoder.precision", "inputs.corpus.bytes", "inputs.relations.bytes")):
            continue
        path.write_text(json.dumps({"audit": {**sections["audit"], **damaged}}))
        with pytest.raises(InputError) as error:
            read_audit(tmp_path / "audit")
        assert error.value.where == Location(path, field=f"audit.{place}")


def test_a_fit_and_a_prediction_show_their_figures(fitted, audited, minilm, tmp_path, monkeypatch):
    assert "RMSE" in shown(fitted)[0]
    counts = fitted.summary["entities"]
    trials = {"table": counts["test"], "trials": fitted.summary["trials"]}
    assert sizes(fitted, monkeypatch) == trials
    documents = [Document("a", "Ada Lovelace was a mathematician.", "Ada Lovelace")]
    result = predict_rps(documents, out=tmp_path, probe=audited, encoder=minilm)
    assert shown(result)[-1].startswith("entities: ")
    assert sizes(result, monkeypatch) == {"table": 1}
