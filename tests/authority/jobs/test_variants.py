"""Safe frontiers and latent scopes of a search, as Def. 8 and 9 have them."""

from __future__ import annotations

import json

import pytest

from argus.authority.config import Chains, LatentScope, VariantConfig
from argus.authority.search import search_authority
from argus.errors import InputError
from tests.support.superseding import ROWS, RULES, story_source, write_story

QUESTION = "Does the archive reader write outside of its folder?"


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


@pytest.fixture
def doubtful(story):
    """The newer fix replaces the older with a confidence of 0.75."""
    (story / "rules.yaml").write_text(RULES + "    confidence: 0.75\n")
    return story


def search(folder, question=QUESTION, **variant):
    return search_authority(question, story_source(folder), variant=VariantConfig(**variant))


def chances(found):
    return {hit["id"]: hit["probability"] for hit in found["results"][:2]}


def test_a_safe_frontier_serves_what_is_probably_in_force(doubtful):
    found = search(doubtful, alpha=0.95)
    assert found["results"][0]["id"] == "fix-1b" and found["alpha"] == 0.95
    assert [link["superseder"] for link in found["results"][0]["chain"]] == ["fix-1b"]
    assert "fix-1" not in {hit["id"] for hit in found["results"]}
    found = search(doubtful, alpha=0.25)
    assert chances(found) == {"fix-1": pytest.approx(0.25), "fix-1b": 1.0}
    assert found["undecided"] == [] and found["retired"]["flaw-1"] == ["fix-1", "fix-1b"]


def test_expectation_weighs_the_scopes_and_map_takes_one(story):
    both = search(story, "archive and parser flaws", scope=LatentScope.EXPECTATION)
    assert [c["key"] for c in both["scope_posterior"]] == ["cve"] * len(both["scope_posterior"])
    by_id = {hit["id"]: hit["probability"] for hit in both["results"]}
    posterior = {c["value"]: c["probability"] for c in both["scope_posterior"]}
    assert by_id["fix-1b"] == pytest.approx(posterior["1"])
    assert sum(posterior.values()) == pytest.approx(1.0)
    best = search(story, "archive and parser flaws", scope=LatentScope.MAP)
    likeliest = max(posterior, key=posterior.get)
    expected = {"1": "fix-1b", "2": "flaw-2", "3": "fix-3"}[likeliest]
    assert [hit["id"] for hit in best["results"]] == [expected]


def test_chains_and_scopes_that_are_not_there_are_refused(story):
    with pytest.raises(InputError) as error:
        search_authority(
            QUESTION, story_source(story), chains=Chains.FIRST, variant=VariantConfig(alpha=0.5)
        )
    assert error.value.where == "--chains"
    rows = [{**row, "entities": {}} for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (story / "edges.jsonl").write_text('{"superseder": "fix-1", "superseded": "flaw-1"}\n')
    bare = story_source(story, rules=None, edges=story / "edges.jsonl")
    with pytest.raises(InputError) as error:
        search_authority(QUESTION, bare, variant=VariantConfig(scope=LatentScope.MAP))
    assert error.value.where == "--scope"
