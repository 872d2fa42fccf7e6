"""What the form "Try" holds before anything was tried: what argus.toml of the project knows."""

from __future__ import annotations

import pytest

from argus.data.types import Document
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.service.app import create_app
from argus.service.page.repairs import Known, known_inputs
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


def shown(place):
    with Client(create_app(place)) as client:
        return client.open("/page/-/repairs").text


def test_files_in_the_folders_are_filled_in(made, monkeypatch):
    monkeypatch.chdir(made)
    place = open_workplace([made])
    assert known_inputs(made / "argus-index", place) == Known(FILES)
    text = shown(place)
    assert all(f'value="{file}"' in text for file in FILES.values())
    assert "outside the folders" not in text


def test_files_outside_are_told_and_how_a_trial_reads_them(made, monkeypatch):
    monkeypatch.chdir(made)
    place = open_workplace([made / "argus-index"])
    assert known_inputs(made / "argus-index", place) == Known(outside=FILES)
    text = shown(place)
    assert "<code>asked.jsonl</code>, <code>judged.tsv</code>: outside the folders" in text
    assert 'value="asked.jsonl"' not in text


def test_files_of_the_settings_that_jobs_have_are_named_and_not_sent(made, monkeypatch):
    monkeypatch.chdir(made)
    place = open_workplace([made / "argus-index"], config=made / "argus.toml")
    assert known_inputs(made / "argus-index", place) == Known(configured=FILES)
    text = shown(place)
    assert 'value="" placeholder="asked.jsonl, by the service&#39;s settings"' in text
    assert "outside the folders" not in text


def test_without_settings_nothing_is_known(made, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert known_inputs(made / "argus-index", open_workplace([made / "argus-index"])) == Known()
