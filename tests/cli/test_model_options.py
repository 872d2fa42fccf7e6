"""`--model`, at an endpoint or on this machine, and the options that go with each."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from argus.cli.signatures import with_blocks
from argus.errors import InputError
from argus.llm import ChatConfig, LocalConfig
from argus.llm.config import NamedModel

app = typer.Typer()
seen = []


@app.command()
@with_blocks
def asking(asked: NamedModel = None) -> None:
    seen.append(asked)


def run(*arguments: object):
    seen.clear()
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return seen[0]


def test_a_name_is_a_model_of_an_endpoint():
    config = run("--model", "m", "--max-tokens", 7, "--keep-failed")
    assert isinstance(config, ChatConfig)
    assert (config.model, config.max_tokens_override, config.retry_failed) == ("m", 7, False)
    assert run("--model", "m").retry_failed and run() is None


@pytest.mark.parametrize("spelling", ["--base-url", "--llm-base-url"])
def test_the_endpoint_has_two_spellings_by_hand_and_in_a_file(spelling, tmp_path: Path):
    assert run("--model", "m", spelling, "http://h/v1").base_url == "http://h/v1"
    path = tmp_path / "argus.toml"
    path.write_text(f"model = 'm'\n{spelling[2:]} = 'http://f/v1'\nretry-failed = false\n")
    config = run("--config", path)
    assert (config.base_url, config.retry_failed) == ("http://f/v1", False)


def test_local_chooses_a_model_on_this_machine():
    config = run(
        "--model", "local:some/where", "--adapter", "a", "--max-tokens", 9, "--concurrency", 3
    )
    assert config == LocalConfig(
        model="some/where", adapter=Path("a"), max_tokens_override=9, concurrency=3
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "local:m", "--base-url", "http://h"), "--base-url with --model local:m"),
        (("--model", "local:m", "--budget", 1, "--input-price", 1), "--budget, --input-price with"),
        (("--model", "local:m", "--timeout", 1), "--timeout: --timeout with --model local:m"),
        (("--model", "local:"), "--model: no model"),
        (("--model", "m", "--adapter", "a"), "--adapter: --adapter with --model m"),
        (("--adapter", "a"), "--adapter: --adapter without --model"),
        (("--keep-failed",), "without --model; expected --model NAME"),
    ],
)
def test_an_option_that_means_nothing_is_refused_with_the_mend(arguments, message):
    with pytest.raises(InputError) as raised:
        run(*arguments)
    assert message in str(raised.value)
