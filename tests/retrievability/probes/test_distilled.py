"""The small network that large probes teach."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from argus.retrievability.probes import distilled as module
from argus.retrievability.probes.distilled import kernel_ridge
from argus.retrievability.probes.estimators import DistilledProbe, MLPProbe
from argus.retrievability.probes.models import MlpModel


def test_it_is_as_small_as_a_network_and_errs_less_where_labels_are_noisy(learnable):
    vectors, labels = learnable
    rng = np.random.default_rng(3)
    noisy = np.clip(labels + rng.normal(scale=0.25, size=len(labels)), 0, 1)
    split = (vectors[:400], noisy[:400]), (vectors[400:480], noisy[400:480])
    settings = {"width": 32, "depth": 2, "max_epochs": 60}
    plain = MLPProbe(**settings, batch_size=64, learning_rate=1e-3)
    taught = DistilledProbe(**settings, teacher_width=256)
    errors = []
    for probe in (plain, taught):
        probe.fit(*split[0], validation=split[1])
        errors.append(np.sqrt(np.mean((probe.predict(vectors[480:]) - labels[480:]) ** 2)))
    assert isinstance(taught.model_, MlpModel)
    sizes = [sum(a.nbytes for a in probe.model_.arrays().values()) for probe in (plain, taught)]
    assert sizes[0] == sizes[1]
    assert errors[1] < errors[0]


def test_the_kernel_that_teaches_is_kernel_ridge_on_anchors_in_half_precision(
    learnable, monkeypatch
):
    vectors, labels = learnable
    stored = vectors[:500].astype(np.float16).astype(np.float64)
    plain = KernelRidge(alpha=module.PENALTY, kernel="rbf", gamma=module.GAMMA)
    plain.fit(stored, labels[:500] - labels[:500].mean())
    expected = plain.predict(vectors[500:].astype(np.float64)) + labels[:500].mean()
    for rows in (7, module.ROWS):
        monkeypatch.setattr(module, "ROWS", rows)
        found = kernel_ridge(vectors[:500], labels[:500], vectors[500:], 0)
        np.testing.assert_allclose(found, expected, atol=1e-4)
