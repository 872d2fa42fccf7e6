"""`argus authority lint|audit|search`: what is printed, exit codes, messages."""

import json

import pytest

from tests.support.superseding import write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


@pytest.fixture
def relation(story):
    return ["--records", story / "records.jsonl", "--rules", story / "rules.yaml"]


def test_lint_prints_chain_rates_and_verdict_and_exits_1(argus, story, relation):
    ran = argus("authority", "lint", story / "run.json", *relation, "--k", 2)
    assert ran.code == 1
    assert "rule fix: 2 of 3 superseded" in ran.out
    assert "archive: superseder ignored: 'flaw-1', superseded by 'fix-1b' (fix)" in ran.out
    assert "33.3% (6.1% to 79.2%) queries that violate Theorem 4" in ran.out
    assert "not measured (needs --before)" in ran.out and "verdict: fail" in ran.out


def test_lint_within_its_bounds_exits_0_and_writes_a_report(argus, story, relation, tmp_path):
    ran = argus("authority", "lint", story / "run.json", *relation, "--max-violations", 0.5,
                "--out", "out")  # fmt: skip
    assert ran.code == 0 and (tmp_path / "out" / "report.html").is_file()


def test_lint_for_machines(argus, story, relation):
    ran = argus("authority", "lint", story / "run.json", *relation, "--json")
    assert json.loads(ran.out)["verdict"] == "fail" and ran.code == 1


def test_audit_prints_what_can_be_reached(argus, story, relation):
    ran = argus("authority", "audit", *relation, "--precision", "float32", "--out", "out", "--k", 3)
    assert ran.code == 0, ran.err
    assert "superseded: 3 of 6 documents" in ran.out
    assert "asked with their text: " in ran.out and "into the top 3" in ran.out
    assert "  newer fix: title" in ran.out


def test_search_prints_the_chain_with_rule_and_day(argus, story, relation):
    ran = argus("authority", "search", "archive outside of its folder", *relation, "--k", 1)
    assert ran.code == 0, ran.err
    assert "fix-1b  (patch, 2024-03-01)" in ran.out
    assert "in place of flaw-1 (found at 1):" in ran.out
    assert "flaw-1 superseded by fix-1b (fix, 2024-03-01)" in ran.out
    then = argus("authority", "search", "archive outside of its folder", *relation, "--k", 1,
                 "--as-of", "2024-01-31")  # fmt: skip
    assert "flaw-1  (disclosure, 2024-01-10)" in then.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as-of", "yesterday"], "--as-of: 'yesterday'"),
        (["--places", "last"], "--places: 'last'; expected one of anchor, first"),
        (["--rules", "drugz"], "drugs"),
        (["--rules", "nowhere.yaml"], "nowhere.yaml"),
        (["--edges", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
    ],
)
def test_wrong_options_of_a_search_are_named(argus, relation, options, message):
    ran = argus("authority", "search", "x", *relation, *options)
    assert ran.code == 2 and message in ran.err


def test_neither_rules_nor_edges_is_named(argus, story):
    ran = argus("authority", "lint", story / "run.json", "--records", story / "records.jsonl")
    assert ran.code == 2 and "neither rules nor edges" in ran.err


def test_a_typo_in_a_type_is_named_with_the_nearest(argus, story, relation):
    rules = (story / "rules.yaml").read_text().replace("disclosure", "disclosre")
    (story / "rules.yaml").write_text(rules)
    ran = argus("authority", "lint", story / "run.json", *relation)
    assert ran.code == 2 and "Did you mean 'disclosure'?" in ran.err


def test_variants_of_a_search_say_what_they_rest_on(argus, relation):
    base = ("authority", "search", "archive parser", *relation)
    found = argus(*base, "--scope", "map").out
    assert "scopes by map: cve=" in found and "  p 0." in found
    found = argus(*base, "--alpha", 0.9).out
    assert "not superseded with a probability of 0.9 or more:" in found and "  p 1.00" in found
    answer = json.loads(argus(*base, "--scope", "expectation", "--json").out)
    assert answer["scope"] == "expectation" and answer["results"][0]["probability"] > 0


def test_a_stream_names_stale_answers(argus, story, relation):
    row = {"_id": "fix-2", "type": "patch", "timestamp": "2024-05-01", "entities": {"cve": "2"}}
    (story / "changes.jsonl").write_text(json.dumps(row) + "\n")
    base = ("authority", "stream", story / "changes.jsonl", "--run", story / "run.json", *relation)
    found = argus(*base).out
    assert "insert fix-2: superseded: flaw-2; stale answers: archive, parser" in found
    assert "  parser: now fix-2\n2 of 4 cached answers went stale" in found
    whole = json.loads(argus(*base, "--json").out)
    assert [answer["query_id"] for answer in whole["stale"]] == ["archive", "parser"]
