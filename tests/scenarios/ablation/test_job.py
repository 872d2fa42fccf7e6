"""The ablation as a job: cells are what an index would find, and what is doubtful is said."""

import pytest

from argus.data.runs import ranking
from argus.data.types import Document, Query, View
from argus.encoders import documents as as_documents
from argus.encoders import embed
from argus.encoders.store import EmbeddingStore
from argus.errors import ArgusError
from argus.indexes.snapshot import Snapshot
from argus.measures import evaluate
from argus.scenarios import Component, Profiled, ProfileState
from argus.scenarios.ablation.findings import AblateConfig
from argus.scenarios.ablation.job import ablate_scenarios
from argus.scenarios.files import Baseline, Expansion, expanded, scenario_views
from tests.support.scenarios import profiles_of
from tests.support.tasks import lines

TEXTS = {
    "bread": "Bread is baked from flour, water and yeast.",
    "engine": "Only a part of the machine was ever built by its inventor.",
    "ferry": "A paddle steamer crosses the lake every morning.",
    "fire": "The old town was rebuilt in sandstone after the fire.",
    "flood": "A bridge collapsed in the flood, and the city was cut off for a week.",
    "medal": "The society gave the inventor a medal.",
    "rain": "It rained on most days of the week.",
    "swim": "In summer many people swim down the river to work.",
}
NEEDS = {
    "bread": ["what goes into a loaf", "why dough rises"],
    "ferry": ["how to get to the other shore by boat"],
    "flood": ["what high water does to a town", "how a city is supplied without roads"],
    "swim": ["how to commute without a car", "whether a river is fit for bathing"],
}
QUESTIONS = {
    "Getting to the office in an unusual way": "swim",
    "Crossing the water on a boat": "ferry",
    "Ingredients of a loaf": "bread",
    "Damage done by high water": "flood",
    "Which stone was used for new houses?": "fire",
    "A prize for making things": "medal",
}
DOCUMENTS = [Document(id_, text) for id_, text in TEXTS.items()]
QUERIES = [Query(f"q{i}", text) for i, text in enumerate(QUESTIONS)]
QRELS = {f"q{i}": {doc: 1} for i, doc in enumerate(QUESTIONS.values())}
CONFIG = AblateConfig(weights=(0.0, 0.5, 0.7, 1.0), resamples=1000, placebos=2)


PROFILES = profiles_of(NEEDS | {"elsewhere": ["something else"]}) | {
    "rain": Profiled("rain", ProfileState.FAILED, None, "cut off")
}
EXPANSIONS = {d: Expansion(d, tuple(NEEDS[d]), f"This is about {d}.") for d in ("swim", "ferry")}


@pytest.fixture(scope="module")
def run(minilm, tmp_path_factory):
    """Run the job on the small corpus; all runs share one store of vectors."""
    store = tmp_path_factory.mktemp("store")

    def job(out, **options):
        given = {
            "corpus": DOCUMENTS, "profiles": PROFILES, "queries": QUERIES, "qrels": QRELS,
            "encoder": minilm, "config": CONFIG, "store": store,
        } | options  # fmt: skip
        return ablate_scenarios(out=out, **given)

    return job


@pytest.fixture(scope="module")
def found(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    rows = (
        {"_id": e.doc_id, "pseudo_queries": e.pseudo_queries, "summary": e.summary}
        for e in EXPANSIONS.values()
    )
    return run(folder / "out", expansions=lines(folder / "given.jsonl", *rows))


@pytest.fixture(scope="module")
def embedded(minilm, tmp_path_factory):
    with EmbeddingStore(
        tmp_path_factory.mktemp("own"), fingerprint=minilm.fingerprint, dim=minilm.dim
    ) as store:
        yield lambda texts: embed(as_documents(texts), minilm, store).vectors


def rows_of(found, system="scenarios"):
    return [r for r in found.table.to_pylist() if r["system"] == system]


def index_of(embedded, component, doc_ids=tuple(TEXTS)):
    views = [View(d, d, "original", TEXTS[d]) for d in doc_ids]
    views += scenario_views([p for d, p in PROFILES.items() if d in doc_ids], component)
    return Snapshot.of(views, embedded([view.text for view in views]))


@pytest.mark.parametrize("component", list(Component))
def test_every_cell_is_what_an_index_of_these_scenarios_finds(found, embedded, minilm, component):
    asked = minilm.encode_queries(list(QUESTIONS))
    index = index_of(embedded, component)
    rows = [r for r in rows_of(found) if r["component"] == component]
    assert [r["lambda"] for r in rows] == [0.0, 0.5, 0.7, 1.0]
    for row in rows:
        run = index.search(asked, 100, row["lambda"]).run(list(QRELS))
        expected = evaluate(run, QRELS, CONFIG.measures).aggregate
        assert row["nDCG@10"] == pytest.approx(expected["nDCG@10"])
        assert row["R@10"] == pytest.approx(expected["R@10"])


def test_what_a_question_excludes_is_taken_out_of_every_cell(run, embedded, minilm, tmp_path):
    """The first of each question, before the relevant one: its own post, as in BRIGHT."""
    index, names = index_of(embedded, Component.ME), [f"q{i}" for i in range(6)]
    asked = minilm.encode_queries(list(QUESTIONS))
    first = {q: ranking(row) for q, row in index.search(asked, 100, 1.0).run(names).items()}
    excluded = {q: frozenset(ids[:1]) for q, ids in first.items()}
    qrels = {q: {ids[1]: 1} for q, ids in first.items()}
    result = run(tmp_path / "out", excluded=excluded, qrels=qrels)
    for row in (r for r in rows_of(result) if r["component"] == Component.ME):
        whole = index.search(asked, 100, row["lambda"]).run(names)
        rest = {q: {d: s for d, s in whole[q].items() if d not in excluded[q]} for q in names}
        before, after = (evaluate(one, qrels, ["nDCG@10"]).aggregate for one in (whole, rest))
        assert row["nDCG@10"] == pytest.approx(after["nDCG@10"]) and after != before
    rows = ({"id": q, "excluded_ids": sorted(ids)} for q, ids in excluded.items())
    file = lines(tmp_path / "excluded.jsonl", *rows)
    again = run(tmp_path / "file", excluded=file, qrels=qrels)
    assert again.summary["whole"] == result.summary["whole"]


@pytest.mark.parametrize("baseline", list(Baseline))
def test_an_expanded_document_has_one_vector_in_place_of_its_own(found, embedded, minilm, baseline):
    texts = [expanded(d, EXPANSIONS.get(d.id), baseline) for d in DOCUMENTS]
    assert sum(text != d.content for text, d in zip(texts, DOCUMENTS, strict=True)) == 2
    index = Snapshot.of([View(d.id, d.id, "original", "") for d in DOCUMENTS], embedded(texts))
    run = index.search(minilm.encode_queries(list(QUESTIONS)), 100).run(list(QRELS))
    (row,) = rows_of(found, system=str(baseline))
    assert row["nDCG@10"] == pytest.approx(evaluate(run, QRELS, ["nDCG@10"]).aggregate["nDCG@10"])
    assert found.summary["expansions"]["baselines"][baseline] == 2


def test_a_cell_is_tuned_on_some_questions_and_told_on_others(found, run, tmp_path):
    tuned = found.summary["whole"]["tuned"]
    assert tuned["chosen_on"] == tuned["comparison"]["queries"] == 3
    assert tuned["usual"]["mean_before"] == tuned["comparison"]["mean_before"]
    config = AblateConfig(weights=(0.7,), resamples=1000, tune_share=0.0, placebos=0)
    untuned = run(tmp_path, config=config)
    assert untuned.summary["whole"]["tuned"] is None


def test_the_placebo_exchanges_profiles_beside_its_cell(found):
    cells = {(r["component"], r["lambda"]): r["nDCG@10"] for r in rows_of(found)}
    placebos = {
        (r["component"], r["lambda"]): r["nDCG@10"] for r in rows_of(found, system="placebo")
    }
    assert ("M+E", 0.7) in placebos
    for gap in found.summary["whole"]["gaps"]:
        if gap["against"] == "placebo":
            of = gap["component"], gap["lambda"]
            assert gap["comparison"]["mean_before"] == pytest.approx(placebos.pop(of))
            assert gap["comparison"]["mean_after"] == pytest.approx(cells[of])
            assert gap["comparison"]["mean_difference"] != 0
    assert not placebos


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profiles": {"elsewhere": PROFILES["elsewhere"]}}, "no profile with scenarios of a doc"),
        ({"qrels": {"other": {"swim": 1}}}, "the judgements name none of the 6 queries"),
        ({"qrels": {"q0": {"swim": 0}}}, "hold no relevant document for any query"),
        ({"qrels": {"q0": {"gone": 1}}}, "holds none of the 1 relevant documents"),
        ({"corpus": [Document("a", " ")]}, "no document has text"),
    ],
)
def test_what_does_not_belong_together_is_refused_unwritten(run, tmp_path, options, message):
    with pytest.raises(ArgusError, match=message):
        run(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
