"""The risk of documents by their needs: who is drawn, what is written, chunks, judged questions."""

import json
import math

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.llm import ChatConfig
from argus.scenarios.files import read_profiles
from argus.scenarios.needs import writing
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.costs import estimate_needs
from argus.scenarios.needs.drawing import BATCH, draw, draw_order
from argus.scenarios.needs.job import audit_needs
from argus.scenarios.needs.measuring import JudgedFiles
from argus.scenarios.needs.served_job import ask_needs
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.profiles.config import ProfileConfig
from tests.support.results import shown
from tests.support.word_encoder import WordEncoder

CONFIG = NeedsConfig(k=2, pool=3)


def profiled(doc_id, *needs):
    scenarios = tuple(Scenario(need, f"It says so: {need}") for need in needs)
    return Profiled(doc_id, ProfileState.OK, ScenarioProfile(f"on {doc_id}", (), scenarios))


def documents(**texts):
    return [
        Document(id_, text, "", {"source": id_.partition("_")[0]}) for id_, text in texts.items()
    ]


CHUNKS = documents(
    tea_1="green leaf steeped", tea_2="kettle boiling water", cup_1="china porcelain cup",
    cup_2="handle of a cup", sea_1="salt water wave", sea_2="tide and moon",
)  # fmt: skip
PROFILES = {
    p.doc_id: p
    for p in (
        profiled("tea_1", "kettle boiling water", "moon tide"),
        profiled("cup_2", "china porcelain"),
        profiled("sea_1", "salt wave"),
    )
}


def lists(*ids):
    return {id_: 1.0 - i / 100 for i, id_ in enumerate(ids)}


def test_chunks_are_folded_to_their_documents(tmp_path):
    """tea_1 asks for the kettle, which its sibling answers: the document is found first."""
    alone = audit_needs(CHUNKS, PROFILES, out=tmp_path / "a", encoder=WordEncoder(), config=CONFIG)
    assert alone.summary["risk"]["measured"] == 3
    folded = audit_needs(
        CHUNKS, PROFILES, out=tmp_path / "b", encoder=WordEncoder(),
        config=NeedsConfig(k=2, pool=3, parent_field="source"),
    )  # fmt: skip
    risk = folded.summary["risk"]
    assert (risk["documents"], risk["measured"], risk["parent_field"]) == (3, 3, "source")
    rows = {row["id"]: row for row in folded.risk.to_pylist()}
    assert rows["cup"]["typical_rank"] == 1.0 and rows["cup"]["chunks"] == 2
    ranks = [1, rows["tea"]["worst_rank"]]
    assert rows["tea"]["typical_rank"] == pytest.approx(math.prod(ranks) ** 0.5)
    chunk = {row["id"]: row for row in alone.risk.to_pylist()}["tea_1"]
    assert chunk["typical_rank"] > rows["tea"]["typical_rank"], "siblings are no rivals"
    assert folded.risk["id"][0].as_py() == "tea", "the riskiest stands first"
    page = folded.report.read_text("utf-8")
    assert "The risk of a document" in page and "folded by <code>source</code>" in page
    assert any("documents, folded by source, come into the top 2" in x for x in folded.headline())


def test_a_sample_is_drawn_by_hash_and_holds_the_smaller_one(tmp_path):
    many = [Document(f"d{i}", f"word{i} text") for i in range(40)]
    profiles = {d.id: profiled(d.id, f"word{d.id[1:]}") for d in many[:30]}
    source = NeedSource(many, None, profiles, None, 0)
    small, large = (
        [d.id for d in draw_order(source, NeedsConfig(sample=n), writes=False)] for n in (5, 12)
    )
    assert large[:5] == small and len(large) == 12 and set(large) <= profiles.keys()
    assert small != [d.id for d in draw_order(source, NeedsConfig(sample=5, seed=1), writes=False)]
    config = NeedsConfig(k=2, pool=3, sample=5)
    result = audit_needs(many, profiles, out=tmp_path, encoder=WordEncoder(), config=config)
    assert result.summary["risk"]["measured"] == result.summary["documents"]["measured"] == 5
    assert result.summary["documents"]["reasons"] == {"not drawn": 35}
    assert set(result.needs["document"].to_pylist()) == set(small)


class Always:
    """Finds every document first."""

    def ranks(self, needs):
        return [1] * len(needs)

    def lists(self, questions, depth):
        return {}


def test_drawing_ends_once_the_interval_is_narrow():
    many = [Document(f"d{i}", "text") for i in range(4 * BATCH)]
    source = NeedSource(many, None, {d.id: profiled(d.id, "need") for d in many}, None, 0)
    wide = draw(source, NeedsConfig(until_width=0.1), None, Always(), 10)
    assert len(wide.profiles) == BATCH and wide.width(10) <= 0.1
    narrow = draw(source, NeedsConfig(until_width=0.03), None, Always(), 10)
    assert len(narrow.profiles) == 3 * BATCH and narrow.width(10) <= 0.03
    never = draw(source, NeedsConfig(until_width=0.001), None, Always(), 10)
    assert len(never.profiles) == 4 * BATCH
    capped = draw(source, NeedsConfig(until_width=0.001, sample=70), None, Always(), 10)
    assert len(capped.profiles) == 70


@pytest.fixture
def writer(endpoint):
    """A model that writes two needs: one by the document's words, one by nobody's; later others."""

    def behave(text, _):
        document, _, known = text.partition("\n\n[Known Information Needs]\n")
        words = document.removeprefix("[Text Content]\n")
        needs = [f"further {words}", "zzz"] if known else [words, "moon tide"]
        scenarios = [{"information_need": n, "explanation": f"so: {n}"} for n in needs]
        answer = {"noise": False, "main_topic": "t", "key_aspects": [], "scenarios": scenarios}
        return {"text": json.dumps(answer)}

    endpoint.behave = behave
    return ProfileConfig(model=ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001))


def test_needs_are_written_at_a_cost_that_is_told_first(endpoint, writer, tmp_path, monkeypatch):
    config = NeedsConfig(k=1, pool=3, sample=4)
    cost = estimate_needs(CHUNKS, None, out=tmp_path / "o", config=config, model=writer)
    assert cost.to_ask == 4 and not endpoint.requests and not (tmp_path / "o").exists()
    lines = []
    monkeypatch.setattr(writing, "announce", lambda x: lines.append((x, len(endpoint.requests))))
    ask = {"out": tmp_path / "o", "encoder": WordEncoder(), "config": config, "model": writer}
    result = audit_needs(CHUNKS, **ask)
    assert lines[0][0].startswith("needs: 4 of 4 prompts would be asked") and lines[0][1] == 0
    risk = result.summary["risk"]
    torn = [r for r in result.risk.to_pylist() if r["further"]]
    assert 3 <= len(torn) <= 4, "the one whose words these are is found by both"
    assert risk["written"] == 4 and risk["further"] == {"documents": len(torn),
                                                        "needs": 2 * len(torn)}  # fmt: skip
    assert len(endpoint.requests) == 4 + len(torn)
    assert result.needs.num_rows == 8, "further needs count for the risk alone"
    kept = read_profiles(tmp_path / "o" / "need_profiles.jsonl")
    assert sum(len(p.profile.scenarios) for p in kept.values()) == 8 + 2 * len(torn)
    assert any(line.startswith("needs written for 4 documents") for line in shown(result))
    audit_needs(CHUNKS, **ask)
    assert len(endpoint.requests) == 4 + len(torn), "nothing is paid for twice"


def test_profiles_that_exist_are_not_written_again(endpoint, writer, tmp_path):
    config = NeedsConfig(k=2, pool=3, further=0)
    result = audit_needs(
        CHUNKS, PROFILES, out=tmp_path, encoder=WordEncoder(), config=config, model=writer
    )
    assert len(endpoint.requests) == 3 and result.summary["risk"]["written"] == 3
    assert result.summary["risk"]["measured"] == 6


def test_the_risk_is_compared_with_judged_questions(tmp_path):
    """Odd documents are found by their needs and their questions, even ones by neither."""
    many = [Document(f"d{i:02}", f"name{i} filler") for i in range(24)]
    words = [f"name{i}" if i % 2 else f"name{(i + 1) % 24}" for i in range(24)]
    profiles = {d.id: profiled(d.id, word) for d, word in zip(many, words, strict=True)}
    questions = [Query(f"q{i}", words[i]) for i in range(24)]
    qrels = {f"q{i}": {f"d{i:02}": 1} for i in range(24)}
    config, encoder = NeedsConfig(k=1, pool=3), WordEncoder()
    judged = JudgedFiles(questions, qrels)
    result = audit_needs(
        many, profiles, out=tmp_path, encoder=encoder, config=config, judged=judged
    )
    figures = result.summary["risk"]["judged"]
    assert (figures["questions"], figures["pairs"], figures["failed"]) == (24, 24, 12)
    assert figures["area"]["auc"] == 1.0
    assert any("measured here: AUC 1.00" in line for line in result.headline())
    from argus.verdict import read_verdict

    count = read_verdict(tmp_path).counts[2]
    assert [v.kind for v in count.validity] == ["measured here", "measured elsewhere"]


def test_few_failures_are_no_area(tmp_path):
    judged = JudgedFiles([Query("q", "china porcelain")], {"q": {"cup_2": 1}})
    result = audit_needs(
        CHUNKS, PROFILES, out=tmp_path, encoder=WordEncoder(), config=CONFIG, judged=judged
    )
    assert result.summary["risk"]["judged"]["area"] is None
    assert "too few of either to measure it here" in result.report.read_text("utf-8")


def test_a_retriever_is_compared_too_and_chunks_of_its_lists_are_folded(tmp_path):
    queries = []

    def retrieve(query):
        queries.append(query)
        return ["tea_2", "sea_1", "sea_2"] if "kettle" in query else ["sea_2", "sea_1"]

    config = NeedsConfig(k=2, pool=3, parent_field="source")
    judged = JudgedFiles([Query("q", "kettle")], {"q": {"tea": 1}})
    result = ask_needs(CHUNKS, PROFILES, retrieve, out=tmp_path, config=config, judged=judged)
    rows = {row["id"]: row for row in result.risk.to_pylist()}
    assert [rows[x]["typical_rank"] for x in ("sea", "cup")] == pytest.approx([1, 3])
    assert rows["tea"]["typical_rank"] == pytest.approx(3**0.5)
    assert sorted(queries) == sorted([*(s.information_need for p in PROFILES.values()
                                      for s in p.profile.scenarios), "kettle"])  # fmt: skip
    assert result.summary["risk"]["judged"]["pairs"] == 1


@pytest.mark.parametrize(
    ("judged", "profiles", "problem"),
    [
        (JudgedFiles(queries=[Query("q", "x")]), PROFILES, "without --qrels"),
        (JudgedFiles(qrels={"q": {"d": 1}}), PROFILES, "without --queries"),
        (JudgedFiles(), None, "neither --profiles nor --model"),
    ],
)
def test_what_is_half_named_is_refused(tmp_path, judged, profiles, problem):
    with pytest.raises(InputError, match=problem):
        audit_needs(CHUNKS, profiles, out=tmp_path / "out", judged=judged, config=CONFIG)
    assert not (tmp_path / "out").exists()
