import numpy as np
import pytest

from argus.retrievability.geometry import project_bands


def clouds(centres, each=80, dim=6, seed=0):
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(each, dim)) * 0.3 + np.eye(dim)[i] * 4 for i in range(len(centres))]
    return np.concatenate(points).astype(np.float32), np.repeat(centres, each)


def test_three_bands_are_separated_on_two_axes():
    vectors, bands = clouds(["low", "mid", "high"])
    projection = project_bands(vectors, bands)
    assert projection.method == "LDA" and projection.points.shape == (240, 2)
    centres = {b: projection.points[bands == b].mean(axis=0) for b in ("low", "mid", "high")}
    spread = max(projection.points[bands == b].std(axis=0).max() for b in centres)
    gaps = [np.linalg.norm(centres[a] - centres[b]) for a, b in (("low", "mid"), ("mid", "high"))]
    assert min(gaps) > 5 * spread


def test_two_bands_and_one_band_are_shown_and_named():
    vectors, bands = clouds(["low", "high"])
    assert "principal component" in project_bands(vectors, bands).method
    assert project_bands(vectors, np.full(160, "low")).method == "PCA"
    assert project_bands(vectors[:2], bands[:2]) is None


def test_accuracy_when_held_out_tells_structure_from_noise():
    vectors, bands = clouds(["low", "mid", "high"])
    assert project_bands(vectors, bands).accuracy > 0.95
    noise = np.random.default_rng(0).normal(size=(300, 64)).astype(np.float32)
    projection = project_bands(noise, np.repeat(["low", "mid", "high"], 100))
    assert projection.accuracy < 0.45 and projection.majority == pytest.approx(1 / 3, abs=1e-4)


@pytest.mark.parametrize("names", [["low", "mid", "high"], ["low", "high"]])
def test_equal_embeddings_have_no_discriminant_or_accuracy(names):
    bands = np.repeat(names, 20)
    for vectors in (np.ones((len(bands), 8)), np.eye(8)[np.arange(len(bands)) % 2]):
        projection = project_bands(vectors.astype(np.float32), bands)
        assert projection.method == "PCA (the embeddings lie too close together for LDA)"
        assert projection.accuracy is None and projection.majority is None
        assert projection.points.shape == (len(bands), 2) and np.isfinite(projection.points).all()


@pytest.mark.parametrize("names", [["low", "mid", "high"], ["low", "high"]])
def test_embeddings_that_differ_in_one_fold_have_no_accuracy(names):
    bands = np.repeat(names, 20)
    vectors = np.ones((len(bands), 8), np.float32)
    vectors[-1, 0] = -1  # in the last fold: without it, all that is fitted is equal
    projection = project_bands(vectors, bands)
    assert projection.method.startswith("LDA")
    assert projection.method.endswith("(the embeddings lie too close together for an accuracy)")
    assert projection.accuracy is None
    assert projection.majority == pytest.approx(1 / len(names), abs=1e-4)
    assert np.isfinite(projection.points).all()
