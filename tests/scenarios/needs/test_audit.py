"""The need audit from end to end, with the default encoder on small and on real documents."""

import pytest

from argus.data import Document
from argus.encoders import Encoder
from argus.errors import EncodingError, InputError
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.audit import audit_needs
from argus.scenarios.profile import Component, Profiled, ProfileState
from tests.support.scenarios import profiles_of

BREAD = Document("bread", "Sourdough rises slowly all night long in a bowl.", "Bread")
TIDES = Document("tides", "The moon pulls the oceans twice a day.", "Tides")
CHESS = Document("chess", "Bishops move along diagonals only.", "Chess")
DOCUMENTS = [
    BREAD,
    TIDES,
    CHESS,
    Document("copy", CHESS.text, CHESS.title),
    Document("noise", "xx yy zz"),
    Document("broken", "A recipe for soup."),
    Document("empty", ""),
    Document("unknown", "A text without a profile."),
]


PROFILES = profiles_of(
    {
        "bread": ["how dough is left to rise", "a bowl for the kitchen"],
        "tides": ["why the water in a harbour falls"],
        "copy": ["how a chess piece moves", "games with a king"],
        "empty": ["an empty page"],
        "elsewhere": ["a document of another corpus"],
    }
) | {
    "noise": Profiled("noise", ProfileState.NOISE, reason="nobody needs it"),
    "broken": Profiled("broken", ProfileState.FAILED, reason="the answer was cut"),
}
CONFIG = NeedsConfig(components=tuple(Component), weights=(0.7, 0.5), k=2)


@pytest.fixture(scope="module")
def result(minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("needs")
    return audit_needs(DOCUMENTS, PROFILES, out=out, encoder=minilm, config=CONFIG)


def rows(table, key):
    return {row[key]: row for row in table.to_pylist()}


def test_every_document_has_a_state_and_a_reason(result):
    found = {id_: r["reason"] for id_, r in rows(result.table, "id").items()}
    assert found == {
        "bread": "", "chess": "no profile", "copy": "", "empty": "no text", "tides": "",
        "broken": "the profile failed: the answer was cut",
        "noise": "the profile is noise: nobody needs it", "unknown": "no profile",
    }  # fmt: skip
    assert result.summary["documents"] == {
        "total": 8, "measured": 3, "failed": 0, "not applicable": 5,
        "reasons": {"no profile": 2, "no text": 1, "the profile failed": 1,
                    "the profile is noise": 1},
    }  # fmt: skip
    assert result.summary["profiles_elsewhere"] == 1


def held_out(minilm, doc_id, position, weight):
    """Rank by hand, M+E: vectors of texts, eq. 3, the need's own scenario left out."""
    documents = [d for d in DOCUMENTS if d.text]
    query = minilm.encode_queries([PROFILES[doc_id].profile.scenarios[position].information_need])
    scores = {}
    for document in documents:
        score = float((minilm.encode_documents([document.content]) @ query.T)[0, 0])
        profile = PROFILES[document.id].profile if document.id in PROFILES else None
        texts = [
            f"{profile.main_topic}\n{s.explanation}"
            for i, s in enumerate(profile.scenarios if profile else ())
            if (document.id, i) != (doc_id, position)
        ]
        if texts and weight < 1:
            best = float((minilm.encode_documents(texts) @ query.T).max())
            score = weight * score + (1 - weight) * best
        scores[document.id] = round(score, 5)
    return sorted(scores, key=lambda d: (-scores[d], d)).index(doc_id) + 1


def test_ranks_are_those_of_documents_alone_and_held_out(result, minilm):
    found = result.needs.to_pylist()
    assert [(r["document"], r["scenario"]) for r in found] == [
        ("bread", 1), ("bread", 2), ("copy", 1), ("copy", 2), ("tides", 1),
    ]  # fmt: skip
    for row in found:
        where = row["document"], row["scenario"] - 1
        assert row["rank"] == held_out(minilm, *where, 1.0)
        assert row["rank_fused"] == held_out(minilm, *where, 0.7)
    copy = rows(result.table, "id")["copy"]
    for where, rank in (("found", "rank"), ("found_fused", "rank_fused")):
        ranks = [r[rank] for r in found if r["document"] == "copy"]
        assert copy[where] == sum(r <= 2 for r in ranks) / 2


def test_the_grid_compares_every_cell_with_documents_alone(result):
    grid, alone = result.summary["grid"], result.summary["found_at_k"]
    assert len(grid) == 2 * len(Component)
    for cell in grid:
        assert cell["difference"]["mean"] == pytest.approx(cell["mean"] - alone["mean"])
        assert cell["difference"]["low"] is None, "three documents have no interval"


class Picky:
    """MiniLM that refuses some texts."""

    def __init__(self, encoder: Encoder, refused):
        self.encoder, self.refused = encoder, refused
        self.fingerprint, self.dim = encoder.fingerprint, encoder.dim

    def _checked(self, texts, encode):
        if any(self.refused(text) for text in texts):
            raise EncodingError("refused", retryable=False)
        return encode(texts)

    def encode_queries(self, texts):
        return self._checked(texts, self.encoder.encode_queries)

    def encode_documents(self, texts):
        return self._checked(texts, self.encoder.encode_documents)


def test_what_cannot_be_embedded_failed(minilm, tmp_path):
    refused = ("how dough", "why the water", "xx yy", "It says so: games")
    encoder = Picky(minilm, lambda text: any(part in text for part in refused))
    result = audit_needs(DOCUMENTS, PROFILES, out=tmp_path, encoder=encoder, config=CONFIG)
    found = {id_: (r["state"], r["reason"]) for id_, r in rows(result.table, "id").items()}
    assert found["tides"] == ("failed", "no need could be asked: refused")
    assert found["noise"] == ("failed", "no vector: refused")
    assert found["bread"] == ("measured", "1 of its needs could not be asked")
    need = result.needs.to_pylist()[0]
    assert (need["state"], need["reason"], need["rank"]) == ("failed", "refused", None)
    assert result.summary["needs"] == {"total": 5, "measured": 3, "failed": 2}


def test_profiles_of_another_corpus_are_named(minilm, tmp_path):
    with pytest.raises(InputError, match="1 profiles, none of them of a document of the corpus"):
        audit_needs(DOCUMENTS, profiles_of({"zz": ["n"]}), out=tmp_path / "out", encoder=minilm)
    assert not (tmp_path / "out").exists()


def test_a_weight_that_means_nothing_is_named():
    with pytest.raises(InputError, match=r"λ = 1\.2"):
        NeedsConfig(weights=(1.2,))
