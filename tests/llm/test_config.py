import dataclasses

import pytest

from argus.errors import InputError
from argus.llm import ChatConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "nonsense"}, "--base-url: 'nonsense'"),
        ({"api_key": "sk-0123 "}, "--api-key-env"),
        ({"timeout_s": float("nan")}, "--timeout: nan; expected a number above 0"),
        ({"requests_per_minute": 0}, "--requests-per-minute: 0"),
        ({"budget": 1.0}, "--budget: input price None, output price None, budget 1.0"),
        ({"input_price": 1.0}, "--budget: input price 1.0, output price None"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_at_once(options, message):
    with pytest.raises(InputError) as raised:
        ChatConfig(**{"model": "m"} | options)
    assert message in str(raised.value)


def test_key_and_address_are_not_shown():
    config = ChatConfig(model="m", api_key="sk-secret", base_url="http://h/v1?key=abc")
    assert "sk-secret" not in repr(config) and "abc" not in repr(config)
    assert dataclasses.replace(config, model="n").api_key == "sk-secret"
