import json
from itertools import pairwise

import numpy as np
import pytest

from argus.authority.audit import ProxyRanks, audit_authority, pair_table
from argus.authority.reachability import supersessions
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.data.types import State
from argus.errors import ArgusError, EncodingError, InputError
from tests.support.results import shown, sizes
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
    assert [g["name"] for g in result.summary["by_rule"]] == ["fix", "newer fix"]
    page = result.report.read_text()
    assert "Can what is in force be reached from what it replaced?" in page


def test_of_several_that_control_a_document_the_best_counts(tmp_path, minilm):
    rows = [
        {"_id": "a", "type": "d", "title": "Whales", "text": "Whales are mammals."},
        {"_id": "b", "type": "d", "title": "Taxes", "text": "Taxes are due in May."},
        {"_id": "c", "type": "d", "title": "Whales, revised", "text": "Whales are sea mammals."},
    ]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    edges = tmp_path / "edges.jsonl"
    edges.write_text("".join(json.dumps({"superseder": n, "superseded": "a"}) + "\n" for n in "bc"))
    source = story_source(tmp_path, rules=None, edges=edges)
    result = audit_authority(source, out=tmp_path / "out", encoder=minilm, k=2)
    assert result.summary["documents"]["pairs"] == 2
    assert result.summary["proxies"]["text"]["reachable"] == 1.0
    assert result.summary["proxies"]["text"]["documents"] == 1


def test_without_a_title_the_text_alone_is_measured(story, tmp_path, minilm):
    rows = [row | {"title": ""} for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    result = audit_authority(story_source(story), out=tmp_path / "out", encoder=minilm)
    assert result.summary["proxies"]["title"] == {"documents": 0}
    assert result.summary["documents"]["measured"] == 3
    assert set(result.table["reason"].to_pylist()) == {"no title"}


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


def test_nothing_superseded_is_said(story, tmp_path, minilm):
    source = story_source(story, as_of="2023")
    with pytest.raises(ArgusError, match="no record is superseded"):
        audit_authority(source, out=tmp_path / "out", encoder=minilm)
    assert not (tmp_path / "out").exists()


def test_a_depth_of_zero_is_refused(story, tmp_path, minilm):
    with pytest.raises(InputError, match="--k: 0"):
        audit_authority(story_source(story), out=tmp_path / "out", encoder=minilm, k=0)


def test_the_real_advisories_are_mostly_out_of_reach(shared, tmp_path, minilm):
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "rules:\n  - {superseding: patch, superseded: disclosure, scope: [cve_id], order: type}\n"
    )
    records = shared("authority/ghsa") / "corpus.jsonl"
    few = tmp_path / "records.jsonl"
    with records.open() as file:  # of 159 disclosures and then their patches, every third pair
        few.write_text("".join(line for n, line in enumerate(file) if n < 318 and n % 3 == 0))
    source = story_source(tmp_path, records=few, rules=str(rules))
    result = audit_authority(source, out=tmp_path / "out", encoder=minilm, k=10)
    assert result.summary["documents"]["superseded"] == 53
    assert 0.4 < result.summary["proxies"]["text"]["reachable"] < 0.6


def test_an_audit_shows_its_figures(story, tmp_path, minilm, monkeypatch):
    result = audit_authority(story_source(story), out=tmp_path / "out", encoder=minilm, k=2)
    assert shown(result)[0].startswith(f"records: {len(ROWS)}; ")
    assert sizes(result, monkeypatch) == {"table": result.table.num_rows}


def test_a_name_of_no_retriever_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match="'bm25' names no retriever"):
        audit_authority(story_source(tmp_path / "absent"), out=tmp_path / "out", retriever="bm25")


def test_long_chains_are_told_by_their_first_links(tmp_path):
    ids = [f"d{i}" for i in range(25)]
    records = [Record(id_, "doc", text=f"Text of {id_}.", title=id_) for id_ in ids]
    authority = Authority(records, edges=[Edge(b, a) for a, b in pairwise(ids)])
    pairs = list(supersessions(authority))
    none = ProxyRanks(np.array([], int), dict.fromkeys(range(24), (State.NOT_APPLICABLE, "none")))
    table = pair_table(pairs, {"title": none, "text": none}, authority, 10)
    told = dict(zip(table["superseded"].to_pylist(), table["chain"].to_pylist(), strict=True))
    assert told["d0"].endswith("superseded by 'd20' (given), and by 4 more up to 'd24'")
    assert told["d4"].endswith("superseded by 'd24' (given)")
    assert table["hops"].to_pylist()[0] == 24
