"""`--model`, at an endpoint or on this machine, and the options that go with each."""

import pytest
import typer
from typer.testing import CliRunner

from argus.errors import InputError

app = typer.Typer()
seen = []


def run(*arguments: object):
    seen.clear()
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return seen[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "local:m", "--base-url", "http://h"), "--base-url with --model local:m"),
        (("--model", "local:m", "--budget", 1, "--input-price", 1), "--budget, --input-price with"),
        (("--model", "local:m", "--timeout", 1), "--timeout: --timeout with --model local:m"),
        (("--model", "local:"), "model: no model"),
        (("--model", "m", "--adapter", "a"), "--adapter: --adapter with the endpoint's model 'm'"),
        (("--adapter", "a"), "--adapter: --adapter without --model"),
        (("--keep-failed",), "without --model; expected --model NAME"),
    ],
)
def test_an_option_that_means_nothing_is_refused_with_the_mend(arguments, message):
    with pytest.raises(InputError) as raised:
        run(*arguments)
    assert message in str(raised.value)
