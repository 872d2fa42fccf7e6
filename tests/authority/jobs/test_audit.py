import numpy as np
import pytest

from argus.authority.audit import audit_authority
from argus.errors import EncodingError
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
