import pytest

from argus.engine import EngineConfig
from argus.errors import InputError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "dask"}, r"--engine: 'dask'; expected one of local, ray\. Leave it out"),
        ({"address": "auto"}, r"--address: 'auto' for the local engine; .*Add --engine ray"),
        ({"name": "ray", "address": "head"}, r"--address: 'head'; expected host:port .*6379"),
        ({"name": "ray", "address": "http://h:1"}, r"'http://h:1'; expected host:port"),
        ({"name": "ray", "address": "user:pw@h:1"}, r"expected host:port"),
        ({"workers": 0}, r"--workers: 0; expected a whole number from 1"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        EngineConfig(**options)
