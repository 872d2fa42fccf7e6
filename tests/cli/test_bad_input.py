"""Every mistake a person can make at the command line: a message to act on, and exit code 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.cli.main import main

NAMES = (
    "Ada Lovelace",
    "Charles Babbage",
    "Difference Engine",
    "Analytical Engine",
    "Luigi Menabrea",
    "Mary Somerville",
    "Augustus De Morgan",
    "Michael Faraday",
    "Royal Society",
    "Lord Byron",
    "Bernoulli Number",
    "Jacquard Loom",
)
DOCUMENTS = [
    {"_id": f"d{i:02}", "title": name, "text": f"{name} was linked with {NAMES[(i + 1) % 12]}."}
    for i, name in enumerate(NAMES)
]
"""A ring: every document names the next, so each has two neighbours and nine neutrals."""


@dataclass
class Ran:
    code: object
    out: str
    err: str


Argus = Callable[..., Ran]


@pytest.fixture
def argus(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Argus:
    """Run the real command line in this process, in tmp_path. What escapes main() is a bug."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # typer frames its messages and would break the lines

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["argus", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(stopped.value.code or 0, captured.out, captured.err)

    return run


@pytest.fixture
def refused(argus: Argus, tmp_path: Path) -> Callable[..., str]:
    """Run an audit that must fail; return its message."""

    def run(*arguments: object, corpus: Path, writes: bool = False) -> str:
        ran = argus("audit", "--corpus", corpus, "--out", "out", *SMALL, *arguments)
        assert ran.code == 2
        assert ran.out == ""
        assert writes or not (tmp_path / "out").exists(), "bad input leaves no folder behind"
        return "\n".join(line for line in ran.err.splitlines() if not line.endswith(" ..."))

    return run


SMALL = ("--k", "2", "--pool", "5", "--precision", "float32")


def jsonl(path: Path, records: Sequence[object] = DOCUMENTS) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def text(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return jsonl(tmp_path / "data" / "corpus.jsonl")


def test_a_missing_corpus_is_named(refused, tmp_path: Path) -> None:
    message = refused(corpus=tmp_path / "none.jsonl")
    assert message == (
        f"argus: {tmp_path / 'none.jsonl'}: no such file or folder; expected a BEIR folder "
        "(corpus.jsonl inside) or a JSONL, CSV, TSV or Parquet file. Check the path."
    )


def test_a_folder_without_a_corpus_says_what_it_should_hold(refused, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    message = refused(corpus=tmp_path / "empty")
    assert message.startswith(f"argus: {tmp_path / 'empty'}: the folder holds no corpus file")
    assert "name it corpus.jsonl" in message


def test_an_unknown_ending_lists_the_known_ones(refused, tmp_path: Path) -> None:
    path = text(tmp_path / "corpus.docx", "x")
    message = refused(corpus=path)
    assert message.startswith(f"argus: {path}: file type .docx is not known; expected one of")
    assert ".jsonl, .ndjson, .csv, .tsv, .parquet" in message


def test_a_wrong_column_names_the_columns_and_the_option(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "abstract": "x"}])
    message = refused(corpus=path)
    assert message.startswith(
        f"argus: {path}, line 1: no text field among '_id', 'abstract'; expected one of 'text', "
    )
    assert message.endswith("Rename the column, or name yours with --text-field.")


def test_a_wrong_field_option_names_what_is_there(refused, corpus: Path) -> None:
    message = refused("--title-field", "heading", corpus=corpus)
    assert message.startswith(
        f"argus: {corpus}, line 1: no title field among '_id', 'title', 'text'; "
        "expected one of 'heading'."
    )


@pytest.mark.parametrize(("name", "content"), [("c.jsonl", ""), ("c.csv", "_id,text\n")])
def test_an_empty_corpus_is_refused(refused, tmp_path: Path, name: str, content: str) -> None:
    path = text(tmp_path / name, content)
    message = refused(corpus=path)
    assert message.startswith(f"argus: {path}: no document in it; expected at least one document.")


def test_a_duplicate_id_names_both_lines(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [*DOCUMENTS, {"_id": "d03", "text": "again"}])
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 13: id 'd03' was already given on line 4; "
        "expected one document per id. Remove or rename one of the two."
    )


def test_a_number_as_id_in_jsonl_names_line_field_and_option(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [DOCUMENTS[0], {"_id": 7, "text": "x"}])
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 2, field '_id': 7 is a number; expected a non-empty string. "
        'Write "7" in quotes, or pass --coerce-ids to read whole numbers as text.'
    )


def test_a_number_as_id_in_parquet_names_row_field_and_option(refused, tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"docid": [7], "text": ["x"]}), path)
    message = refused(corpus=path)
    assert message.startswith(f"argus: {path}, line 1, field 'docid': 7 is a number")
    assert "--coerce-ids" in message


def test_what_is_not_utf8_names_line_and_byte_and_how_to_convert(refused, tmp_path: Path) -> None:
    path = text(tmp_path / "c.csv", b"_id,title,text\na,A,fine\nb,B,caf\xe9\n")
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 3: byte 0xe9 at position 8 is not UTF-8; expected a UTF-8 file. "
        "Convert it: iconv -f LATIN1 -t UTF-8 c.csv > fixed.csv"
    )


def test_broken_json_in_the_middle_names_its_line_and_column(refused, tmp_path: Path) -> None:
    lines = [json.dumps(d) for d in DOCUMENTS]
    lines[5] = '{"_id": "d05", "text" "missing colon"}'
    path = text(tmp_path / "c.jsonl", "\n".join(lines))
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 6: broken JSON at column 23 (Expecting ':' delimiter): "
        '{"_id": "d05", "text" "missing colon"}; expected one JSON object per line. '
        "Mend or remove the line."
    )


def test_a_json_array_line_is_refused(refused, tmp_path: Path) -> None:
    path = text(tmp_path / "c.jsonl", '{"_id": "a", "text": "x"}\n["b", "y"]\n')
    message = refused(corpus=path)
    assert message.startswith(f'argus: {path}, line 2: a JSON list: ["b", "y"]; expected a JSON')


def test_a_csv_row_of_another_width_names_its_line_and_the_header(refused, tmp_path: Path) -> None:
    path = text(tmp_path / "c.csv", "_id,title,text\na,A,fine\nb,B,one, two\n")
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 3: 4 fields; expected 3 as in the header (_id, title, text). "
        "Quote fields that contain the delimiter, or mend the line."
    )


def test_a_text_that_is_no_string_names_line_and_field(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": ["one", "two"]}])
    message = refused(corpus=path)
    assert message.startswith(
        f"argus: {path}, line 1, field 'text': ['one', 'two'] is of type list"
    )


def test_an_edge_to_an_unknown_id_names_line_field_and_option(refused, corpus: Path) -> None:
    edges = text(corpus.parent / "edges.tsv", "d00\tknows\td01\nd01\tknows\td99\n")
    message = refused(corpus=corpus)
    assert message == (
        f"argus: {edges}, line 2, field 'object': 'd99' is not the id of an entity; expected one "
        "of the 12 ids read. Add the entity, mend the id, or pass --skip-unknown."
    )


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        ("e.csv", "left,right\nd00,d01\n", "line 2: columns are 'left', 'right'; expected an edge"),
        ("e.tsv", "d00\tr\td01\textra\n", "line 1: 4 columns; expected 3 (subject, relation"),
        ("e.tsv", "d00\tr\td01\nd00\td01\n", "line 2: 2 columns; expected 3 columns"),
        ("e.jsonl", '{"a": "d00"}\n', "line 1: columns are 'a'; expected an edge's end in one of"),
    ],
)
def test_edges_with_wrong_columns_name_line_and_columns(
    refused, corpus: Path, tmp_path: Path, name: str, content: str, where: str
) -> None:
    edges = text(tmp_path / name, content)
    assert refused("--relations", edges, corpus=corpus).startswith(f"argus: {edges}, {where}")


def test_missing_relations_and_entities_are_named(refused, corpus: Path) -> None:
    assert refused("--relations", "none.tsv", corpus=corpus).startswith(
        "argus: none.tsv: no such file; expected a .jsonl"
    )
    assert refused("--entities", "none.csv", corpus=corpus).startswith(
        "argus: none.csv: no such file; expected a .jsonl"
    )


def test_entities_that_all_lack_a_paragraph_cannot_be_measured(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [{**d, "text": " "} for d in DOCUMENTS])
    message = refused(corpus=path, writes=True)
    assert message.startswith("argus: Nothing can be measured: no entity has a paragraph.")
    assert "--text-field" in message


def test_entities_without_relations_cannot_be_measured(refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [{**d, "text": "No name in it."} for d in DOCUMENTS])
    message = refused(corpus=path, writes=True)
    assert message.startswith("argus: Nothing can be measured: no two related entities")
    assert "--relations" in message


def test_a_pool_beyond_the_eligible_says_how_large_it_may_be(
    refused, argus: Argus, corpus: Path
) -> None:
    message = refused("--pool", "50", corpus=corpus, writes=True)
    assert message == (
        "argus: --pool: N=50 needs 49 neutrals per query; expected at most the 9 that are eligible "
        "(12 entities with text, less the query and its neighbours). "
        "Use --pool 10 or less (and --k no larger)."
    )
    largest = argus(
        "audit", "--corpus", corpus, "--out", "largest", "--k", 2, "--pool", 10,
        "--precision", "float32",
    )  # fmt: skip
    assert largest.code == 0, "what the message advises works"


def test_k_beyond_the_pool_is_refused(refused, corpus: Path) -> None:
    message = refused("--k", "2,9", corpus=corpus)
    assert message == (
        "argus: --k: k=9 with a pool of N=5; expected k <= N, since an entity ranks among N "
        "candidates. Use --k up to 5, or a larger --pool."
    )


@pytest.mark.parametrize(
    ("arguments", "start", "expected"),
    [
        (("--k", "0"), "argus: --k: (0,);", "whole numbers from 1"),
        (("--pool", "0"), "argus: --pool: (0,);", "whole numbers from 1"),
        (("--k", "abc"), "argus: --k: 'abc';", "whole numbers, separated by commas"),
        (("--k", "2,"), "argus: --k: '2,';", "whole numbers, separated by commas"),
        (("--pool", "5.5"), "argus: --pool: '5.5';", "whole numbers, separated by commas"),
        (("--pooling", "mean"), "argus: --pooling: 'mean';", "span or sentence"),
        (
            ("--precision", "int3"),
            "argus: --precision: precision 'int3';",
            "one of auto, float32, bfloat16, float16",
        ),
    ],
)
def test_a_bad_option_is_named_with_what_was_expected(
    refused, corpus: Path, arguments: tuple[str, str], start: str, expected: str
) -> None:
    message = refused(*arguments, corpus=corpus)
    assert message.startswith(f"{start} expected {expected}. ")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--reservoir", "-1"), "--reservoir"),
        (("--limit", "0"), "--limit"),
        (("--poool", "5"), "--pool"),
    ],
)
def test_what_the_parser_refuses_is_named(
    refused, corpus: Path, arguments: tuple[str, str], shown: str
) -> None:
    assert shown in refused(*arguments, corpus=corpus)


def test_a_missing_required_option_is_named(argus: Argus) -> None:
    ran = argus("audit", "--out", "out")
    assert ran.code == 2
    assert "Missing option '--corpus'" in ran.err


def test_a_model_that_does_not_exist_is_named_with_what_to_do_offline(
    refused, corpus: Path
) -> None:
    message = refused("--encoder", "no-such/model", corpus=corpus, writes=True)
    assert message.startswith("argus: --encoder: model 'no-such/model' could not be loaded (")
    assert "Check the name; without network, give a folder, or use all-MiniLM-L6-v2" in message


def test_a_config_with_an_unknown_key_suggests_the_close_one(
    refused, corpus: Path, tmp_path: Path
) -> None:
    config = text(tmp_path / "argus.toml", "[audit]\npoolin = 'span'\n")
    message = refused("--config", config, corpus=corpus)
    assert message.startswith(
        f"argus: {config}, field 'poolin': unknown setting 'poolin'; expected an option of argus "
        "audit: api_key_env, base_url, "
    )
    assert message.endswith("Did you mean 'pooling'?")


def test_a_missing_config_is_named(refused, corpus: Path) -> None:
    message = refused("--config", "none.toml", corpus=corpus)
    assert message == "argus: none.toml: no such file; expected a TOML file. Check the path."


@pytest.mark.parametrize("content", [b"k = \n", b"k = 'caf\xe9'\n"])
def test_a_broken_config_says_where(refused, corpus: Path, tmp_path: Path, content: bytes) -> None:
    config = text(tmp_path / "argus.toml", content)
    message = refused("--config", config, corpus=corpus)
    assert message.startswith(f"argus: {config}: broken TOML (")
    assert message.endswith("expected TOML. Mend the file.")


def test_an_output_that_is_a_file_is_refused_and_kept(argus: Argus, corpus: Path) -> None:
    path = text(corpus.parent / "notes", "mine")
    ran = argus("audit", "--corpus", corpus, "--out", path, *SMALL)
    assert ran.code == 2
    assert ran.err == (
        f"argus: {path}: is a file; expected a folder for results. Give another --out.\n"
    )
    assert path.read_text() == "mine"


@pytest.mark.parametrize("command", ["audit", "exposure"])
def test_fresh_deletes_nothing_in_a_foreign_folder(
    argus: Argus, corpus: Path, tmp_path: Path, command: str
) -> None:
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    text(foreign / "chapter1.tex", "years of work")
    options = SMALL if command == "audit" else ("--precision", "float32")
    ran = argus(command, "--corpus", corpus, "--out", foreign, "--fresh", *options)
    assert ran.code == 2
    assert ran.err.startswith(f"argus: {foreign}: holds files that Argus did not write")
    assert "give another --out, or clear it" in ran.err
    assert (foreign / "chapter1.tex").read_text() == "years of work"


@pytest.mark.parametrize("exists", [True, False])
def test_a_report_needs_results(argus: Argus, tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "results"
    if exists:
        folder.mkdir()
    ran = argus("report", folder)
    assert ran.code == 2
    assert ran.err == (
        f"argus: {folder}: no summary.json and manifest.json in it; expected a folder that argus "
        "audit, exposure or demo wrote. Run one of them with --out set to this folder.\n"
    )


@pytest.fixture
def earlier(argus: Argus, corpus: Path, tmp_path: Path) -> dict[str, bytes]:
    """Run a good audit into `out`; return every file that it left."""
    assert argus("audit", "--corpus", corpus, "--out", "out", *SMALL).code == 0
    return contents(tmp_path / "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_a_fresh_run_on_a_broken_corpus_leaves_earlier_results_as_they_were(
    argus: Argus, earlier: dict[str, bytes], corpus: Path, tmp_path: Path
) -> None:
    assert {"summary.json", "manifest.json", "report.html", "retrievability.parquet"} <= set(
        earlier
    )
    text(corpus, corpus.read_text() + "{broken\n")
    ran = argus("audit", "--corpus", corpus, "--out", "out", *SMALL, "--fresh")
    assert ran.code == 2
    assert ran.err.startswith(f"argus: {corpus}, line 13: broken JSON")
    assert contents(tmp_path / "out") == earlier
    assert pq.read_table(tmp_path / "out" / "retrievability.parquet").num_rows == 12
    assert argus("report", "out").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--pool", "0"),
        ("--pooling", "mean"),
        ("--precision", "int3"),
        ("--relations", "none.tsv"),
        ("--entities", "none.tsv"),
        pytest.param(
            ("--encoder", "no-such/model"),
        ),
        pytest.param(
            ("--pool", "50"),
        ),
    ],
)
def test_a_fresh_run_with_a_bad_option_leaves_earlier_results_as_they_were(
    argus: Argus,
    earlier: dict[str, bytes],
    corpus: Path,
    tmp_path: Path,
    arguments: tuple[str, str],
) -> None:
    assert (
        argus("audit", "--corpus", corpus, "--out", "out", *SMALL, "--fresh", *arguments).code == 2
    )
    assert contents(tmp_path / "out") == earlier


def test_an_entity_without_paragraph_is_not_applicable_and_null_rather_than_zero(
    argus: Argus, tmp_path: Path
) -> None:
    records = [*DOCUMENTS, {"_id": "d12", "title": "Silent Partner", "text": ""}]
    path = jsonl(tmp_path / "c.jsonl", records)
    ran = argus("audit", "--corpus", path, "--out", "out", *SMALL)
    assert ran.code == 0
    assert "12 measured, 0 failed, 1 not applicable" in ran.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["audit"]
    assert summary["entities"] == {
        "total": 13,
        "measured": 12,
        "failed": 0,
        "not applicable": 1,
        "reasons": {"no paragraph": 1},
    }
    rows = pq.read_table(tmp_path / "out" / "retrievability.parquet").to_pylist()
    silent = rows[-1]
    assert (silent["id"], silent["state"], silent["reason"]) == (
        "d12", "not applicable", "no paragraph",
    )  # fmt: skip
    assert [silent[c] for c in ("rps", "low", "high", "band", "x", "y")] == [None] * 6
    assert all(0 <= row["rps"] <= 1 and row["reason"] == "" for row in rows[:-1])
    mean = sum(row["rps"] for row in rows[:-1]) / 12
    assert summary["mean_rps"] == pytest.approx(mean, abs=1e-6), "no zero in the mean"


def test_json_is_all_there_is_on_the_standard_output(
    argus: Argus, corpus: Path, tmp_path: Path
) -> None:
    ran = argus("audit", "--corpus", corpus, "--out", "out", *SMALL, "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert (printed["k"], printed["pool"], printed["entities"]["measured"]) == (2, 5, 12)
    assert printed == json.loads((tmp_path / "out" / "summary.json").read_text())["audit"]


def test_json_leaves_the_standard_output_empty_when_a_run_fails(
    argus: Argus, tmp_path: Path
) -> None:
    ran = argus("audit", "--corpus", tmp_path / "none.jsonl", "--out", "out", "--json")
    assert (ran.code, ran.out) == (2, "")


def test_config_values_are_used_and_options_win_over_them(
    argus: Argus, corpus: Path, tmp_path: Path
) -> None:
    config = text(
        tmp_path / "argus.toml",
        'seed = 3\nprecision = "float32"\n'
        '[audit]\nk = [2, 3]\npool = 5\npooling = "sentence"\n'
        "[exposure]\nsentences = 1\n",
    )
    common = ("audit", "--corpus", corpus, "--out", "out", "--json", "--config", config)
    ran = argus(*common)
    assert ran.code == 0
    settings = [(s["k"], s["pool"]) for s in json.loads(ran.out)["settings"]]
    assert settings == [(2, 5), (3, 5)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["audit"]
    assert (manifest["config"]["pooling"], manifest["config"]["seed"]) == ("sentence", 3)
    assert "precision=float32" in manifest["encoder"]["fingerprint"]

    ran = argus(*common, "--k", "1", "--pooling", "span")
    assert ran.code == 0
    assert [(s["k"], s["pool"]) for s in json.loads(ran.out)["settings"]] == [(1, 5)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["audit"]
    assert (manifest["config"]["pooling"], manifest["config"]["seed"]) == ("span", 3)


@pytest.mark.parametrize("pools", ["5,50", "50,5"])
def test_one_of_several_pools_that_is_too_large_is_refused_or_reported(
    argus: Argus, corpus: Path, pools: str
) -> None:
    ran = argus(
        "audit", "--corpus", corpus, "--out", "out", "--k", 2, "--pool", pools,
        "--precision", "float32",
    )  # fmt: skip
    assert ran.code == 0 or "--pool" in ran.err


def test_text_that_is_no_unicode_is_refused_by_line(refused, corpus: Path) -> None:
    text(corpus, corpus.read_text() + '{"_id": "x", "title": "Xyz", "text": "half \\ud800"}\n')
    assert refused(corpus=corpus).startswith(f"argus: {corpus}, line 13")


def test_a_number_that_python_does_not_read_is_refused_by_line(refused, corpus: Path) -> None:
    text(corpus, '{"_id": "x", "text": "t", "n": ' + "9" * 5000 + "}\n")
    assert refused(corpus=corpus).startswith(f"argus: {corpus}, line 1: ")


def test_a_device_that_does_not_exist_is_named(refused, corpus: Path) -> None:
    assert refused("--device", "abacus", corpus=corpus, writes=True).startswith("argus: --device")


def test_a_setting_called_like_its_command_is_refused(
    refused, corpus: Path, tmp_path: Path
) -> None:
    config = text(tmp_path / "argus.toml", "audit = 3\n")
    assert refused("--config", config, corpus=corpus).startswith(f"argus: {config}")


def test_a_table_of_an_unknown_command_is_refused(refused, corpus: Path, tmp_path: Path) -> None:
    config = text(tmp_path / "argus.toml", "[audti]\nk = 3\n")
    assert "audti" in refused("--config", config, corpus=corpus)


@pytest.mark.parametrize("summary", ["{", '{"audit": {}}'])
def test_a_report_on_damaged_results_names_the_file(
    argus: Argus, tmp_path: Path, summary: str
) -> None:
    text(tmp_path / "summary.json", summary)
    text(tmp_path / "manifest.json", "{}")
    ran = argus("report", tmp_path)
    assert ran.code == 2
    assert "summary.json" in ran.err


def test_a_reservoir_too_small_for_the_pool_is_refused_before_any_work(refused, corpus) -> None:
    message = refused("--reservoir", "6", corpus=corpus)
    assert message.startswith(
        "argus: --reservoir: a reservoir of 6 for N=5; expected at least twice"
    )
    assert "Use --reservoir 10 or more, or 0 for none." in message


def test_fresh_does_not_empty_the_folder_that_holds_the_input(argus, tmp_path: Path) -> None:
    out = tmp_path / "project"
    (out / "corpus").mkdir(parents=True)
    source = jsonl(out / "corpus" / "corpus.jsonl")
    table = text(out / "exposure.csv", "mine\n")
    assert argus("audit", "--corpus", source, "--out", out, *SMALL).code == 0
    ran = argus("audit", "--corpus", source, "--out", out, *SMALL, "--fresh")
    assert ran.code == 2 and "--fresh would empty the folder that holds" in ran.err
    assert source.is_file() and table.read_text() == "mine\n"


def test_two_corpora_do_not_share_a_report(argus, corpus: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", jsonl(tmp_path / "other.jsonl", DOCUMENTS[:8])
    assert argus("audit", "--corpus", corpus, "--out", out, *SMALL).code == 0
    ran = argus("exposure", "--corpus", other, "--out", out, "--precision", "float32")
    assert ran.code == 2
    assert "holds the audit of another corpus" in ran.err and "Give another --out" in ran.err


def test_a_broken_summary_is_found_before_the_work(argus, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert argus("audit", "--corpus", corpus, "--out", out, *SMALL).code == 0
    text(out / "summary.json", "{broken")
    ran = argus("audit", "--corpus", corpus, "--out", out, *SMALL)
    assert ran.code == 2 and f"argus: {out / 'summary.json'}: broken JSON" in ran.err


def test_the_demo_takes_a_small_limit(argus, tmp_path: Path) -> None:
    ran = argus("demo", "--limit", "120", "--out", tmp_path / "out", "--precision", "float32")
    assert ran.code == 0
    assert ran.out.startswith("RPS at k=3, N=60:")
