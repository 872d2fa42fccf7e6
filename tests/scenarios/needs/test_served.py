"""The need audit of a retriever: asked as it is, failures apart."""

import pytest

from argus.data import Document
from argus.errors import ArgusError
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.audit import audit_needs
from tests.support.scenarios import profiles_of

TEXTS = {
    "bread": "Sourdough rises slowly in a bowl", "tides": "The moon pulls the oceans",
    "chess": "Bishops move along diagonals", "noise": "xx yy",
}  # fmt: skip
DOCUMENTS = [Document(id_, text, id_.title()) for id_, text in TEXTS.items()]
PROFILES = profiles_of(
    {
        "bread": ["how Sourdough rises", "a bowl for the kitchen"],
        "tides": ["why the harbour falls dry", "oceans and the moon"],
        "chess": ["games with a king"],
    }
)
CONFIG = NeedsConfig(k=2)


def retrieve(query, k):
    if "king" in query:
        raise OSError("the shard is gone")
    return {"how": ["tides", "bread"], "oce": ["tides"]}.get(query[:3], ["noise", "tides"])[:k]


def test_what_no_need_brings_back_is_named(tmp_path):
    result = audit_needs(DOCUMENTS, PROFILES, retriever=retrieve, out=tmp_path, config=CONFIG)
    rows = {row["id"]: row for row in result.table.to_pylist()}
    assert (rows["bread"]["found"], rows["tides"]["found"]) == (0.5, 1.0)
    risk = {row["id"]: row for row in result.risk.to_pylist()}
    assert risk["bread"]["worst_need"] == "a bowl for the kitchen"
    assert risk["bread"]["worst_rank"] == 3, "beyond the list is next after it"
    assert rows["chess"]["state"] == "failed" and "the shard is gone" in rows["chess"]["reason"]
    assert rows["chess"]["found"] is None, "a failed need is no document out of reach"
    summary = result.summary
    assert (summary["needs"], summary["unreached"]) == ({"total": 5, "measured": 4, "failed": 1}, 0)
    assert summary["found_at_k"]["mean"] == 0.75
    states = {row["need"]: (row["rank"], row["state"]) for row in result.needs.to_pylist()}
    assert states["games with a king"] == (None, "failed")
    assert states["oceans and the moon"] == (1, "measured")


def test_a_retriever_that_is_down_leaves_an_error(tmp_path):
    def down(query):
        raise OSError("refused")

    with pytest.raises(ArgusError, match="failed all 5 needs"):
        audit_needs(DOCUMENTS, PROFILES, retriever=down, out=tmp_path)
    assert not (tmp_path / "summary.json").exists()
