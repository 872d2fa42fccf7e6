from importlib import import_module

import pytest

import argus
from argus.data.types import Document
from argus.errors import InputError
from argus.knowledge import KnowledgeSource
from tests.support.in_process_engine import InProcessEngine
from tests.support.word_encoder import WordEncoder

NAMES = ["Alder Hall", "Birch House", "Cedar Lodge", "Dogwood Inn", "Elm Court", "Fir Gate"]
DOCUMENTS = [
    Document(f"d{i}", f"{name} stands beside {NAMES[(i + 1) % 6]}.", name)
    for i, name in enumerate(NAMES)
]


class TwoMachines(InProcessEngine):
    """One of them may not see what is asked for."""

    def __init__(self, blind=()):
        super().__init__()
        self.blind, self.looked_for = list(blind), []

    def describe(self):
        return super().describe() | {"machines": 2}

    def unseen(self, path):
        self.looked_for.append(path)
        return self.blind


@pytest.fixture
def large(monkeypatch):
    """All vectors count as too many to be sent."""
    monkeypatch.setattr(import_module("argus.encoders.store"), "LARGE_BYTES", 100)


def test_vectors_that_a_machine_cannot_read_are_refused_first(large, tmp_path):
    source = KnowledgeSource(relations="mentions")
    config = argus.retrievability.AuditConfig(k=(1,), pool=(3,))
    engine = TwoMachines(["10.0.0.2"])
    jobs = [
        lambda out: argus.audit(
            DOCUMENTS, out=out, source=source, config=config, encoder=WordEncoder(), engine=engine
        ),
        lambda out: argus.exposure(DOCUMENTS, out=out, encoder=WordEncoder(), engine=engine),
    ]
    for i, job in enumerate(jobs):
        out = tmp_path / str(i)
        with pytest.raises(InputError, match=r"10\.0\.0\.2 .*cannot read.*6 vectors.*that they"):
            job(out)
        assert engine.setups == []
        assert sorted(path.name for path in (out / "embeddings").iterdir()) == [
            "lock", "store.json"
        ]  # fmt: skip
