"""Repairs that are killed or run out of space: the index stays whole, the next run finishes."""

import os
import signal
import subprocess
import sys

import pytest

from argus.errors import ArgusError
from argus.indexes.views import ViewIndex
from tests.support.repairs import receipt, remedies, timeless

KILLED = '''
import dataclasses, os, signal, sys
from pathlib import Path

import argus.encoders.store as store
import argus.remedies.expansion as expand
from argus.remedies.config import ROBUST
import argus.remedies.receipt as receipt
import argus.remedies.repair as remedy
from argus.data.folders import ArtifactFolder
from argus.encoders import EncoderConfig, load_encoder
from argus.indexes.views import ViewIndex
from argus.remedies.config import ReferenceConfig


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def after(owner, name, when=lambda *_: True):
    """Die when owner.name has done what it does."""
    real = getattr(owner, name)

    def last(*args, **options):
        result = real(*args, **options)
        if when(*args):
            die()
        return result

    setattr(owner, name, last)


def vectors_without_keys(*args, **options):
    after(store, "append_bytes", lambda path, _: path.name == "vectors.f32")
    return embed(*args, **options)


def half_added(self, *args):
    yield from batches(self, *args)
    die()


embed, batches = remedy.embed, ViewIndex._batches
STAGES = {
    "making": lambda: setattr(expand, "check_context", die),
    "embedding": lambda: setattr(remedy, "embed", vectors_without_keys),
    "adding": lambda: setattr(ViewIndex, "_batches", half_added),
    "added": lambda: after(ViewIndex, "add"),
    "receipt": lambda: setattr(receipt, "rank_risks", die),
    "summary": lambda: after(ArtifactFolder, "write_section", lambda *a: a[2] == "remedy"),
    "report": lambda: setattr(receipt, "write_report", die),
}
kb, tau, *indexes = sys.argv[1:]
model = load_encoder(EncoderConfig(precision="float32")).encoder
for index in indexes:
    if os.fork() == 0:
        STAGES[Path(index).name]()
        reference = ReferenceConfig(kb=(Path(kb),))
        config = dataclasses.replace(ROBUST, max_views=4)  # as the fixture does
        expand.expand_index(
            index, reference=reference, config=config, encoder=model, tau=float(tau)
        )
        os._exit(0)
    print(Path(index).name, os.waitstatus_to_exitcode(os.wait()[1]))
'''


STAGES = ("making", "embedding", "adding", "added", "receipt", "summary", "report")


@pytest.fixture(scope="module")
def killed(repairable, tmp_path_factory):
    """Indexes whose repair was killed, one at each stage; in "embedding" nothing was embedded."""
    folder = tmp_path_factory.mktemp("killed")
    indexes = [repairable.copy(folder / stage, store=stage != "embedding") for stage in STAGES]
    command = [sys.executable, "-c", KILLED, repairable.kb, repairable.tau, *indexes]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}  # OpenMP's other threads do not survive a fork
    ran = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, env=alone
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split("\n")[:-1] == [f"{stage} {-signal.SIGKILL}" for stage in STAGES]
    return folder


@pytest.fixture(scope="module")
def undisturbed(repairable, tmp_path_factory):
    """The same repair, whole: (result, index), of an index with the texts' vectors and without."""
    folder = tmp_path_factory.mktemp("whole")
    indexes = {store: repairable.copy(folder / str(store), store=store) for store in (True, False)}
    return {store: (repairable.expand(index), index) for store, index in indexes.items()}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_repair_leaves_the_index_whole_and_goes_on(repairable, killed, undisturbed, stage):
    index = killed / stage
    whole, intact = undisturbed[stage != "embedding"]
    before, after = repairable.answers(repairable.built), repairable.answers(intact)
    added = stage in ("added", "receipt", "summary", "report")
    assert remedies(index) == ([whole.remedy] if added else [])
    assert repairable.answers(index) == (after if added else before)
    assert not (index / "remedies" / whole.remedy / "report.html").exists()
    half = index / "views.lance" / "_versions" / ".tmpO94leL"  # as LanceDB leaves it at a kill
    half.write_bytes(b"half")
    again = repairable.expand(index)
    assert again.remedy == whole.remedy
    assert repairable.answers(index) == after
    assert not half.exists()
    assert receipt(again) == receipt(whole)
    assert again.summary["added"], "the command added it, whichever of its runs did"
    own = {"seconds": again.summary["seconds"], "index": str(index)}
    # with what was noted when the views were made
    assert timeless(again.summary) == timeless(whole.summary | own)
    assert again.report.is_file()
    assert not repairable.expand(index).summary["added"]
    assert list(index.rglob("*.partial")) == []


def test_a_full_disk_while_views_are_added_changes_nothing(
    repairable, index, full_disk, monkeypatch, undisturbed
):
    whole, intact = undisturbed[True]
    before = repairable.answers(index)
    full_disk(ViewIndex, "add", 4096)
    with pytest.raises(ArgusError, match=r"adding views failed .*The index is as it was before"):
        repairable.expand(index)
    assert remedies(index) == []
    assert repairable.answers(index) == before
    monkeypatch.undo()
    again = repairable.expand(index)
    assert receipt(again) == receipt(whole)
    assert repairable.answers(index) == repairable.answers(intact)
