"""The records that are served: what controls, as of a time, and files that change meanwhile."""

from __future__ import annotations

import io
import json
import shutil
import time
from itertools import pairwise

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


def superseding(folder, ids, pairs):
    """Write records, and edges of pairs of an older and a newer one; return the relation."""
    rows = [{"_id": id_, "type": "note", "text": f"Text of {id_}."} for id_ in ids]
    edges = [{"superseder": newer, "superseded": older} for older, newer in pairs]
    for name, lines in (("records", rows), ("edges", edges)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return opened(folder, rules=None, edges=folder / "edges.jsonl")


@pytest.fixture
def chained(folder):
    """Three hundred records, each superseded by the next."""
    ids = [f"d{i}" for i in range(300)]
    return superseding(folder, ids, pairwise(ids))


def test_long_chains_are_cut_and_told_with_their_length(chained):
    (last, first) = chained.resolve(["d299", "d0", "d0", "d299"])
    assert last["active"] and last["controlling"][0]["hops"] == 0
    (controlling,) = first["controlling"]
    assert (controlling["id"], controlling["hops"]) == ("d299", 299)
    assert [link["superseder"] for link in controlling["chain"]] == [f"d{i}" for i in range(1, 51)]
    answer = chained.resolve([f"d{i}" for i in range(299)])
    assert [one["controlling"][0]["hops"] for one in answer] == list(range(299, 0, -1))
    assert sum(len(one["controlling"][0]["chain"]) for one in answer) == 10_000
    assert answer[-1]["controlling"][0]["chain"] == []
