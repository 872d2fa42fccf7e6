"""Values of ARGUS' figures are those of the audit that they are of."""

import json
from pathlib import Path

import pytest

from argus.suite import sources as module
from argus.suite.recipes import ReachRequest
from argus.suite.sources import SOURCES, Setting
from tests.retrievability.results.conftest import audits  # noqa: F401


@pytest.fixture
def measure(audits, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(module, "_audited", lambda *_: audits["keen"])
    setting = Setting(tmp_path, tmp_path, tmp_path, tmp_path, None, None)

    def run(**asked):
        requests = {
            name: ReachRequest(knowledge="kb", reach=reach, k=k, pool=pool)
            for name, (reach, k, pool) in asked.items()
        }
        figures = SOURCES[ReachRequest].measure(list(requests.values()), setting)
        return {name: figures[request] for name, request in requests.items()}

    return run


def test_they_are_those_of_the_audit(measure, audits):  # noqa: F811
    told = json.loads((Path(audits["keen"]) / "summary.json").read_text())["audit"]
    n = sum(told["bands"].values())
    shares = {name: count / n for name, count in told["bands"].items()}
    assert measure(**{name: (name, 10, 160) for name in shares}) == pytest.approx(shares)
    for curve, at in (("curve_over_pool", lambda v: (10, v)), ("curve_over_k", lambda v: (v, 160))):
        values, above = told[curve]["values"], told[curve]["share_above_half"]
        found = measure(**{f"at {v}": ("above half", *at(v)) for v in values[:12]})
        assert list(found.values()) == pytest.approx(above[:12])
    whole = measure(mean=("mean RPS", 10, 160), lda=("held out", 10, 160))
    assert whole["mean"] == pytest.approx(told["mean_rps"], abs=1e-6)
    assert whole["lda"] == pytest.approx(told["projection"]["accuracy"], abs=1e-6)
