"""What the form "Try" holds before anything was tried: what argus.toml of the project knows."""

from __future__ import annotations

import pytest

from argus.data.types import Document
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.service.app import create_app
from argus.service.page.repairs import known_inputs
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.support.examples import write_rows
from tests.support.sentence_models import make_model

SETTINGS = """\
[index.build]
out = "argus-index"
[repair]
index = "argus-index"
queries = "asked.jsonl"
qrels = "judged.tsv"
"""
FILES = {"queries": "asked.jsonl", "qrels": "judged.tsv"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An index in a project's folder, with judged questions beside it."""
    root = tmp_path_factory.mktemp("project")
    encoder = EncoderConfig(model=str(make_model(root / "model")), device="cpu")
    build_index([Document("a", "It is fast.")], out=root / "argus-index", encoder=encoder)
    write_rows(root / "asked.jsonl", [{"_id": "q", "text": "fast"}])
    (root / "judged.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    (root / "argus.toml").write_text(SETTINGS)
    return root


@pytest.mark.parametrize(
    ("folder", "config", "kind", "shown"),
    [
        (".", None, "inputs", 'value="asked.jsonl"'),
        ("argus-index", None, "outside", "<code>asked.jsonl</code>, <code>judged.tsv</code>: out"),
        ("argus-index", "argus.toml", "configured", "asked.jsonl, by the service&#39;s settings"),
    ],
)
def test_files_are_filled_in_told_of_or_named_by_where_they_lie(
    made, monkeypatch, folder, config, kind, shown
):
    monkeypatch.chdir(made)
    place = open_workplace([made / folder], config=config and made / config)
    expected = {name: {} for name in ("inputs", "configured", "outside")} | {kind: FILES}
    assert known_inputs(made / "argus-index", place) == expected
    with Client(create_app(place)) as client:
        text = client.open("/page/-/repairs").text
    assert shown in text and ("outside the folders" in text) == (kind == "outside")
    assert kind == "inputs" or 'value="asked.jsonl"' not in text


def test_without_settings_nothing_is_known(made, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert known_inputs(made / "argus-index", open_workplace([made / "argus-index"])) == {
        "inputs": {},
        "configured": {},
        "outside": {},
    }
