"""Every command that a verdict can show is one that Argus has, with options that it takes."""

import json
import os
import shlex
import shutil

import pytest
import typer

import argus
from argus.cli.main import app
from argus.verdict.counts import KINDS, Results
from argus.verdict.places import Places, Project


def parses(line):
    """Parse each command of a line as the command line would; nothing runs."""
    for part in line.split(" && "):
        words = shlex.split(part)
        assert words[0] == "argus"
        command, rest = typer.main.get_command(app), words[1:]
        while hasattr(command, "commands"):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context(command.name, list(rest))


@pytest.fixture
def folder(exposed, files, tmp_path):
    out = tmp_path / "with a space"
    shutil.copytree(exposed, out)
    return out


def test_what_measures_each_count_parses(folder):
    places = Results.of(folder).places
    for kind in KINDS:
        parses(kind.measured_by(places))


def test_paths_with_spaces_are_quoted(folder):
    assert f"'{folder}'" in argus.read_verdict(folder).counts[0].command


SECTIONS = {
    "nothing more": {},
    "lost records": {"reach": {"k": 10, "reachable": 10, "broken": {},
                               "reached": {"asked": 10, "reached": 8, "low": 0.4, "high": 0.9}}},
    "a harmful repair": {"evaluation": {
        "headline": "nDCG@10", "queries": {"total": 9, "measured": 9},
        "comparison": {"nDCG@10": {"verdict": "worse", "mean_difference": -0.1}}}},
    "superseded": {"authority": {
        "k": 10, "documents": {"total": 20, "superseded": 10},
        "proxies": {"text": {"documents": 10, "reachable": 0.2}}}},
    "some scenarios": {"ablation": {
        "headline": "nDCG@10", "coverage": {
            "documents": 40, "with_remedy": 4, "relevant": 9, "relevant_with_remedy": 4},
        "whole": {"usual": {"component": "M+E", "lambda": 0.7}, "rows": [
            {"system": "documents", "component": None, "lambda": None, "comparison": None},
            {"system": "scenarios", "component": "M+E", "lambda": 0.7,
             "comparison": {"mean_difference": 0.2, "low": 0.1, "high": 0.3}}]}}},
    "a blend in a store": {"written": {
        "remedy": "blend-1", "store": "qdrant:http://127.0.0.1:6333/docs",
        "collection": "qdrant:http://127.0.0.1:6333/docs_argus"}},
    "a log": {"traffic": {
        "k": 10, "superseded": None, "questions": {"different": 9}, "retriever": None,
        "log": {"hash_only": False, "asks": 9, "files": {"log.jsonl": "plain"}, "fields": {},
                "first": None, "last": None},
        "results": {"logged": 7, "answered": 0, "unknown": 2},
        "unmet": {"questions": 9, "largest": [
            {"words": "tide, moon", "questions": 4, "asks": 7,
             "examples": ["why 'spring' tide?"]}]}}},
}  # fmt: skip


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("is_index", [False, True])
def test_every_thing_to_do_parses(folder, name, is_index):
    file = folder / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | SECTIONS[name]))
    if is_index:
        (folder / "index.json").write_text("{}")
        (folder / "scenarios").mkdir()
    actions = argus.read_verdict(folder).actions
    assert actions
    for action in actions:
        parses(action.command)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("lost records", "Delete and add the 2 records"),
        ("some scenarios", "Write what the other 36 documents are needed for"),
        ("superseded", "Serve what is in force"),
    ],
)
def test_what_was_measured_here_decides_what_comes_first(folder, name, title):
    file = folder / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | SECTIONS[name]))
    assert argus.read_verdict(folder).actions[0].title.startswith(title)


@pytest.mark.parametrize("what", ["corpus", "reach"])
def test_a_store_is_asked_and_blended_where_it_is(folder, what):
    """No index is built of it, and it is no file of records."""
    store, file = "qdrant:http://127.0.0.1:6333/docs", folder / "manifest.json"
    manifest = json.loads(file.read_text())
    inputs = manifest["exposure"]["inputs"]
    del manifest["exposure"]["config"]["retrievers"]
    if what == "corpus":
        inputs["corpus"]["file"] = store
    else:
        del inputs["corpus"]
        manifest["reach"] = manifest["exposure"] | {"config": {"store": store}}
    file.write_text(json.dumps(manifest))
    places = Results.of(folder).places
    assert places.blending.startswith(f"argus remedy blend --store {store} --encoder ")
    assert places.evaluating.startswith(f"argus evaluate --retriever {store} --corpus {store} ")
    assert " --encoder " in places.evaluating
    assert (places.corpus, places.records) == (store, "RECORDS")
    for line in (places.blending, *(kind.measured_by(places) for kind in KINDS)):
        parses(line)


@pytest.mark.parametrize(
    ("fingerprint", "toml", "encoder"),
    [
        ("sentence-transformers:intfloat/e5-small@12 float32", "", "intfloat/e5-small"),
        ("sentence-transformers:all-MiniLM-L6-v2@12 float32", "", "all-MiniLM-L6-v2"),
        ("own:12", 'encoder = "intfloat/e5-base"', "intfloat/e5-base"),
        ("own:12", "", "MODEL"),
    ],
)
def test_what_an_index_wrote_into_a_store_is_judged_with_the_encoder_of_the_index(
    tmp_path, monkeypatch, fingerprint, toml, encoder
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "argus.toml").write_text(toml)
    section = {"config": {}, "inputs": {}, "encoder": {"fingerprint": fingerprint}}
    places = Places(tmp_path, {"remedy write": section}, Project.here())
    assert f" --encoder {encoder} " in places.evaluating_blend("qdrant:a", "qdrant:b")


def test_a_blend_in_a_store_is_judged_and_not_recommended_again(folder):
    """Against the store's own search, of chunks folded as before; whoever asks it has it."""
    store, file = "qdrant:http://127.0.0.1:6333/docs", folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["exposure"]["inputs"]["corpus"]["file"] = store
    manifest["exposure"]["config"] |= {"retrievers": [store], "parent_field": "page.url"}
    file.write_text(json.dumps(manifest))
    summary = folder / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | SECTIONS["a blend in a store"]))
    commands = [action.command for action in argus.read_verdict(folder).actions]
    assert not any("remedy blend" in line for line in commands)
    judging = f"argus evaluate --retriever {store} --retriever blended:{store}_argus --corpus "
    assert next(line for line in commands if line.startswith(judging)).count(
        f"--corpus {store} --parent-field page.url --encoder MODEL --queries "
    )
    del manifest["exposure"]["config"]["parent_field"]
    manifest["exposure"]["config"]["retrievers"] = [f"blended:{store}_argus"]
    file.write_text(json.dumps(manifest))
    summary.write_text(
        json.dumps({k: v for k, v in json.loads(summary.read_text()).items() if k != "written"})
    )
    lines = [action.command for action in argus.read_verdict(folder).actions]
    assert lines and not any("remedy blend" in line for line in lines)


def test_argus_toml_fills_in_what_the_results_do_not_name(folder, tmp_path, monkeypatch):
    """Questions, judgements, rules and a language model: no word in capitals is left of them."""
    manifest = json.loads((folder / "manifest.json").read_text())
    own = folder.parent / "docs.jsonl"
    shutil.copy(manifest["exposure"]["inputs"]["corpus"]["file"], own)
    manifest["exposure"]["inputs"]["corpus"]["file"] = str(own)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    assert "--queries QUERIES --qrels QRELS" in Results.of(folder).places.evaluating
    (tmp_path / "argus.toml").write_text(
        f'corpus = "{own}"\n[evaluate]\nqueries = "ask.jsonl"\nqrels = "judged.tsv"\n'
        '[authority.audit]\nrules = "rules.yaml"\nrecords = "laws.jsonl"\n'
        '[index.build]\nout = "my-index"\n'
        '[remedy.scenarios]\nmodel = "writer"\nbase-url = "http://127.0.0.1:8000/v1"\n'
    )
    verdict = argus.read_verdict(folder)
    lines = [action.command for action in verdict.actions]
    lines += [kind.measured_by(Results.of(folder).places) for kind in KINDS]
    assert any("--queries ask.jsonl --qrels judged.tsv" in line for line in lines)
    assert any("--model writer --base-url http://127.0.0.1:8000/v1" in line for line in lines)
    assert any("--records laws.jsonl --rules rules.yaml" in line for line in lines)
    assert not any(
        word in line for line in lines for word in ("QUERIES", "QRELS", "MODEL", "RULES")
    )
    for line in lines:
        parses(line)
    (tmp_path / "my-index").mkdir()
    (tmp_path / "my-index" / "index.json").write_text("{}")
    assert Results.of(folder).places.blending == "argus remedy blend --index my-index"


@pytest.mark.parametrize("text", ['corpus = "other.jsonl"\nqueries = "ask.jsonl"\n', "broken = "])
def test_the_settings_of_another_corpus_and_broken_ones_are_left_alone(
    folder, tmp_path, monkeypatch, text
):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["exposure"]["inputs"]["corpus"]["file"] = str(tmp_path / "docs.jsonl")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "argus.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert Results.of(folder).places.queries == "QUERIES"


def test_a_gate_is_told_of_for_what_it_compares():
    from argus.runs.figures import TRACKED
    from argus.verdict.verdict import COMPARED

    logs = {"traffic", "judging"}  # of the same search people ask other things: history tells them
    assert set(TRACKED) - logs == COMPARED


def test_a_project_is_read_past_a_mark_and_never_waited_for(tmp_path):
    (tmp_path / "argus.toml").write_text("\ufeffcorpus = 'docs'\n", encoding="utf-8")
    assert Project.of(tmp_path / "argus.toml").value("corpus") == "docs"
    os.mkfifo(tmp_path / "pipe")
    assert Project.of(tmp_path / "pipe") == Project.of(tmp_path / "none") == Project()


@pytest.mark.parametrize(
    ("jobs", "is_told"),
    [
        ({"index": 2026, "evaluation": 2025}, False),  # the clock was set back in between
        ({"index": 2025, "evaluation": 2026}, False),
        ({"evaluation": 2025, "index": 2026}, True),
    ],
)
def test_a_clock_alone_does_not_say_that_the_index_was_changed_since(folder, jobs, is_told):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    for job, year in jobs.items():
        section = manifest["exposure"] | {"finished": f"{year}-01-01T00:00:00+00:00"}
        manifest[job] = section | {"config": {"index": "i"}, "parts": {}}
    file.write_text(json.dumps(manifest))
    titles = [action.title for action in argus.read_verdict(folder).actions]
    assert any(title.startswith("Measure again") for title in titles) is is_told
