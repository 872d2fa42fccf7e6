"""The need audit from end to end, with the default encoder on small and on real documents."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.data import Document
from argus.encoders import EmbeddingStore, Encoder
from argus.errors import ArgusError, EncodingError, InputError
from argus.measures import wilson
from argus.scenarios.ablation.grid import Cell
from argus.scenarios.files import read_profiles, write_profiles
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.job import audit_needs
from argus.scenarios.profile import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from tests.support.results import shown, sizes

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


def profiled(doc_id, topic, *needs):
    scenarios = tuple(Scenario(need, f"The document says so: {need}") for need in needs)
    return Profiled(doc_id, ProfileState.OK, ScenarioProfile(topic, (), scenarios))


PROFILES = {
    p.doc_id: p
    for p in (
        profiled("bread", "Baking", "how dough is left to rise", "a bowl for the kitchen"),
        profiled("tides", "The sea", "why the water in a harbour falls"),
        profiled("copy", "A board game", "how a chess piece moves", "games with a king"),
        profiled("empty", "Nothing", "an empty page"),
        profiled("elsewhere", "Not here", "a document of another corpus"),
        Profiled("noise", ProfileState.NOISE, reason="nobody needs it"),
        Profiled("broken", ProfileState.FAILED, reason="the answer was cut"),
    )
}
CONFIG = NeedsConfig(components=tuple(Component), weights=(0.7, 0.5), k=2, pool=3)


@pytest.fixture(scope="module")
def result(minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("needs")
    return audit_needs(DOCUMENTS, PROFILES, out=out, encoder=minilm, config=CONFIG)


def rows(table, key):
    return {row[key]: row for row in table.to_pylist()}


def test_every_document_has_a_state_and_a_reason(result):
    found = {id_: (r["state"], r["reason"]) for id_, r in rows(result.table, "id").items()}
    assert list(found) == sorted(d.id for d in DOCUMENTS)
    assert found == {
        "bread": ("measured", ""),
        "tides": ("measured", ""),
        "copy": ("measured", ""),
        "chess": ("not applicable", "no profile"),
        "unknown": ("not applicable", "no profile"),
        "noise": ("not applicable", "the profile is noise: nobody needs it"),
        "broken": ("not applicable", "the profile failed: the answer was cut"),
        "empty": ("not applicable", "no text"),
    }
    assert result.summary["documents"] == {
        "total": 8, "indexed": 7, "with_scenarios": 3,
        "measured": 3, "failed": 0, "not applicable": 5,
        "reasons": {"no profile": 2, "no text": 1, "the profile failed": 1,
                    "the profile is noise": 1},
    }  # fmt: skip
    assert result.summary["profiles_elsewhere"] == 1
    assert rows(result.table, "id")["noise"]["rps"] is None


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
        assert row["rank_alone"] == held_out(minilm, *where, 1.0)
        assert row["rank_fused"] == held_out(minilm, *where, 0.7)
        assert row["state"] == "measured"


def test_a_copy_of_smaller_id_comes_first_and_is_told_as_a_tie(result):
    copy = [r for r in result.needs.to_pylist() if r["document"] == "copy"]
    assert [r["ties_before"] for r in copy] == [1, 1]
    assert rows(result.table, "id")["copy"]["displaced_by"].split("; ")[0] == "chess"


def test_rps_is_the_hypergeometric_tail_with_wilsons_interval(result):
    """N=3 of n=7: two of six others are drawn; x is in the top 2 unless both rank above it."""
    ranks = [r["rank_alone"] for r in result.needs.to_pylist() if r["document"] == "copy"]
    expected = np.mean([1 - (r - 1) * (r - 2) / (6 * 5) for r in ranks])
    row = rows(result.table, "id")["copy"]
    assert row["rps"] == pytest.approx(expected)
    assert (row["low"], row["high"]) == pytest.approx(wilson(expected, 2))
    assert row["band"] == "high" and row["needs"] == 2


def test_the_worst_need_is_named_with_its_ranks(result):
    bread = rows(result.table, "id")["bread"]
    own = {r["need"]: r for r in result.needs.to_pylist() if r["document"] == "bread"}
    worst = max(own.values(), key=lambda r: r["rank_alone"])
    assert bread["worst_rank"] == worst["rank_alone"] == own[bread["worst_need"]]["rank_alone"]
    assert bread["worst_rank_fused"] == own[bread["worst_need"]]["rank_fused"]
    assert bread["best_rank"] == min(r["rank_alone"] for r in own.values())


def test_the_grid_compares_every_cell_with_documents_alone(result):
    grid, alone = result.summary["grid"], result.summary["alone"]
    assert [(c["component"], c["lambda"]) for c in grid] == [
        (str(c), w) for c in Component for w in (0.5, 0.7)
    ]
    for cell in grid:
        for name in ("found_at_1", "found_at_k", "rps"):
            difference = cell[name]["difference"]
            assert difference["mean"] == pytest.approx(cell[name]["mean"] - alone[name]["mean"])
            assert difference["low"] is None, "three documents have no interval"
    assert (result.summary["fused"]["component"], result.summary["fused"]["lambda"]) == ("M+E", 0.7)


def test_the_share_found_in_the_top_k_counts_every_document_once(result):
    ranks = {}
    for row in result.needs.to_pylist():
        ranks.setdefault(row["document"], []).append(row["rank_alone"])
    for name, k in (("found_at_1", 1), ("found_at_k", 2)):
        expected = np.mean([np.mean([r <= k for r in own]) for own in ranks.values()])
        assert result.summary["alone"][name]["mean"] == pytest.approx(expected)
    assert sum(result.summary["histogram"]["alone"]) == 3


def test_shares_by_slice_are_those_of_its_documents(result, minilm, tmp_path):
    kinds = {"bread": "food", "copy": "play", "tides": "food"}
    documents = [
        replace(d, metadata={"kind": kinds[d.id]} if d.id in kinds else {}) for d in DOCUMENTS
    ]
    config = replace(CONFIG, by=("metadata.kind",))
    told = audit_needs(documents, PROFILES, out=tmp_path, encoder=minilm, config=config)
    found = {}
    for row in result.needs.to_pylist():
        ranks = row["rank_alone"], row["rank_fused"]
        found.setdefault(row["document"], []).append([rank <= 2 for rank in ranks])
    rows = pq.read_table(tmp_path / "needs_slices.parquet").to_pylist()
    for i, index in enumerate(("documents alone", "with scenarios")):
        own = {
            row["slice"]: (row["n"], row["share"])
            for row in rows
            if row["share_of"] == f"found in the top 2 by their needs, {index}"
        }
        means = {doc: np.mean(both, axis=0)[i] for doc, both in found.items()}
        food = (means["bread"] + means["tides"]) / 2
        assert own == {"food": (2, pytest.approx(food)), "play": (1, means["copy"])}
    assert told.summary["slices"]["shares"] == 4
    assert told.summary["alone"] == result.summary["alone"] and "slices" not in result.summary
    assert "By slice" in told.report.read_text()


def test_files_and_report_agree_with_the_result(result):
    folder = result.folder
    assert pq.read_table(folder / "need_audit.parquet").equals(result.table)
    assert pq.read_table(folder / "needs.parquet").equals(result.needs)
    assert (folder / "needs.csv").is_file() and (folder / "need_audit.csv").is_file()
    assert json.loads((folder / "summary.json").read_text())["needs"] == result.summary
    page = result.report.read_text()
    assert "cannot be reached by what they are for" in page and "how a chess piece moves" in page
    settings = json.loads((folder / "manifest.json").read_text())["needs"]["config"]
    assert settings["lambda"] == [0.5, 0.7] and settings["components"] == list(Component)


def test_components_share_the_ranks_of_documents_alone(minilm, tmp_path):
    """Whatever is audited beside it, the table of documents alone is the same."""
    ranks = [
        audit_needs(
            DOCUMENTS, PROFILES, out=tmp_path / component.name, encoder=minilm,
            config=NeedsConfig(components=(component,), weights=(0.7,), k=2, pool=3),
        ).needs["rank_alone"].to_pylist()
        for component in (Component.M, Component.IE)
    ]  # fmt: skip
    assert ranks[0] == ranks[1]


def test_a_small_corpus_gets_a_smaller_pool_and_says_so(minilm, tmp_path):
    found = audit_needs(DOCUMENTS, PROFILES, out=tmp_path, encoder=minilm).summary
    assert found["rps"] == {"k": 1, "pool": 3} and found["wanted"] == {"k": 10, "pool": 800}
    assert found["k"] == 7, "no list is longer than the corpus"
    assert found["fused"]["found_at_k"]["mean"] == 1.0


@pytest.mark.parametrize(
    ("n", "k", "pool"), [(800, 10, 800), (799, 10, 399), (67, 1, 33), (2, 1, 2)]
)
def test_k_and_pool_fit_the_corpus(n, k, pool):
    setting = NeedsConfig().fitting(n)
    assert (setting.k, setting.pool) == (k, pool)


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

    def encode_spans(self, texts, spans):
        raise NotImplementedError


def test_what_cannot_be_embedded_failed(minilm, tmp_path):
    refused = ("how dough", "why the water", "xx yy", "The document says so: games")
    encoder = Picky(minilm, lambda text: any(part in text for part in refused))
    result = audit_needs(DOCUMENTS, PROFILES, out=tmp_path, encoder=encoder, config=CONFIG)
    found = rows(result.table, "id")
    assert found["tides"]["state"] == "failed"
    assert found["tides"]["reason"] == "no need has a vector: refused"
    assert found["noise"]["reason"] == "no vector: refused" and found["noise"]["rps"] is None
    assert found["bread"]["state"] == "measured"
    assert found["bread"]["reason"] == "1 of its needs without a vector"
    assert found["bread"]["needs"] == 1
    needs = result.needs.to_pylist()
    assert [(r["state"], r["reason"]) for r in needs if r["document"] == "bread"] == [
        ("failed", "refused"), ("measured", ""),
    ]  # fmt: skip
    assert needs[0]["rank_alone"] is None
    assert result.summary["needs"] == {"total": 5, "measured": 3, "failed": 2}
    assert result.summary["scenarios_failed"] > 0


def test_a_second_run_embeds_nothing_and_finds_the_same(result, minilm, tmp_path):
    store = result.folder / "embeddings"
    before = sum(f.stat().st_size for f in store.rglob("*") if f.is_file())
    encoder = Picky(minilm, lambda text: True)
    again = audit_needs(
        DOCUMENTS, PROFILES, out=tmp_path, encoder=encoder, config=CONFIG, store=store
    )
    assert again.table.equals(result.table) and again.needs.equals(result.needs)
    assert sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) == before
    with EmbeddingStore(store, fingerprint=minilm.fingerprint, dim=minilm.dim) as opened:
        assert len(opened) > 0


def test_profiles_are_read_from_a_file_or_a_folder(minilm, tmp_path):
    write_profiles(tmp_path / "profiles.jsonl", PROFILES.values())
    assert set(read_profiles(tmp_path)) == set(PROFILES)
    for name, given in (("a", tmp_path / "profiles.jsonl"), ("b", tmp_path)):
        result = audit_needs(
            DOCUMENTS, given, out=tmp_path / name, encoder=minilm, config=CONFIG, limit=4
        )
        assert result.summary["documents"]["measured"] == 3
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())["needs"]
        assert manifest["inputs"]["profiles"]["file"].endswith("profiles.jsonl")


def test_the_default_cell_is_nearest_to_that_of_the_paper():
    from argus.scenarios.ablation.grid import usual_cell

    cells = NeedsConfig(components=(Component.E, Component.I), weights=(0.9, 0.6)).cells
    assert usual_cell(cells) == Cell(Component.E, 0.6)


# ---- bad input -----------------------------------------------------------------------------------


def test_profiles_of_another_corpus_are_named(minilm, tmp_path):
    other = {"zz": profiled("zz", "t", "n")}
    with pytest.raises(InputError, match="1 profiles, none of them of a document of the corpus"):
        audit_needs(DOCUMENTS, other, out=tmp_path / "out", encoder=minilm)
    assert not (tmp_path / "out").exists()


def test_profiles_without_a_scenario_measure_nothing(minilm, tmp_path):
    noise = {"noise": PROFILES["noise"], "empty": PROFILES["empty"]}
    with pytest.raises(ArgusError, match="no document with text has a profile with scenarios"):
        audit_needs(DOCUMENTS, noise, out=tmp_path / "out", encoder=minilm)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("documents", [[], [BREAD], [BREAD, Document("blank", " ")]])
def test_one_document_has_nothing_to_compete_with(documents, minilm, tmp_path):
    with pytest.raises(ArgusError, match="no two documents have text"):
        audit_needs(documents, PROFILES, out=tmp_path / "out", encoder=minilm)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"k": 0}, "0; expected a whole number from 1"),
        ({"k": 5, "pool": 4}, "k=5 with a pool of N=4"),
        ({"weights": (1.2,)}, "λ = 1.2"),
        ({"weights": ()}, "a grid of 1 components and 0 λ"),
        ({"components": ()}, "a grid of 0 components and 5 λ"),
    ],
)
def test_settings_that_mean_nothing_are_named(config, message):
    with pytest.raises(InputError, match=message):
        NeedsConfig(**config)


def test_needs_show_their_figures(result, monkeypatch):
    assert any("RPS below 0.33 at k=2, N=3" in line for line in shown(result))
    tables = {"table": len(DOCUMENTS), "needs": result.needs.num_rows, "risk": 3}
    assert sizes(result, monkeypatch) == tables
