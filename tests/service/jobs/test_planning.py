"""What a request may start: declared options, folders of the workplace, nothing else."""

from dataclasses import replace

import pytest

from argus.authority.config import AuthoritySource
from argus.cli.groups import Loaded
from argus.cli.main import COMMANDS
from argus.cli.startable import ArgusCommands
from argus.errors import InputError
from argus.service.jobs.planning import STARTABLE, JobRequest, as_request, plan_job
from argus.service.workplace import Workplace

# Every other command, and why it is none of a service's jobs.
PROMPT_ONLY = {
    "init": "asks its questions of a person",
    "compare": "names retrievers, and code of theirs, freely",
    "doctor": "tells of the machine, not of the folders",
    "serve": "is what runs already",
    "authority search": "GET /search answers from records, too",
    "authority stream": "prints its figures, and writes none",
}


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
        place, "tune try", index="served", queries=str(place.folders[0] / "q.jsonl"),
        **{"only-try": True, "folds": 3},
    )  # fmt: skip
    inside = place.folders[0].resolve()
    assert planned.words == ("tune", "try")
    assert planned.arguments == (
        f"--index={inside}/ix", f"--queries={inside}/q.jsonl", "--folds=3", "--only-try",
    )  # fmt: skip
    assert planned.writes == (inside / "ix",)
    hostile = plan(place, "tune undo", index="served", remedy="--help")
    assert hostile.arguments[-2:] == ("--", "--help")
    assert plan(place, "explain", query="--json", doc_id="d", index="served").arguments[-3:] == (
        "--", "--json", "d",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "options", "where"),
    [
        ("serve", {}, "command"),
        ("index build", {"corpus": "INSIDE/d", "out": "INSIDE/o", "encoder": "evil"}, "encoder"),
        ("index build", {"corpus": "INSIDE/d", "out": "/tmp/elsewhere"}, "out"),
        ("research suite", {"suite": "INSIDE/grid.toml", "out": "INSIDE/o"}, "suite"),
        ("research kb build", {"wikipedia": "/etc", "out": "INSIDE/o"}, "wikipedia"),
        ("tune try", {"index": "/etc"}, "index"),
        ("tune try", {"index": "served", "queries": "../../etc/passwd"}, "queries"),
        ("tune try", {"index": "served", "queries": "INSIDE/away/q.jsonl"}, "queries"),
        ("tune try", {"index": "served", "queries": "INSIDE/../outside/q"}, "queries"),
        ("tune try", {"index": "served", "queries": "a\0b"}, "queries"),
        ("tune try", {"index": "served", "model": "gpt"}, "model"),
        ("tune try", {"index": "served", "base-url": "http://elsewhere"}, "base-url"),
        ("tune try", {"index": "served", "api_key_env": "AWS_SECRET"}, "api_key_env"),
        ("tune try", {"index": "served", "encoder": "evil/model"}, "encoder"),
        ("tune try", {"index": "served", "config": "INSIDE/x.toml"}, "config"),
        ("tune try", {"index": "served", "nothing": 1}, "nothing"),
        ("tune try", {"index": "served", "folds": "many"}, "tune try"),
        ("tune try", {"index": "served", "only_try": "yes"}, "only_try"),
        ("tune try", {}, "tune try"),
        ("check", {"corpus": "INSIDE/d", "out": "INSIDE/o", "retriever": "x.py:f"}, "retriever"),
        ("check", {"corpus": "INSIDE/d"}, "out"),
        ("check", {"source": "INSIDE/d", "sources": "sql:SELECT 1", "out": "INSIDE/o"}, "sources"),
        ("check", {"corpus": "qdrant:http://elsewhere/docs", "out": "INSIDE/o"}, "corpus"),
        ("check", {"corpus": "INSIDE/d", "out": "INSIDE/o", "revision": "x"}, "revision"),
        ("check", {"corpus": "INSIDE/d", "out": "INSIDE/o", "engine": "ray", "address": "x"},
         "address"),
        ("check", {"store": "qdrant:http://elsewhere/docs", "out": "INSIDE/o"}, "store"),
        ("check", {"store": "served", "out": "INSIDE/o"}, "store"),
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


def test_the_file_of_the_service_may_be_named_and_its_places_are_inside(place, tmp_path):
    out, config = place.folders[0] / "report", tmp_path / "argus.toml"
    config.write_text(f'[check]\nout = "{out}"\n[evaluate]\nout = "{tmp_path / "outside"}"\n')
    place = replace(place, config=config)
    planned = plan(place, "check", config=str(config))
    assert planned.writes == (out.resolve(),)
    assert planned.arguments[0] == f"--config={config.resolve()}"
    with pytest.raises(InputError, match="outside the folders"):
        plan(place, "evaluate", config=str(config))
    with pytest.raises(InputError, match="never by a request"):
        plan(place, "check", config=str(tmp_path / "other.toml"))


def test_an_index_elsewhere_is_read_but_not_changed(place, tmp_path):
    other = Workplace(place.folders, index=str(tmp_path / "outside@original"))
    planned = plan(other, "explain", query="q", doc_id="d", index="served")
    assert f"--index={tmp_path / 'outside'}@original" in planned.arguments
    with pytest.raises(InputError, match="outside the folders"):
        plan(other, "tune try", index="served")


@pytest.mark.parametrize(
    ("command", "given", "where", "file"),
    [
        ("gate", {"folders": ["."]}, "junit", "records.jsonl"),
        ("gate", {"folders": ["."]}, "markdown", "linked.md"),
        ("authority accept", {"file": "p.csv"}, "to", "notes.txt"),
    ],
)
def test_no_job_writes_over_a_file_that_no_job_made(
    place, monkeypatch, command, given, where, file
):
    inside = place.folders[0]
    monkeypatch.chdir(inside)
    for name in ("records.jsonl", "rules.yaml", "notes.txt"):
        (inside / name).write_text("of a person")
    (inside / "linked.md").symlink_to("notes.txt")
    source = AuthoritySource(records=inside / "records.jsonl", rules=str(inside / "rules.yaml"))
    request = JobRequest(command=command, options=given | {where: str(inside / file)})
    served = frozenset(str(inside / name) for name in ("records.jsonl", "rules.yaml"))
    for wrote in (frozenset(), served):  # what is served is no job's to write, whoever made it
        with pytest.raises(InputError, match="would be lost") as error:
            plan_job(request, replace(place, authority=source), ArgusCommands(), wrote)
        assert error.value.where == where


def test_a_typed_command_is_the_same_request():
    line = "argus explain --index=served --k 3 -- '--json' d"
    options = {"index": "served", "k": "3", "query": "--json", "doc_id": "d"}
    assert as_request(line, ArgusCommands()) == JobRequest(command="explain", options=options)
    typed = as_request("argus tune apply blend --index served", ArgusCommands())  # of three words
    assert typed == JobRequest(command="tune apply blend", options={"index": "served"})
    for wrong in ("argus gate --nope", "argus explain q d e", "argus serve x", "argus gate a | ls"):
        with pytest.raises(InputError):
            as_request(wrong, ArgusCommands())
