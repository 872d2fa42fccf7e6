import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from argus.authority import audit
from argus.authority.audit import audit_authority
from argus.errors import ArgusError, EncodingError
from tests.support.authorities import relations
from tests.support.superseding import ROWS, story_source, write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def test_ranks_and_divergences_are_those_of_the_vectors(story, tmp_path, minilm):
    result = audit_authority(story_source(story), out=tmp_path / "out", encoder=minilm, k=2)
    rows = {row["superseded"]: row for row in result.table.to_pylist()}
    assert {(r["superseded"], r["controlling"]) for r in rows.values()} == {
        ("flaw-1", "fix-1b"), ("fix-1", "fix-1b"), ("flaw-3", "fix-3"),
    }  # fmt: skip
    by_id = {row["_id"]: row for row in ROWS}
    ids = sorted(by_id)
    documents = minilm.encode_documents([f"{by_id[i]['title']} {by_id[i]['text']}" for i in ids])
    for proxy in ("title", "text"):
        asked = minilm.encode_queries([by_id["flaw-1"][proxy]])[0]
        scores = documents.astype(float) @ asked.astype(float)
        own = scores[ids.index("fix-1b")]
        assert rows["flaw-1"][f"{proxy}_rank"] == 1 + (scores > own).sum()
        assert rows["flaw-1"][f"{proxy}_divergence"] == pytest.approx(scores.max() - own, abs=1e-5)
        assert rows["flaw-1"][f"{proxy}_reachable"] == (rows["flaw-1"][f"{proxy}_rank"] <= 2)
    found = result.summary["proxies"]["text"]
    assert found["documents"] == 3
    assert found["reachable"] == np.mean([r["text_rank"] <= 2 for r in rows.values()])
    cost = result.summary["cost"]  # flaw-1 by fix-1 by fix-1b: two steps, or one of the rule
    assert 1 <= cost["edges"] < cost["lookups"] <= cost["most"] <= 3
    assert cost["within"]["4"] == 1 and any("to resolve one takes" in s for s in result.headline())


def test_a_proxy_that_cannot_be_embedded_is_failed(story, tmp_path, minilm):
    class Failing:
        fingerprint, dim = minilm.fingerprint + " failing", minilm.dim

        def encode_documents(self, texts):
            return minilm.encode_documents(texts)

        def encode_queries(self, texts):
            if any("archive" in text or "dots" in text for text in texts):
                raise EncodingError("refused", retryable=False)
            return minilm.encode_queries(texts)

        encode_spans = None

    result = audit_authority(story_source(story), out=tmp_path / "out", encoder=Failing())
    (failed,) = [r for r in result.table.to_pylist() if r["state"] == "failed"]
    assert failed["superseded"] == "flaw-1" and failed["text_rank"] is None
    assert "refused" in failed["reason"]
    assert result.summary["proxies"]["text"]["documents"] == 2


@pytest.mark.parametrize("many", [1, 2, 100])
@settings(deadline=None)
@given(relation=relations())
def test_pairs_are_the_ends_of_all_chains_by_the_shortest(many, relation):
    authority, above = relation.authority, relation.above()
    direct = {
        older.id: {newer.id for newer in relation.records if relation.supersedes(older, newer)}
        for older in relation.records
    }
    expected = {}
    for id_ in relation.ids:
        reached, front = {id_: 0}, [id_]
        for one in front:
            new = sorted(direct[one] - reached.keys())
            reached |= dict.fromkeys(new, reached[one] + 1)
            front += new
        assert reached.keys() == {id_} | above[id_]
        expected |= {(id_, end): n for end, n in reached.items() if n and not above[end]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "MANY", many)
        if not expected:
            with pytest.raises(ArgusError):
                audit.supersessions(authority)
            return
        pairs = audit.supersessions(authority)
    assert {(id_, end): hops for id_, (hops, end, _) in pairs} == expected
    for id_, (hops, end, chain) in pairs:
        assert len(chain) == hops and (chain[0].superseded, chain[-1].superseder) == (id_, end)
        assert all(a.superseder == b.superseded for a, b in itertools.pairwise(chain))
