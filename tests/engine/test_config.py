import pytest

from argus.engine import EngineConfig
from argus.engine.cluster import Facts, Node
from argus.engine.ray_connect import environment, misfit
from argus.engine.ray_driver import passed_on
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
        ({"connect_timeout_s": 0}, r"connect_timeout_s: 0; expected a number above 0"),
        ({"start_timeout_s": float("nan")}, r"start_timeout_s: nan; expected a number above 0"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        EngineConfig(**options)


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("10.0.0.1:6379", ("10.0.0.1", 6379)),
        ("ray://head.example:10001", ("head.example", 10001)),
        ("[::1]:6379", ("::1", 6379)),
        ("auto", None),
        (None, None),
    ],
)
def test_an_address_has_host_and_port(address, endpoint):
    assert EngineConfig(name="ray", address=address).endpoint == endpoint


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


@pytest.mark.parametrize(
    ("differs", "message"),
    [
        ({}, None),
        ({"python": "3.9.1"}, "10.0.0.2 (b) runs Python 3.9.1, this machine "),
        ({"ray": "2.40.0"}, "10.0.0.2 (b) has Ray 2.40.0, this machine 2.60.0"),
        ({"argus": "0.0.9"}, "10.0.0.2 (b) has argus 0.0.9, this machine 0.1.0"),
        (
            {"argus": None, "reason": "ModuleNotFoundError: No module named 'argus'"},
            "10.0.0.2 (b) cannot import argus (ModuleNotFoundError: No module named 'argus')",
        ),
    ],
)
def test_a_machine_of_other_versions_is_said_to_be(differs, message):
    import platform

    node = Node(id="x", address="10.0.0.2", cores=1, gpus=0, memory=0, object_store=0)
    own = {"host": "b", "python": platform.python_version(), "ray": "2.60.0", "argus": "0.1.0"}
    reason = misfit(node, Facts(**(own | differs)), "0.1.0", "2.60.0")
    assert reason is None if message is None else reason is not None and reason.startswith(message)
    assert misfit(node, None, "0.1.0", "2.60.0") == "10.0.0.2 does not answer"
