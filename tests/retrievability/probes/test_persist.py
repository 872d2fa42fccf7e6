import json

import numpy as np
import pytest

from argus.errors import InputError
from argus.retrievability.probes import Probe, load_probe, save_probe
from argus.retrievability.probes.data import measure
from argus.retrievability.probes.probe import fit_domain


@pytest.fixture
def probe(fitted, learnable):
    vectors, labels = learnable
    return Probe(
        fitted[1], fit_domain(vectors, vectors), fingerprint="tiny", pooling="span",
        dim=24, k=50, pool=800, parameters={"a": 1}, training={"seed": 0},
        metrics={"test": measure(labels, fitted[1].predict(vectors))},
    )  # fmt: skip


def test_what_is_read_predicts_what_was_written(probe, learnable, tmp_path):
    folder = save_probe(probe, tmp_path / "out" / "probe")
    for place in (folder, tmp_path / "out"):  # the folder itself, or the results that hold it
        again = load_probe(place)
        one, other = again.predict(learnable[0]), probe.predict(learnable[0])
        np.testing.assert_array_equal(one.rps, other.rps)
        np.testing.assert_array_equal(one.domain_score, other.domain_score)
        for name in ("family", "fingerprint", "pooling", "parameters", "training", "metrics"):
            assert getattr(again, name) == getattr(probe, name)


def test_nothing_in_it_is_pickle(probe, tmp_path):
    folder = save_probe(probe, tmp_path)
    suffixes = {path.suffix for path in folder.iterdir()}
    assert suffixes <= {".json", ".safetensors", ".ubj"}
    for path in folder.iterdir():
        assert not path.read_bytes().startswith(b"\x80")  # pickle's first byte from protocol 2


def test_any_changed_or_missing_file_is_noticed(probe, tmp_path):
    folder = save_probe(probe, tmp_path)
    for path in [p for p in folder.iterdir() if p.name != "probe.json"]:
        content = path.read_bytes()
        for damaged in (content[:-3], content[:-1] + bytes([content[-1] ^ 1]), b""):
            path.write_bytes(damaged)
            with pytest.raises(InputError, match="is not as written; expected the probe"):
                load_probe(folder)
        path.unlink()
        with pytest.raises(InputError, match="is missing"):
            load_probe(folder)
        path.write_bytes(content)
    load_probe(folder)


def test_a_header_that_is_not_ours_is_refused(probe, tmp_path):
    header = save_probe(probe, tmp_path) / "probe.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"family": "forest"}))
    with pytest.raises(InputError, match="family 'forest' is none of ridge"):
        load_probe(tmp_path)
