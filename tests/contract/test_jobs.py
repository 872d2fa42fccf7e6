"""What every command keeps to, on its example: the contract that a job may not break.

Each example runs once, in a copy of the folder that the one before it has left. Goldens are written
anew by ARGUS_GOLDENS=write; what changed in them is what changed for users.
"""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from argus.data.folders import read_manifest
from tests.conftest import Endpoint, serving
from tests.contract.examples import Examples, invoke
from tests.contract.golden import GOLDEN, differences, left
from tests.support.example_runs import COMMANDS, EXAMPLES, FOLLOWS
from tests.support.examples import answer, write_files

pytestmark = pytest.mark.slow
SECRET = "sk-contract-7f3a9c"
# Inputs of which the first that an example names is damaged.
READ = ("docs.jsonl", "records.jsonl", "queries.jsonl", "log.jsonl", "run.trec", "before.trec",
        "reviewed.csv", "changes.jsonl", "suite.toml", "more.jsonl")  # fmt: skip
MANIFEST_KEYS = (
    "argus", "started", "finished", "config", "inputs", "encoder", "counts", "invocation", "parts",
    "timings_s", "peak_memory_bytes", "environment",
)  # fmt: skip
# Commands without a golden, and why.
LEFT_OUT = {
    "argus demo": "what it does is what the others do; the README's test runs it",
    "argus doctor": "it tells of the machine",
    "argus init": "it writes a file of settings, which tests of init read",
}
# Commands whose figures are of weights: on another processor the last bits part them. Their goldens
# are compared by keys and numbers of rows.
TRAINED = ("probe", "generative train", "generative tune", "generative search", "scenarios distill")


@pytest.fixture(scope="module")
def examples(
    tmp_path_factory: pytest.TempPathFactory, shared: Callable[[str], Path], kept_vectors: Path
) -> Iterator[Examples]:
    """What runs each command's example once, with what comes before it."""
    home, source = tmp_path_factory.mktemp("examples"), shared("fb15k237")
    (home / "files").mkdir()
    write_files(home / "files", source)
    endpoint = Endpoint()
    endpoint.behave = answer
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.delenv("ARGUS_SHARED", raising=False)  # goldens are of the data that ships
        patch.setenv("OPENAI_API_KEY", SECRET)
        patch.setenv("ARGUS_TRUST", f"OPENAI_API_KEY={url}")
        yield Examples(home, source, kept_vectors, url)


def folder_of(name: str) -> str | None:
    """Return the folder that an example fills, as its words name it."""
    found = re.search(r"--out (\S+)", EXAMPLES[name])
    return found[1] if found else None


def test_every_command_has_an_example_of_one_line() -> None:
    assert not [name for name, line in EXAMPLES.items() if line is None]
    assert not [line for line in EXAMPLES.values() if len(line) > 130 or "\n" in line]
    assert all(f"{line} ".startswith(f"{name} ") for name, line in EXAMPLES.items())


def test_only_commands_follow_and_are_left_out() -> None:
    assert {*FOLLOWS, *FOLLOWS.values(), *LEFT_OUT} <= set(COMMANDS)


RUN = [name for name in EXAMPLES if name != "argus demo"]


@pytest.mark.parametrize("name", RUN)
def test_an_example_runs_as_it_stands(name: str, examples: Examples) -> None:
    ran = examples.after(name)
    assert ran.code == 0, ran.err
    for path in re.findall(r"--out (\S+)", EXAMPLES[name]):
        assert any((ran.folder / path).iterdir())


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in LEFT_OUT])
def test_what_it_comes_to_is_what_it_was(name: str, examples: Examples) -> None:
    ran = examples.after(name)
    got = json.loads(json.dumps(left(ran.folder, ran.before)))
    golden = GOLDEN / f"{name.replace(' ', '-')}.json"
    if os.environ.get("ARGUS_GOLDENS") == "write":
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(json.dumps(got, ensure_ascii=False, sort_keys=True) + "\n")
    by_shape = any(name.startswith(f"argus research {job}") for job in TRAINED)
    assert list(differences(json.loads(golden.read_text()), got, by_shape=by_shape)) == []


OF_FOLDERS = [name for name in EXAMPLES if folder_of(name) and name not in LEFT_OUT]


@pytest.mark.parametrize("name", OF_FOLDERS)
def test_a_job_keeps_what_made_it_and_shows_it(name: str, examples: Examples) -> None:
    out = examples.after(name).folder / str(folder_of(name))
    if not (out / "manifest.json").is_file():
        pytest.skip("it writes files of another's format")
    summary, manifest = json.loads((out / "summary.json").read_text()), read_manifest(out)
    assert summary.keys() == manifest.keys()
    for section in manifest.values():
        assert {*MANIFEST_KEYS} <= section.keys()
    code, _, err = invoke(["report", str(out)])
    assert code == 0, err
    assert "<h1" in (out / "report.html").read_text()


# Commands whose output is what is wrong.
TELLING = ("argus init", "argus doctor")
NAMED = {
    name: next((file for file in READ if file in shlex.split(line)), None)
    for name, line in EXAMPLES.items()
}


@pytest.mark.parametrize("name", [n for n, file in NAMED.items() if file and n not in TELLING])
def test_bad_input_is_told_in_two_lines_and_writes_nothing(name: str, examples: Examples) -> None:
    folder, file = examples.copy(name, "bad"), str(NAMED[name])
    (folder / file).write_text('{"_id": "d1", "text": \n')
    before = sorted(folder.rglob("*"))
    ran = examples.again(name, "bad")
    assert ran.code == 2 and file in ran.err, ran.err
    said = ran.err.strip().rpartition("argus: ")[2]  # behind the records of a log, as it reads them
    assert "Traceback" not in ran.err and said.count("\n") <= 2, ran.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in LEFT_OUT])
def test_a_killed_command_goes_on_and_comes_to_the_same(name: str, examples: Examples) -> None:
    whole = examples.after(name)
    if whole.renames < 2 or name in ("argus tune undo", "argus serve"):
        pytest.skip("it puts fewer than two files in place, is done by the first, or is asked")
    ran = examples.resumed(name)
    assert ran.code == 0, ran.err
    expected = left(whole.folder, whole.before)
    assert list(differences(expected, left(ran.folder, whole.before))) == []


@pytest.mark.parametrize("name", OF_FOLDERS)
def test_json_is_the_summary(name: str, examples: Examples) -> None:
    ran = examples.resumed(name)
    assert ran.code == 0, ran.err
    out = ran.folder / str(folder_of(name))
    if not (out / "summary.json").is_file():
        pytest.skip("it writes files of another's format")
    printed = json.loads(ran.out)
    sections = json.loads((out / "summary.json").read_text())
    assert any(
        section == {key: printed.get(key) for key in section}
        for section in (*sections.values(), sections)
    )


def test_no_file_holds_a_secret(examples: Examples) -> None:
    for name in RUN:
        ran = examples.after(name)
        assert SECRET not in ran.out + ran.err
        holding = [
            p for p in ran.folder.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()
        ]
        assert not holding
