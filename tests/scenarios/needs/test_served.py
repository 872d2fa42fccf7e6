"""The need audit of a retriever: asked as it is, failures apart."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from argus.data import Document
from argus.errors import ArgusError, InputError
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.served_job import ask_needs
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from tests.support.results import shown
from tests.support.retrievable import word_index
from tests.support.word_encoder import WordEncoder

TEXTS = {
    "bread": "Sourdough rises slowly in a bowl", "tides": "The moon pulls the oceans",
    "chess": "Bishops move along diagonals", "noise": "xx yy", "empty": "", "plain": "No profile",
}  # fmt: skip
DOCUMENTS = [Document(id_, text, id_.title() if text else "") for id_, text in TEXTS.items()]
NEEDS = {
    "bread": ["how Sourdough rises", "a bowl for the kitchen"],
    "tides": ["why the harbour falls dry", "oceans and the moon"],
    "chess": ["games with a king"],
    "empty": ["nothing"],
    "elsewhere": ["a document of another corpus"],
}
PROFILES = {
    id_: Profiled(id_, ProfileState.OK,
                  ScenarioProfile(id_, (), tuple(Scenario(n, f"It is so: {n}") for n in needs)))
    for id_, needs in NEEDS.items()
} | {"noise": Profiled("noise", ProfileState.NOISE, reason="nobody needs it")}  # fmt: skip
CONFIG = NeedsConfig(k=2)


def retrieve(query, k):
    if "king" in query:
        raise OSError("the shard is gone")
    return {"how": ["tides", "bread"], "oce": ["tides"]}.get(query[:3], ["noise", "tides"])[:k]


def test_what_no_need_brings_back_is_named(tmp_path):
    result = ask_needs(DOCUMENTS, PROFILES, retrieve, out=tmp_path, config=CONFIG)
    rows = {row["id"]: row for row in result.table.to_pylist()}
    bread, tides, chess = (rows[id_] for id_ in ("bread", "tides", "chess"))
    assert (bread["found"], bread["best_rank"], bread["worst_rank"]) == (0.5, 2, None)
    assert bread["worst_need"] == "a bowl for the kitchen"
    assert bread["displaced_by"] == "Noise; Tides"
    assert (tides["found"], tides["band"], tides["displaced_by"]) == (1.0, "high", "Noise")
    assert chess["state"] == "failed" and "the shard is gone" in chess["reason"]
    assert chess["found"] is None, "a failed need is no document out of reach"
    summary = result.summary
    assert (summary["needs"], summary["unreached"]) == ({"total": 5, "measured": 4, "failed": 1}, 0)
    assert summary["found_at_k"]["mean"] == 0.75 and summary["found_at_1"]["mean"] == 0.25
    assert summary["documents"]["reasons"] == {
        "no need was answered": 1, "no text": 1, "the profile is noise": 1, "no profile": 1,
    }  # fmt: skip
    assert summary["profiles_elsewhere"] == 1 and shown(result)
    states = {row["need"]: (row["rank"], row["state"]) for row in result.needs.to_pylist()}
    assert states["games with a king"] == (None, "failed")
    assert states["oceans and the moon"] == (1, "measured")
    assert "what they are for" in result.report.read_text("utf-8")


def test_shares_are_told_by_slice(tmp_path):
    languages = {"bread": "en", "tides": "de", "chess": "en", "noise": "de"}
    documents = [
        Document(d.id, d.text, d.title, {"lang": languages[d.id]} if d.id in languages else {})
        for d in DOCUMENTS
    ]
    config = NeedsConfig(k=2, by=("lang",))
    result = ask_needs(documents, PROFILES, retrieve, out=tmp_path, config=config)
    rows = pq.read_table(tmp_path / "needs_served_slices.parquet").to_pylist()
    shares = {row["slice"]: (row["n"], row["share"], row["whole"]) for row in rows}
    assert shares == {"en": (1, 0.5, 0.75), "de": (1, 1.0, 0.75)}, "chess failed: in no slice"
    assert {row["share_of"] for row in rows} == {"found in the top 2 by their needs"}
    assert result.summary["slices"]["fields"][0]["without"] == 2
    assert "by lang: no slice is surely worse than the whole" in shown(result)
    assert "By slice" in result.report.read_text("utf-8")


def test_an_index_is_asked_once(tmp_path):
    index = word_index(tmp_path / "index", DOCUMENTS)
    for kept in (0, 5):
        result = ask_needs(
            DOCUMENTS, PROFILES, str(index), out=tmp_path / "out", config=CONFIG,
            encoder=WordEncoder(),
        )  # fmt: skip
        assert result.summary["retriever"]["kept"] == kept
    rows = {row["need"]: row["rank"] for row in result.needs.to_pylist()}
    assert rows["how Sourdough rises"] == rows["oceans and the moon"] == 1
    assert any("5 of 5 answers are kept" in line for line in result.headline())


def test_a_retriever_that_is_down_leaves_an_error(tmp_path):
    def down(query):
        raise OSError("refused")

    with pytest.raises(ArgusError, match="failed all 5 needs"):
        ask_needs(DOCUMENTS, PROFILES, down, out=tmp_path)
    assert not (tmp_path / "summary.json").exists()


def test_strange_results_and_short_lists_are_told(tmp_path):
    with pytest.raises(InputError, match="no result is a document of the corpus"):
        ask_needs(DOCUMENTS, PROFILES, lambda q: ["x"], out=tmp_path, config=CONFIG)

    def strange(query):
        return ["plain" if "moon" in query else "x"]

    result = ask_needs(DOCUMENTS, PROFILES, strange, out=tmp_path, config=CONFIG)
    lines = list(result.headline())
    assert any("longer than 1" in line for line in lines)
    assert any("4 results are no document" in line for line in lines)
