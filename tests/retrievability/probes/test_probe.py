import numpy as np
import pytest

from argus.errors import InputError
from argus.retrievability.probes import Probe
from argus.retrievability.probes.models import fit_ridge
from argus.retrievability.probes.probe import fit_domain


@pytest.fixture
def probe(learnable):
    vectors, labels = learnable
    model, _ = fit_ridge((vectors, labels), (vectors, labels), alpha=0.01)
    domain = fit_domain(vectors[:400], vectors[400:])
    return Probe(model, domain, fingerprint="tiny", pooling="span", dim=24, k=50, pool=800)


def test_beyond_its_region_it_abstains_and_inside_it_speaks(probe, learnable):
    far = np.full((3, 24), 5, np.float32)
    prediction = probe.predict(np.vstack([learnable[0][:10], far]).astype(np.float32))
    assert prediction.states.tolist()[-3:] == ["abstained"] * 3
    assert np.isnan(prediction.rps[~prediction.in_domain]).all()
    assert ((prediction.rps >= 0) & (prediction.rps <= 1))[prediction.in_domain].all()
    assert np.isfinite(probe.estimate(far)).all()  # without abstention on request
    assert np.isfinite(prediction.domain_score).all()


def test_another_shape_is_refused(probe):
    with pytest.raises(InputError, match=r"vectors of shape \(2, 23\); expected \(n, 24\)"):
        probe.predict(np.zeros((2, 23), np.float32))
