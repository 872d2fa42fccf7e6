import json
import re
import shutil

import pytest
from typer.testing import CliRunner

import argus
from argus.cli.main import app
from argus.errors import InputError
from argus.retrievability.probes import sweep

run = CliRunner().invoke


@pytest.fixture(scope="module")
def audited(shared, minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    config = argus.AuditConfig(k=(5,), pool=(100,))
    return argus.audit(shared("fb15k237"), out=out, encoder=minilm, config=config, limit=400).folder


def test_fit_prints_the_table_of_the_paper(audited, monkeypatch):
    monkeypatch.setattr(sweep, "QUICK", {"mlp": [{"width": 16, "depth": 1}]})
    result = run(app, ["probe", "fit", "--audit", str(audited), "--families", "ridge, mlp"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split()[:4] == ["RMSE", "MAE", "Pearson", "Spearman"]
    assert [line.split("  ")[0] for line in lines[1:6]] == [
        "all zero", "all one", "mean", "ridge", "mlp",
    ]  # fmt: skip
    assert "of 21 settings" in result.output
    reference = r"for reference: labels have a standard deviation of 0\.\d{3}; drawing other "
    assert re.search(reference + r"related .* would move them by 0\.\d{3} RMSE", result.output)
    assert "no probe can" not in result.output
    assert (audited / "probe" / "probe.json").is_file()


def test_predict_says_how_many_are_at_risk_and_json_is_json(audited, tmp_path):
    run(app, ["probe", "fit", "--audit", str(audited), "--families", "ridge"])
    entities = tmp_path / "entities.jsonl"
    rows = [
        {"id": "a", "label": "Lisbon", "paragraph": "Lisbon is the capital of Portugal."},
        {"id": "b", "label": "Oslo", "paragraph": "Oslo is the capital of Norway."},
        {"id": "c", "label": "Nowhere", "paragraph": ""},
    ]
    entities.write_text("\n".join(map(json.dumps, rows)))
    arguments = ["probe", "predict", "--entities", str(entities), "--precision", "float32"]
    shipped = run(app, [*arguments, "--out", str(tmp_path / "shipped")])
    assert shipped.exit_code == 0, shipped.output
    assert "1 not applicable" in shipped.output and "below 0.3 (hard to reach)" in shipped.output
    own = run(app, [*arguments, "--probe", str(audited), "--out", str(tmp_path / "own"), "--json"])
    assert json.loads(own.stdout)["probe"]["family"] == "ridge"


def test_vectors_that_a_disk_lost_are_missing(audited, tmp_path):
    torn = tmp_path / "audit"
    shutil.copytree(audited, torn)
    with (torn / "embeddings" / "vectors.f32").open("r+b") as file:
        file.write(bytes(4096))
    result = run(app, ["probe", "fit", "--audit", str(torn), "--families", "ridge"])
    assert result.exit_code != 0 and isinstance(result.exception, InputError)
    assert re.search(r"lacks the vectors of \d+ of", str(result.exception))


def test_wrong_options_are_named(audited, tmp_path):
    with pytest.raises(InputError, match="--families: forest"):
        run(
            app,
            ["probe", "fit", "--audit", str(audited), "--families", "forest"],
            catch_exceptions=False,
        )
    with pytest.raises(InputError, match="no audit in it"):
        run(app, ["probe", "fit", "--audit", str(tmp_path)], catch_exceptions=False)
    corpus = tmp_path / "x.jsonl"
    corpus.write_text('{"_id": "d1", "text": "Boats lie in the harbour."}\n')
    with pytest.raises(InputError, match=r"no probe.json in it"):
        run(
            app,
            ["probe", "predict", "--corpus", str(corpus), "--probe", str(tmp_path)],
            catch_exceptions=False,
        )
