"""`argus authority lint|audit|search`: what is printed, exit codes, messages."""

import pytest

from tests.support.superseding import write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


@pytest.fixture
def relation(story):
    return ["--records", story / "records.jsonl", "--rules", story / "rules.yaml"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as-of", "yesterday"], "--as-of: 'yesterday'"),
        (["--chains", "last"], "--chains: 'last'; expected one of all, first"),
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
