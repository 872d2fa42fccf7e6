import pytest

from argus.engine import EngineConfig
from argus.engine.on_ray import environment, passed_on
from argus.errors import InputError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "dask"}, r"--engine: 'dask'; expected one of local, ray\. Leave it out"),
        ({"address": "auto"}, r"--address: 'auto' for the local engine; .*Add --engine ray"),
        ({"name": "ray", "address": "head"}, r"--address: 'head'; expected host:port .*6379"),
        ({"name": "ray", "address": "h:70000"}, r"'h:70000'; expected host:port"),
        ({"name": "ray", "address": "http://h:1"}, r"'http://h:1'; expected host:port"),
        ({"name": "ray", "address": "user:pw@h:1"}, r"expected host:port"),
        ({"workers": 0}, r"--workers: 0; expected a whole number from 1"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        EngineConfig(**options)


def test_a_cluster_here_keeps_to_loopback_and_sends_no_stats(monkeypatch):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    here = environment(EngineConfig(name="ray"))
    there = environment(EngineConfig(name="ray", address="10.0.0.1:6379"))
    assert here["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert here["RAY_AUTH_MODE"] == "token"
    assert here["RAY_USAGE_STATS_ENABLED"] == there["RAY_USAGE_STATS_ENABLED"] == "0"
    assert not {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_AUTH_MODE"} & set(there)


def test_workers_get_settings_and_no_secret_that_is_not_named():
    environ = {
        "HF_HUB_OFFLINE": "1",
        "ARGUS_SHARED": "/data",
        "ARGUS_API_KEY": "secret",
        "OPENAI_API_KEY": "secret",
        "OTHER": "x",
    }
    base = {"HF_HUB_OFFLINE": "1", "ARGUS_SHARED": "/data", "TOKENIZERS_PARALLELISM": "false"}
    assert passed_on(environ, ()) == base
    assert passed_on(environ, ("OPENAI_API_KEY",)) == base | {"OPENAI_API_KEY": "secret"}
