"""`--config file.toml`: what it sets, and what is refused in it."""

import json
from pathlib import Path

import pytest


def test_config_values_are_used_and_options_win_over_them(
    text, argus, corpus: Path, tmp_path: Path
) -> None:
    config = text(
        tmp_path / "argus.toml",
        'seed = 3\n[research.audit]\nk = [2, 3]\npool = 5\npooling = "sentence"\n'
        "[check]\nsentences = 1\n",
    )
    common = ("research", "audit", "--corpus", corpus, "--out", "out", "--json", "--config", config)
    ran = argus(*common)
    assert ran.code == 0
    settings = [(s["k"], s["pool"]) for s in json.loads(ran.out)["settings"]]
    assert settings == [(2, 5), (3, 5)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["audit"]
    assert (manifest["config"]["pooling"], manifest["config"]["seed"]) == ("sentence", 3)

    ran = argus(*common, "--k", "1", "--pooling", "span")
    assert ran.code == 0
    assert [(s["k"], s["pool"]) for s in json.loads(ran.out)["settings"]] == [(1, 5)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["audit"]
    assert (manifest["config"]["pooling"], manifest["config"]["seed"]) == ("span", 3)


# A file for all commands: each reads its own part.
WHOLE = """\
seed = 3
precision = "float32"

[research.audit]
k = [2, 3]
pool = 5

[research.probe]
out = "probes"

[research.probe.fit]
audit = "nowhere"
families = ["ridge", "mlp"]

[index.build]
corpus = "no-corpus.jsonl"
out = "idx"

[evaluate]
index = ["missing-a", "missing-b"]
queries = "queries.jsonl"
qrels = "qrels.txt"

[tune.apply.expand]
kb = "kb.jsonl"
"""


@pytest.mark.parametrize(
    ("command", "reached"),
    [
        (("research", "audit", "--corpus", "none"), "argus: none: no such file or folder"),
        (("gate", "none"), "argus: argus gate: no check"),
        (("research", "probe", "fit"), "argus: nowhere: no audit in it"),
        (("research", "probe", "predict", "--entities", "e"), "argus: e: no such file"),
        (("index", "build"), "argus: no-corpus.jsonl: no such file or folder"),
        (("index", "add", "--index", "there", "--corpus", "c"), "argus: there: no such folder"),
        (("tune", "apply", "expand", "--index", "there"), "argus: there: no such folder"),
        (("evaluate",), "argus: missing-a: no such folder; expected a folder"),
    ],
)
def test_one_file_serves_every_command_in_a_group_or_not(
    text, argus, tmp_path: Path, command: tuple[str, ...], reached: str
) -> None:
    text(tmp_path / "queries.jsonl", '{"_id": "q", "text": "why?"}\n')
    text(tmp_path / "qrels.txt", "q 0 d 1\n")
    config = text(tmp_path / "argus.toml", WHOLE)
    ran = argus(*command, "--config", config)
    assert ran.code == 2
    assert ran.err.startswith(reached) and "argus.toml" not in ran.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("limi = 1", "field 'limi': unknown setting 'limi'; expected an option of argus: "),
        ("[chekc]\nk = 2", "field 'chekc': unknown table 'chekc'; expected tables called "
        "authority, "
         "check, "),
        ("[index]\nlimt = 1", "field 'index.limt': unknown setting 'limt'; expected an option of "
         "argus index: "),
        ("[index.buld]\nlimit = 2", "field 'index.buld': unknown table 'buld'; expected tables "
         "called add, build, compact, delete. Did you mean 'build'?"),
        ("[index.build]\nrelations = 2", "field 'index.build.relations': unknown setting"),
        ("[index.build.fit]\nseed = 2", "field 'index.build.fit': unknown table 'fit'; expected no "
         "table in argus index build. Remove it."),
        ("index = 'idx'", "field 'index': 'index' is a value; expected a table: argus index is a "
         "command. Set an option of that name in the table of its command."),
    ],
)  # fmt: skip
def test_a_typo_is_refused_where_it_stands(text, argus, tmp_path, content, message) -> None:
    config = text(tmp_path / "argus.toml", content + "\n")
    ran = argus("index", "build", "--corpus", "c", "--out", "o", "--config", config)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"argus: {config}, field ") and message in ran.err


TWICE = [
    (
        "max-low-rps-share = 0\nmax_low_rps_share = 1\n",
        "'max-low-rps-share' and 'max_low_rps_share' are one",
    ),
    ('config = "other.toml"\n', "names another file of settings"),
]


@pytest.mark.parametrize("header", ["", "[gate]\n"])
@pytest.mark.parametrize(("lines", "said"), TWICE)
def test_no_bound_of_a_file_is_passed_over(header, lines, said, text, argus, tmp_path) -> None:
    config = text(tmp_path / "argus.toml", header + lines)
    ran = argus("gate", "out", "--config", config)
    assert ran.code == 2 and f"{config}, field " in ran.err and said in ran.err


@pytest.mark.parametrize(
    "words",
    [
        "index build --corpus c.jsonl --out",
        "gate",
        "gate out --junit",
        "check --cache",
        "check --corpus",
        "explain x --index",
    ],
)
def test_an_empty_path_is_not_the_current_folder(words, argus, tmp_path) -> None:
    (tmp_path / "c.jsonl").write_text('{"_id": "d", "text": "a mill"}\n')
    ran = argus(*words.split(), "")
    assert ran.code == 2 and "is empty; expected the name of a file or folder" in ran.err
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.jsonl"]
