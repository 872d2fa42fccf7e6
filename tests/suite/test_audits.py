"""Audits that recipes share are those of a run that ended, over entities as they are."""

import pytest

from argus.data.writing import write_jsonl
from argus.suite.recipes import ReachRequest
from argus.suite.sources import POOL, SOURCES, Setting
from tests.support.sentence_models import make_model
from tests.support.suites import read_rows


@pytest.fixture
def entities(shared, tmp_path):
    """Return a folder with enough of FB15k-237's entities for a pool, and relations among them."""
    rows = read_rows(shared("fb15k237") / "entities.jsonl")[: POOL + 50]
    ids = [row.get("_id", row.get("id")) for row in rows]
    (tmp_path / "kb").mkdir()
    write_jsonl(tmp_path / "kb" / "entities.jsonl", rows)
    relate(tmp_path / "kb", ids, step=1)
    return tmp_path / "kb", ids


def relate(folder, ids, *, step):
    pairs = zip(ids, [*ids[step:], *ids[:step]], strict=True)
    lines = [f"{one}\tnear\t{other}\n" for one, other in pairs]
    (folder / "edges.tsv").write_text("".join(lines), encoding="utf-8")


def test_an_audit_that_was_stopped_or_is_of_other_entities_is_made_again(entities, tmp_path):
    (knowledge, ids), model = entities, make_model(tmp_path / "model")
    request = ReachRequest(
        knowledge=str(knowledge), encoder=str(model), pooling="sentence", reach="mean RPS"
    )

    def measured(out):
        setting = Setting(tmp_path, tmp_path, out / "figure", out / "shared", 0.0)
        figures = SOURCES[ReachRequest].measure([request], setting)
        (manifest,) = (out / "shared" / "audits").glob("*/manifest.json")
        return figures[request], manifest

    value, manifest = measured(tmp_path / "out")
    before = manifest.read_bytes()
    assert measured(tmp_path / "out") == (value, manifest)
    assert manifest.read_bytes() == before, "what is current is not made again"
    manifest.unlink()
    assert measured(tmp_path / "out")[0] == value
    relate(knowledge, ids, step=POOL // 2)
    other, _ = measured(tmp_path / "out")
    assert other == measured(tmp_path / "anew")[0] != value
