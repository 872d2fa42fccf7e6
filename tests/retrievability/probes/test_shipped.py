import inspect
import statistics

import numpy as np
import pytest

from argus.data import Span
from argus.errors import InputError
from argus.retrievability.probes import load_default
from argus.retrievability.probes.shipped import DEFAULTS


@pytest.fixture(scope="module")
def probe(minilm):
    return load_default(minilm.fingerprint)


def test_it_is_kilobytes_has_a_card_and_is_for_minilm(probe):
    files = [path for path in DEFAULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 614_400
    assert (DEFAULTS / "all-MiniLM-L6-v2" / "MODEL_CARD.md").is_file()
    assert (probe.pooling, probe.dim, probe.k, probe.pool) == ("span", 384, 50, 800)
    assert probe.family != "xgboost"  # it must work without the extra


def test_the_card_says_what_the_probe_says(probe):
    card = (DEFAULTS / "all-MiniLM-L6-v2" / "MODEL_CARD.md").read_text()
    for name in ("pearson", "spearman", "rmse"):
        assert f"{probe.metrics['test'][name]:.3f}" in card
    assert f"{probe.domain.threshold:.3f}" in card
    assert "a reference and no bound" in card and "no probe can" not in card


def test_it_abstains_on_what_is_no_mention_of_an_entity(probe, minilm):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 384))
    noise = (noise / np.linalg.norm(noise, axis=1, keepdims=True)).astype(np.float32)
    assert not probe.predict(noise).in_domain.any()
    digits = [" ".join(map(str, rng.integers(0, 9999, 40))) for _ in range(30)]
    code = [inspect.getsource(f) for f in vars(statistics).values() if inspect.isfunction(f)][:30]
    for texts in (digits, code):
        in_domain = probe.predict(minilm.encode_documents(texts)).in_domain
        assert in_domain.mean() <= 0.1


def test_it_speaks_of_entities_it_has_not_seen(probe, minilm):
    text = "Lisbon is the capital and largest city of Portugal, on the Atlantic coast."
    prediction = probe.predict(minilm.encode_spans([text], [Span(0, 6)]))
    assert prediction.in_domain.all() and 0 <= prediction.rps[0] <= 1


def test_an_encoder_without_a_probe_is_told_how_to_fit_one():
    with pytest.raises(InputError, match="no probe ships for other@1 with span pooling") as caught:
        load_default("other@1")
    assert "all-MiniLM-L6-v2" in str(caught.value) and "argus probe fit" in str(caught.value)


def test_bfloat16_moves_a_prediction_less_than_its_error(probe, minilm, shared):
    """Why the precision in a fingerprint is not compared: noise at its cosine of 0.9999."""
    from argus.corpora.opening import read_corpus

    documents = read_corpus(shared("fb15k237"), limit=200)
    documents = [d for d in documents if d.text.startswith(d.title) and d.title]
    spans = [Span(0, len(d.title)) for d in documents]
    vectors = minilm.encode_spans([d.text for d in documents], spans)
    noise = np.random.default_rng(0).normal(size=vectors.shape)
    noise *= np.tan(np.arccos(0.9999)) / np.linalg.norm(noise, axis=1, keepdims=True)
    moved = np.abs(probe.estimate((vectors + noise).astype(np.float32)) - probe.estimate(vectors))
    assert moved.mean() < 0.05 < probe.metrics["test"]["rmse"]
