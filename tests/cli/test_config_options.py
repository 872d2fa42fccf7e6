"""Configs as options: what a command takes, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from argus.cli import options as o
from argus.cli.config_options import INTERRUPTED, Without, with_blocks
from argus.errors import InputError
from argus.settings import Doc, Ge, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class Inner:
    depth: Annotated[int, Ge(1), Doc("How deep.")] = 3


@dataclass(frozen=True, kw_only=True)
class Measure:
    k: Annotated[tuple[int, ...], Ge(1), Doc("Results.")] = (10, 50)
    weight: Annotated[float, Doc("Of a score."), Option(("--lambda",))] = 0.7
    files: Annotated[tuple[Path, ...], Doc("Files."), Option(("--file",), repeated=True)] = ()
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class Engine:
    name: Annotated[str, Doc("Which."), Option(("--engine",))] = "local"
    workers: Annotated[int | None, Ge(1), Doc("How many.")] = None


class Way(StrEnum):
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class Other:
    depth: Annotated[int, Ge(1), Doc("Another depth.")] = 3


app = typer.Typer()
calls: list[tuple[object, ...]] = []


@app.command()
@with_blocks
def run(
    *,
    measure: Measure,
    engine: Engine | None,
    name: Annotated[str, Doc("Of the run.")] = "x",
) -> None:
    calls.append((measure, engine, name))


def called(*arguments: str) -> tuple[object, ...]:
    calls.clear()
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return calls[0]


def test_without_options_every_config_has_its_defaults():
    assert called() == (Measure(), None, "x")


def test_every_setting_is_an_option_under_its_spelling():
    measure, engine, _ = called(
        "--k", "1, 2", "--lambda", "0.5", "--file", "a", "--file", "b", "--depth", "7",
        "--workers", "2",
    )  # fmt: skip
    assert measure == Measure(
        k=(1, 2), weight=0.5, files=(Path("a"), Path("b")), inner=Inner(depth=7)
    )
    assert engine == Engine(workers=2)


def test_a_file_sets_them_by_the_same_names(tmp_path):
    path = tmp_path / "argus.toml"
    path.write_text("k = [3, 4]\nlambda = 0.25\ndepth = 2\nfile = ['c']\n")
    measure, _, _ = called("--config", str(path))
    assert measure == Measure(k=(3, 4), weight=0.25, files=(Path("c"),), inner=Inner(depth=2))


@pytest.mark.parametrize("text", ["abc", "2,", "1.5"])
def test_text_that_is_no_number_is_refused_whole(text):
    with pytest.raises(InputError) as refused:
        called("--k", text)
    assert refused.value.where == "--k" and repr(text) in refused.value.got


@pytest.mark.parametrize(
    ("option", "fix"),
    [("--way", "For example up."), ("--sizes", "Correct it, or leave it out.")],
)
def test_a_default_of_nothing_is_no_example(option, fix):
    choosing = typer.Typer()

    @choosing.command()
    @with_blocks
    def choose(
        *,
        way: Annotated[Way | None, Doc("Which way.")] = None,
        sizes: Annotated[tuple[int, ...], Doc("How large.")] = (),
    ) -> None: ...

    refused = CliRunner().invoke(choosing, [option, "sideways"]).exception
    assert isinstance(refused, InputError)
    assert (refused.where, refused.fix) == (option, fix)


def test_two_settings_of_one_name_are_a_fault():
    with pytest.raises(TypeError, match="--depth"):

        @with_blocks
        def both(*, inner: Inner, other: Other) -> None: ...


def test_an_option_s_home_is_the_config_that_declares_it():
    homes = {
        "k": "Measure.k", "lambda_": "Measure.weight", "file": "Measure.files",
        "depth": "Inner.depth", "engine": "Engine.name", "workers": "Engine.workers",
    }  # fmt: skip
    assert vars(run)["homes"] == homes


def test_a_command_may_leave_settings_out():
    @with_blocks
    def part(*, measure: Annotated[Measure, Without("weight", "inner")]) -> None: ...

    assert list(vars(part)["__signature__"].parameters) == ["k", "file", "config"]


def test_ctrl_c_says_what_is_kept_and_how_to_go_on():
    stopping = typer.Typer()

    @stopping.command()
    @with_blocks
    def stop(*, out: o.Out = Path("report"), fresh: o.Fresh = False) -> None:
        raise KeyboardInterrupt

    for arguments, again in (([], "same command goes on"), (["--fresh"], "without --fresh")):
        result = CliRunner().invoke(stopping, arguments)
        assert result.exit_code == INTERRUPTED
        assert "kept in report" in result.stderr and again in result.stderr
