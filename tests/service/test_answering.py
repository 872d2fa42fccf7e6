"""The records that are served: what controls, as of a time, and files that change meanwhile."""

import io
import json
import shutil
import time

import pytest

from argus.service import answering
from argus.service.answering import ServedAuthority
from argus.service.telemetry import Log
from tests.support.superseding import story_source

FIX_2 = {"_id": "fix-2", "type": "patch", "timestamp": "2024-05-01", "entities": {"cve": "2"}}


@pytest.fixture
def folder(story, tmp_path):
    shutil.copytree(story, tmp_path / "story", ignore=shutil.ignore_patterns("index"))
    return tmp_path / "story"


def opened(folder, log=None, **changes):
    return ServedAuthority(story_source(folder, **changes), log)


def controlling(authority, id_, as_of=None):
    (resolved,) = authority.resolve([id_], as_of)
    return [one["id"] for one in resolved["controlling"]]


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_records_that_cannot_be_read_again_leave_the_last_ones(folder, monkeypatch):
    monkeypatch.setattr(answering, "CHECK_S", 0.0)
    out = io.StringIO()
    authority = opened(folder, Log(out=out))
    before = controlling(authority, "flaw-1")
    whole = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_text("{\n")
    controlling(authority, "flaw-1")
    wait_for(lambda: "records not read again" in out.getvalue())
    assert controlling(authority, "flaw-1") == before
    mended = folder / "mended.jsonl"
    mended.write_bytes(whole + json.dumps(FIX_2).encode() + b"\n")
    mended.replace(folder / "records.jsonl")
    wait_for(lambda: controlling(authority, "flaw-2") == ["fix-2"])
