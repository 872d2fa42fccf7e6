import numpy as np
import pytest

from argus.retrievability.audit_findings import project_bands


def clouds(centres, each=80, dim=6, seed=0):
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(each, dim)) * 0.3 + np.eye(dim)[i] * 4 for i in range(len(centres))]
    return np.concatenate(points).astype(np.float32), np.repeat(centres, each)


def test_bands_are_separated_on_their_axes_as_the_name_says():
    vectors, bands = clouds(["low", "mid", "high"])
    projection = project_bands(vectors, bands)
    assert projection.method == "LDA" and projection.points.shape == (240, 2)
    centres = {b: projection.points[bands == b].mean(axis=0) for b in ("low", "mid", "high")}
    spread = max(projection.points[bands == b].std(axis=0).max() for b in centres)
    gaps = [np.linalg.norm(centres[a] - centres[b]) for a, b in (("low", "mid"), ("mid", "high"))]
    assert min(gaps) > 5 * spread
    assert projection.accuracy > 0.95
    vectors, bands = clouds(["low", "high"])
    assert "principal component" in project_bands(vectors, bands).method
    assert project_bands(vectors, np.full(160, "low")).method == "PCA"
    assert project_bands(vectors[:2], bands[:2]) is None


def test_noise_is_separated_by_chance_alone():
    noise = np.random.default_rng(0).normal(size=(300, 64)).astype(np.float32)
    projection = project_bands(noise, np.repeat(["low", "mid", "high"], 100))
    assert projection.accuracy < 0.45 and projection.majority == pytest.approx(1 / 3, abs=1e-4)
