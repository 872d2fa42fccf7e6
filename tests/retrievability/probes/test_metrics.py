import numpy as np
import pytest

from argus.retrievability.probes.metrics import describe_labels, measure


def test_every_measure_by_hand():
    # Bands: low low mid high; predicted low mid mid mid.
    labels = np.array([0.0, 0.2, 0.5, 0.9])
    predicted = np.array([0.1, 0.4, 0.5, 0.6])
    found = measure(labels, predicted)
    assert found["rmse"] == pytest.approx(np.sqrt((0.01 + 0.04 + 0 + 0.09) / 4))
    assert found["mae"] == pytest.approx(0.15)
    assert found["spearman"] == pytest.approx(1)
    assert found["accuracy"] == 0.5
    # low: P 1, R 1/2, F 2/3. mid: P 1/3, R 1, F 1/2. high: nothing predicted.
    assert found["macro_precision"] == pytest.approx((1 + 1 / 3) / 3)
    assert found["macro_recall"] == pytest.approx((1 / 2 + 1) / 3)
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert found["weighted_precision"] == pytest.approx((2 * 1 + 1 / 3) / 4)
    assert found["weighted_f1"] == pytest.approx((2 * 2 / 3 + 1 / 2) / 4)


def test_the_sampling_reference_is_what_expected_labels_reach():
    """Hits are probabilities: p(1-p)/|T_x|, of hits that are 0 or 1, is far too large."""
    rng = np.random.default_rng(0)
    related = rng.integers(2, 30, size=20_000)
    truth = rng.beta(1, 2.5, size=len(related))
    owner = np.repeat(np.arange(len(related)), related)
    hits = rng.beta(5 * truth[owner], 5 * (1 - truth[owner]))
    labels = np.bincount(owner, hits) / related
    variance = np.bincount(owner, (hits - labels[owner]) ** 2) / (related - 1)
    found = describe_labels(labels, related, variance)
    perfect = measure(labels, truth)
    assert found["std"] == pytest.approx(labels.std(), abs=1e-6)
    assert found["sampling_rmse"] == pytest.approx(perfect["rmse"], rel=0.02)
    assert found["sampling_pearson"] == pytest.approx(perfect["pearson"], abs=0.01)
    assert found["related_median"] == np.median(related)
    assert np.sqrt((labels * (1 - labels) / related).mean()) > 2 * found["sampling_rmse"]
