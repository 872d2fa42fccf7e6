"""Whole jobs on the local engine and on a Ray cluster of this machine give what they give here."""

import json
from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.data.types import Document
from argus.engine import EngineConfig, open_engine
from argus.engine.local import AHEAD
from argus.errors import EncodingError
from argus.indexes.job import add_documents, build_index
from argus.indexes.views import ViewIndex, originals
from argus.knowledge import KnowledgeSource
from argus.retrievability import audit as audit_job
from argus.retrievability.audit import audit
from argus.retrievability.config import AuditConfig
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.slow

N = 240
FIRST = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]
SECOND = ["Court", "Gate", "Hall", "House"]
THIRD = ["Ash", "Bay", "Cliff", "Dale", "End", "Ford", "Green", "Hill", "Isle", "Lake"]
TITLES = [f"{a} {b} {c}" for a in FIRST for b in SECOND for c in THIRD]
CONFIG = AuditConfig(k=(5,), pool=(50,))
VOLATILE = {
    "parts", "started", "finished", "timings_s", "invocation", "peak_memory_bytes", "environment",
    "engine",
}  # fmt: skip


@pytest.fixture(scope="module")
def documents():
    """240 documents; each names two others by their titles."""
    rows = []
    for i, title in enumerate(TITLES):
        near, far = TITLES[(i + 1) % N], TITLES[(7 * i + 3) % N]
        text = f"{title} lies {i} miles from {near}. Its road number {i % 17} leads on to {far}."
        rows.append(Document(f"d{i:03}", text, title))
    return rows


@pytest.fixture(scope="module")
def ray():
    with open_engine(EngineConfig(name="ray", workers=2)) as engine:
        yield engine


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(import_module("argus.encoders.embed"), "BATCH_TEXTS", 40)
    monkeypatch.setattr(audit_job, "PART_QUERIES", 64)


def sections(out, job, name):
    return json.loads((out / name).read_text())[job]


def settled(out, job):
    """What a job's manifest says that must not depend on where it ran."""
    section = sections(out, job, "manifest.json")
    section["encoder"].pop("precision_trials", None)
    return {key: value for key, value in section.items() if key not in VOLATILE}


def agree(a, b, job):
    """Assert that two folders hold the same results of a job."""
    left, right = ({p.name: pq.read_table(p) for p in out.glob("*.parquet")} for out in (a, b))
    assert left == right and left
    assert sections(a, job, "summary.json") == sections(b, job, "summary.json")
    assert settled(a, job) == settled(b, job)
    assert "engine" not in sections(a, job, "manifest.json")
    assert sections(b, job, "manifest.json")["engine"]["name"] in ("local", "ray")


def run_audit(documents, out, **options):
    source = KnowledgeSource(relations="mentions")
    options = {"encoder": WordEncoder(), "config": CONFIG} | options
    return audit(documents, out=out, source=source, **options)


@pytest.fixture(scope="module")
def audited(documents, tmp_path_factory):
    out = tmp_path_factory.mktemp("audited") / "here"
    run_audit(documents, out)
    return out


def test_an_audit_in_many_parts_is_the_same_to_the_last_bit(
    documents, audited, ray, tmp_path, small_batches
):
    run_audit(documents, tmp_path / "there", engine=ray)
    agree(audited, tmp_path / "there", "audit")
    assert not (tmp_path / "there" / "ranks").exists()


def test_an_index_that_is_built_and_added_to(documents, ray, tmp_path, small_batches):
    for name, where in (("here", None), ("there", ray)):
        build_index(documents[:200], out=tmp_path / name, encoder=WordEncoder(), engine=where)
        more = documents[200:]
        add_documents(tmp_path / name, more, encoder=WordEncoder(), engine=where)
    here, there = (ViewIndex.open(tmp_path / name) for name in ("here", "there"))
    assert originals(here) == originals(there)
    queries = WordEncoder().encode_queries(TITLES)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    assert here.search(queries, 20) == there.search(queries, 20)
    for job in ("index", "index add"):
        assert settled(tmp_path / "here", job) == settled(tmp_path / "there", job)
        assert "engine" in sections(tmp_path / "there", job, "manifest.json")


def test_a_worker_that_is_killed_costs_one_block(documents, audited, ray, tmp_path, small_batches):
    trap = tmp_path / "trap"
    trap.mkdir()
    run_audit(documents, tmp_path / "there", encoder=WordEncoder(trap, then="die"), engine=ray)
    assert (trap / "died").exists()
    agree(audited, tmp_path / "there", "audit")
    begun = Counter((tmp_path / "trap.begun").read_text().splitlines())
    assert len(begun) == N / 40
    assert 1 <= sum(begun.values()) - len(begun) <= AHEAD  # what the dead worker had in hand


def test_what_stopped_on_a_cluster_goes_on_on_this_machine(
    documents, audited, ray, tmp_path, small_batches
):
    trap, out = tmp_path / "trap", tmp_path / "there"
    trap.mkdir()
    stored = out / "embeddings" / "keys.bin"
    broken = WordEncoder(trap, then="refuse", until=stored)
    with pytest.raises(EncodingError, match="the encoder is out of order"):
        run_audit(documents, out, encoder=broken, engine=ray)
    stored_bytes = stored.read_bytes()
    assert 0 < len(stored_bytes) <= 2 * 40 * 16
    run_audit(documents, out, engine=EngineConfig(workers=2))
    assert stored.read_bytes().startswith(stored_bytes)
    agree(audited, out, "audit")
