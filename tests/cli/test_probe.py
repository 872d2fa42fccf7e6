import json

import pytest
from typer.testing import CliRunner

import argus
from argus.cli.main import app

run = CliRunner().invoke


@pytest.fixture(scope="module")
def audited(shared, minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    config = argus.retrievability.AuditConfig(k=(5,), pool=(100,))
    return argus.audit(shared("fb15k237"), out=out, encoder=minilm, config=config, limit=400).folder


def test_predict_says_how_many_are_at_risk_and_json_is_json(audited, tmp_path):
    run(app, ["research", "probe", "fit", "--audit", str(audited), "--families", "ridge"])
    entities = tmp_path / "entities.jsonl"
    rows = [
        {"id": "a", "label": "Lisbon", "paragraph": "Lisbon is the capital of Portugal."},
        {"id": "b", "label": "Oslo", "paragraph": "Oslo is the capital of Norway."},
        {"id": "c", "label": "Nowhere", "paragraph": ""},
    ]
    entities.write_text("\n".join(map(json.dumps, rows)))
    arguments = ["research", "probe", "predict", "--entities", str(entities)]
    arguments += ["--precision", "float32"]
    shipped = run(app, [*arguments, "--out", str(tmp_path / "shipped")])
    assert shipped.exit_code == 0, shipped.output
    assert "1 not applicable" in shipped.output and "below 0.3 (hard to reach)" in shipped.output
    own = run(app, [*arguments, "--probe", str(audited), "--out", str(tmp_path / "own"), "--json"])
    assert json.loads(own.stdout)["probe"]["family"] == "ridge"
