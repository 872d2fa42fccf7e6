"""The risk of documents by their needs: who is drawn, what is written, chunks, judged questions."""

import math

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.audit import audit_needs
from argus.scenarios.profiles import draw
from argus.verdict import read_verdict
from tests.support.scenarios import profiles_of
from tests.support.word_encoder import WordEncoder

CONFIG = NeedsConfig(k=2)
TEXTS = {
    "tea_1": "green leaf steeped", "tea_2": "kettle boiling water", "cup_1": "china porcelain cup",
    "cup_2": "handle of a cup", "sea_1": "salt water wave", "sea_2": "tide and moon",
}  # fmt: skip
CHUNKS = [Document(id_, text, "", {"source": id_[:3]}) for id_, text in TEXTS.items()]
PROFILES = profiles_of(
    {
        "tea_1": ["kettle boiling water", "moon tide"],
        "cup_2": ["china porcelain"],
        "sea_1": ["salt wave"],
    }
)


def test_chunks_are_folded_to_their_documents(tmp_path):
    """tea_1 asks for the kettle, which its sibling answers: the document is found first."""
    alone = audit_needs(CHUNKS, PROFILES, out=tmp_path / "a", encoder=WordEncoder(), config=CONFIG)
    folded = audit_needs(
        CHUNKS, PROFILES, out=tmp_path / "b", encoder=WordEncoder(),
        config=NeedsConfig(k=2, parent_field="source"),
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
    assert any("documents, folded by source, come into the top 2" in x for x in folded.headline())


def test_a_sample_is_drawn_by_hash_and_holds_the_smaller_one():
    many = [Document(f"d{i}", f"word{i} text") for i in range(40)] + [Document("empty", "")]
    small, large = ({d.id for d in draw(many, n)} for n in (5, 12))
    assert small < large and len(large) == 12 and small != {d.id for d in many[:5]}
    assert [d.id for d in draw(many, 100)] == [d.id for d in many[:-1]] and draw(many, None) == many


def test_the_risk_is_compared_with_judged_questions(tmp_path):
    """Odd documents are found by their needs and their questions, even ones by neither."""
    many = [Document(f"d{i:02}", f"name{i} filler") for i in range(24)]
    words = [f"name{i}" if i % 2 else f"name{(i + 1) % 24}" for i in range(24)]
    profiles = profiles_of({d.id: [word] for d, word in zip(many, words, strict=True)})
    questions = [Query(f"q{i}", words[i]) for i in range(24)]
    qrels = {f"q{i}": {f"d{i:02}": 1} for i in range(24)}
    config, encoder = NeedsConfig(k=1), WordEncoder()
    result = audit_needs(
        many, profiles, out=tmp_path, encoder=encoder, config=config, queries=questions,
        qrels=qrels,
    )  # fmt: skip
    figures = result.summary["risk"]["judged"]
    assert (figures["questions"], figures["pairs"], figures["failed"]) == (24, 24, 12)
    assert figures["area"]["auc"] == 1.0
    assert any("ranks that lower in 100%" in line for line in result.headline())
    count = read_verdict(tmp_path).counts[0]
    assert [v.kind for v in count.validity] == ["measured here", "measured elsewhere"]


@pytest.mark.parametrize(
    ("judged", "lacking"),
    [({"queries": [Query("q", "x")]}, "--qrels"), ({"qrels": {"q": {"d": 1}}}, "--queries")],
)
def test_what_is_half_named_is_refused(tmp_path, judged, lacking):
    with pytest.raises(InputError, match=f"without {lacking}"):
        audit_needs(CHUNKS, PROFILES, out=tmp_path / "out", config=CONFIG, **judged)
    assert not (tmp_path / "out").exists()
