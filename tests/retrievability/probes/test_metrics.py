import numpy as np
import pytest

from argus.retrievability.probes.data import measure


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
