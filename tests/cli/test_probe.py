import json

import pytest
from typer.testing import CliRunner

import argus
from argus.cli.main import app
from argus.errors import InputError

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
    arguments = [
        "research",
        "probe",
        "predict",
        "--entities",
        str(entities),
        "--precision",
        "float32",
    ]
    shipped = run(app, [*arguments, "--out", str(tmp_path / "shipped")])
    assert shipped.exit_code == 0, shipped.output
    assert "1 not applicable" in shipped.output and "below 0.3 (hard to reach)" in shipped.output
    own = run(app, [*arguments, "--probe", str(audited), "--out", str(tmp_path / "own"), "--json"])
    assert json.loads(own.stdout)["probe"]["family"] == "ridge"


def test_wrong_options_are_named(audited, tmp_path):
    with pytest.raises(InputError, match="--families: forest"):
        run(
            app,
            ["research", "probe", "fit", "--audit", str(audited), "--families", "forest"],
            catch_exceptions=False,
        )
    with pytest.raises(InputError, match="no audit in it"):
        run(app, ["research", "probe", "fit", "--audit", str(tmp_path)], catch_exceptions=False)
    corpus = tmp_path / "x.jsonl"
    corpus.write_text('{"_id": "d1", "text": "Boats lie in the harbour."}\n')
    with pytest.raises(InputError, match=r"no probe.json in it"):
        run(
            app,
            ["research", "probe", "predict", "--corpus", str(corpus), "--probe", str(tmp_path)],
            catch_exceptions=False,
        )
