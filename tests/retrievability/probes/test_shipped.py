import inspect
import statistics

import numpy as np
import pytest

from argus.retrievability.probes import load_default
from argus.retrievability.probes.probe import DEFAULTS


@pytest.fixture(scope="module")
def probe(minilm):
    return load_default(minilm.fingerprint)


def test_it_is_kilobytes_has_a_card_and_is_for_minilm(probe):
    files = [path for path in DEFAULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 614_400
    assert (DEFAULTS / "all-MiniLM-L6-v2" / "MODEL_CARD.md").is_file()
    assert (probe.pooling, probe.dim, probe.k, probe.pool) == ("span", 384, 50, 800)
    assert probe.family != "xgboost"  # it must work without the extra


def test_it_abstains_on_what_is_no_mention_of_an_entity(probe, minilm):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 384))
    noise = (noise / np.linalg.norm(noise, axis=1, keepdims=True)).astype(np.float32)
    assert not probe.predict(noise).in_domain.any()
    digits = [" ".join(map(str, rng.integers(0, 9999, 40))) for _ in range(12)]
    code = [inspect.getsource(f) for f in vars(statistics).values() if inspect.isfunction(f)][:12]
    for texts in (digits, code):
        in_domain = probe.predict(minilm.encode_documents(texts)).in_domain
        assert in_domain.mean() <= 0.1
