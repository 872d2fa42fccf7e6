"""What a request may start: declared options, folders of the workplace, nothing else."""

from dataclasses import replace

import pytest

from argus.authority.config import AuthoritySource
from argus.cli.groups import Loaded
from argus.cli.main import COMMANDS
from argus.cli.startable import ArgusCommands
from argus.errors import InputError
from argus.service.jobs.planning import (
    PROMPT_ONLY,
    STARTABLE,
    JobRequest,
    plan_job,
)
from argus.service.workplace import Workplace


@pytest.fixture
def place(tmp_path):
    inside = tmp_path / "inside"
    (inside / "ix").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (inside / "away").symlink_to(tmp_path / "outside")
    return Workplace((inside,), index=str(inside / "ix"), retriever="mine.py:search")


def plan(place, command, **options):
    return plan_job(JobRequest(command=command, options=options), place, ArgusCommands())


def commands_of(inside, above=()):
    for word in inside:
        if further := getattr(inside[word], "commands", None):
            yield from commands_of(further, (*above, word))
        else:
            yield " ".join((*above, word))


def test_every_command_can_be_started_or_says_why_not():
    commands = list(commands_of(Loaded(COMMANDS)))
    assert sorted(commands) == sorted([*STARTABLE, *PROMPT_ONLY])
    for words in STARTABLE:
        assert ArgusCommands().declared(words.split())


def test_a_request_becomes_words_of_which_no_value_is_an_option(place):
    planned = plan(
        place, "repair", index="served", queries=str(place.folders[0] / "q.jsonl"),
        **{"only-try": True, "folds": 3},
    )  # fmt: skip
    inside = place.folders[0].resolve()
    assert planned.words == ("repair",)
    assert planned.arguments == (
        f"--index={inside}/ix", f"--queries={inside}/q.jsonl", "--folds=3", "--only-try",
    )  # fmt: skip
    assert planned.writes == (inside / "ix",)
    hostile = plan(place, "remedy rollback", index="served", remedy="--help")
    assert hostile.arguments[-2:] == ("--", "--help")
    assert plan(place, "explain", query="--json", doc_id="d", index="served").arguments[-3:] == (
        "--", "--json", "d",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "options", "where"),
    [
        ("serve", {}, "command"),
        ("repair; rm -rf /", {}, "command"),
        ("search", {"query": "q"}, "command"),
        ("index build", {"corpus": "INSIDE/d", "out": "INSIDE/o", "encoder": "evil"}, "encoder"),
        ("index build", {"corpus": "INSIDE/d", "out": "/tmp/elsewhere"}, "out"),
        ("remedy synthesize", {"index": "served", "model": "m"}, "model"),
        ("suite", {"file": "INSIDE/grid.toml", "out": "INSIDE/o"}, "file"),
        ("kb build", {"wikipedia": "/etc", "out": "INSIDE/o"}, "wikipedia"),
        ("repair", {"index": "/etc"}, "index"),
        ("repair", {"index": "served", "queries": "../../etc/passwd"}, "queries"),
        ("repair", {"index": "served", "queries": "INSIDE/away/q.jsonl"}, "queries"),
        ("repair", {"index": "served", "queries": "INSIDE/../outside/q"}, "queries"),
        ("repair", {"index": "served", "out": "/tmp/elsewhere"}, "out"),
        ("repair", {"index": "served", "queries": "a\0b"}, "queries"),
        ("repair", {"index": "served", "queries": ""}, "queries"),
        ("repair", {"index": "served", "model": "gpt"}, "model"),
        ("repair", {"index": "served", "base-url": "http://elsewhere"}, "base-url"),
        ("repair", {"index": "served", "api_key_env": "AWS_SECRET"}, "api_key_env"),
        ("repair", {"index": "served", "encoder": "evil/model"}, "encoder"),
        ("repair", {"index": "served", "adapter": "INSIDE/lora"}, "adapter"),
        ("repair", {"index": "served", "config": "INSIDE/x.toml"}, "config"),
        ("repair", {"index": "served", "device": "cuda"}, "device"),
        ("repair", {"index": "served", "nothing": 1}, "nothing"),
        ("repair", {"index": "served", "folds": "many"}, "repair"),
        ("repair", {"index": "served", "folds": 1}, "repair"),
        ("repair", {"index": "served", "folds": [3, 4]}, "folds"),
        ("repair", {"index": "served", "folds": True}, "folds"),
        ("repair", {"index": "served", "only_try": "yes"}, "only_try"),
        ("repair", {}, "repair"),
        ("exposure", {"corpus": "INSIDE/d", "out": "INSIDE/o", "retriever": "x.py:f"}, "retriever"),
        ("exposure", {"corpus": "INSIDE/d"}, "out"),
        ("exposure", {"corpus": "qdrant:http://elsewhere/docs", "out": "INSIDE/o"}, "corpus"),
        ("exposure", {"corpus": "INSIDE/d", "out": "INSIDE/o", "trust_remote_code": True},
         "trust_remote_code"),
        ("exposure", {"corpus": "INSIDE/d", "out": "INSIDE/o", "revision": "main"}, "revision"),
        ("exposure", {"corpus": "INSIDE/d", "out": "INSIDE/o", "engine": "ray", "address": "x"},
         "address"),
        ("reach", {"store": "qdrant:http://elsewhere/docs", "out": "INSIDE/o"}, "store"),
        ("reach", {"store": "served", "out": "INSIDE/o"}, "store"),
        ("remedy blend", {"store": "chroma:x/docs"}, "store"),
        ("gate", {"folders": ["/etc"]}, "folders"),
    ],
)  # fmt: skip
def test_what_is_refused_names_what_was_wrong(place, command, options, where):
    inside = str(place.folders[0])
    whole = {
        name: value.replace("INSIDE", inside) if isinstance(value, str) else value
        for name, value in options.items()
    }
    with pytest.raises(InputError) as error:
        plan(place, command, **whole)
    assert str(error.value.where) == where


def test_an_index_elsewhere_is_read_but_not_changed(place, tmp_path):
    other = Workplace(place.folders, index=str(tmp_path / "outside@original"))
    planned = plan(other, "explain", query="q", doc_id="d", index="served")
    assert f"--index={tmp_path / 'outside'}@original" in planned.arguments
    with pytest.raises(InputError, match="outside the folders"):
        plan(other, "repair", index="served")


@pytest.mark.parametrize(
    ("command", "options", "where"),
    [
        ("gate", {"folders": ["INSIDE"], "junit": "INSIDE/records.jsonl"}, "junit"),
        ("gate", {"folders": ["INSIDE"], "junit": "INSIDE/rules.yaml"}, "junit"),
        ("gate", {"folders": ["INSIDE"], "markdown": "INSIDE/linked.md"}, "markdown"),
        ("authority accept", {"file": "INSIDE/p.csv", "to": "INSIDE/notes.txt"}, "to"),
    ],
)
def test_no_job_writes_over_a_file_that_no_job_made(place, command, options, where):
    inside = place.folders[0]
    for name in ("records.jsonl", "rules.yaml", "notes.txt", "page.html"):
        (inside / name).write_text("of a person")
    (inside / "linked.md").symlink_to("notes.txt")
    source = AuthoritySource(records=inside / "records.jsonl", rules=str(inside / "rules.yaml"))
    place = replace(place, authority=source)
    whole = {
        name: [v.replace("INSIDE", str(inside)) for v in value] if isinstance(value, list)
        else value.replace("INSIDE", str(inside))
        for name, value in options.items()
    }  # fmt: skip
    served = frozenset(str(inside / name) for name in ("records.jsonl", "rules.yaml"))
    for wrote in (frozenset(), served):  # what is served is no job's to write, whoever made it
        with pytest.raises(InputError, match="would be lost") as error:
            plan_job(JobRequest(command=command, options=whole), place, ArgusCommands(), wrote)
        assert error.value.where == where
