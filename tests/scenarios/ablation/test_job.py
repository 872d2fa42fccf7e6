"""The ablation as a job: cells are what an index would find, and what is doubtful is said."""

import json
from contextlib import suppress

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.data.runs import ranking
from argus.data.types import Document, Query
from argus.encoders import documents as as_documents
from argus.encoders import embed
from argus.encoders.store import EmbeddingStore
from argus.errors import ArgusError, InputError
from argus.indexes.snapshot import Snapshot
from argus.llm import ChatConfig, LocalConfig
from argus.measures import evaluate
from argus.scenarios import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.ablation.config import AblateConfig
from argus.scenarios.ablation.grid import embed_scenarios
from argus.scenarios.ablation.job import ablate_scenarios
from argus.scenarios.expansions import Baseline, Expansion, expanded, write_expansions
from argus.scenarios.files import write_profiles
from argus.scenarios.views import scenario_views
from tests.support.in_process_engine import InProcessEngine
from tests.support.pages import tables
from tests.support.results import shown, sizes
from tests.support.tiny_llama import make_tokenizer, save_llama
from tests.support.word_encoder import WordEncoder

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


def profiled(doc_id, needs):
    scenarios = tuple(Scenario(need, f"It tells {need}.") for need in needs)
    return Profiled(doc_id, ProfileState.OK, ScenarioProfile(f"About {doc_id}", (), scenarios))


PROFILES = {doc_id: profiled(doc_id, needs) for doc_id, needs in NEEDS.items()} | {
    "rain": Profiled("rain", ProfileState.FAILED, None, "cut off"),
    "elsewhere": profiled("elsewhere", ["something else"]),
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
    path = write_expansions(folder / "given.jsonl", EXPANSIONS.values())
    return run(folder / "out", expansions=path)


@pytest.fixture(scope="module")
def embedded(minilm, tmp_path_factory):
    with EmbeddingStore(
        tmp_path_factory.mktemp("own"), fingerprint=minilm.fingerprint, dim=minilm.dim
    ) as store:
        yield lambda texts: embed(as_documents(texts), minilm, store).vectors


def rows_of(found, corpus="whole", system="scenarios"):
    return [r for r in found.table.to_pylist() if (r["corpus"], r["system"]) == (corpus, system)]


def index_of(embedded, component, doc_ids=tuple(TEXTS)):
    from argus.data.types import View

    views = [View(d, d, "original", TEXTS[d]) for d in doc_ids]
    views += scenario_views([p for d, p in PROFILES.items() if d in doc_ids], component)
    return Snapshot.of(views, embedded([view.text for view in views]))


@pytest.mark.parametrize("component", list(Component))
def test_every_cell_is_what_an_index_of_these_scenarios_finds(found, embedded, minilm, component):
    asked = minilm.encode_queries(list(QUESTIONS))
    for corpus, ids, queries in (
        ("whole", tuple(TEXTS), range(6)),
        ("profiled", tuple(NEEDS), range(4)),
    ):
        index = index_of(embedded, component, ids)
        rows = [r for r in rows_of(found, corpus) if r["component"] == component]
        assert [r["lambda"] for r in rows] == [0.0, 0.5, 0.7, 1.0]
        for row in rows:
            names = [f"q{i}" for i in queries]
            run = index.search(asked[list(queries)], 100, row["lambda"]).run(names)
            expected = evaluate(run, {q: QRELS[q] for q in names}, CONFIG.measures).aggregate
            assert row["nDCG@10"] == pytest.approx(expected["nDCG@10"])
            assert row["R@10"] == pytest.approx(expected["R@10"])
            assert row["queries"] == len(names)


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
    file = tmp_path / "excluded.jsonl"
    lines = ({"id": q, "excluded_ids": sorted(ids)} for q, ids in excluded.items())
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = run(tmp_path / "file", excluded=file, qrels=qrels)
    assert again.summary["whole"] == result.summary["whole"]


def test_weight_one_is_documents_alone_and_changes_nothing(found):
    (alone,) = rows_of(found, system="documents alone")
    for row in rows_of(found):
        if row["lambda"] == 1.0:
            assert row["nDCG@10"] == alone["nDCG@10"]
            assert (row["difference"], row["improved"], row["harmed"]) == (0, 0, 0)
            assert row["no_interval"] == "no query changed"


@pytest.mark.parametrize("baseline", list(Baseline))
def test_an_expanded_document_has_one_vector_in_place_of_its_own(found, embedded, minilm, baseline):
    texts = [expanded(d, EXPANSIONS.get(d.id), baseline) for d in DOCUMENTS]
    assert sum(text != d.content for text, d in zip(texts, DOCUMENTS, strict=True)) == 2
    from argus.data.types import View

    index = Snapshot.of([View(d.id, d.id, "original", "") for d in DOCUMENTS], embedded(texts))
    run = index.search(minilm.encode_queries(list(QUESTIONS)), 100).run(list(QRELS))
    (row,) = rows_of(found, system=str(baseline))
    assert row["nDCG@10"] == pytest.approx(evaluate(run, QRELS, ["nDCG@10"]).aggregate["nDCG@10"])
    told = found.summary["expansions"]["baselines"][baseline]
    assert (told["documents"], told["failed"]) == (2, 0)


def test_the_summary_counts_what_the_figures_rest_on(found):
    summary = found.summary
    assert summary["documents"]["with_scenarios"] == 4
    assert summary["documents"]["share"] == 0.5
    profiles = summary["profiles"]
    assert (profiles["total"], profiles["failed"], profiles["of_other_documents"]) == (6, 1, 1)
    assert profiles["scenarios"] == 7
    assert (summary["whole"]["queries"], summary["profiled"]["queries"]) == (6, 4)
    assert summary["profiled"]["documents"] == 4
    assert summary["whole"]["usual"] == {"component": "M+E", "lambda": 0.7}
    groups = {g["relevant_with_scenarios"]: g["comparison"] for g in summary["groups"]}
    assert (groups["all"]["queries"], groups["none"]["queries"]) == (4, 2)


def test_a_cell_is_tuned_on_some_questions_and_told_on_others(found, run, tmp_path):
    tuned = found.summary["whole"]["tuned"]
    assert tuned["chosen_on"] == tuned["comparison"]["queries"] == 3
    assert tuned["usual"]["mean_before"] == tuned["comparison"]["mean_before"]
    config = AblateConfig(weights=(0.7,), resamples=1000, tune_share=0.0, placebos=0)
    untuned = run(tmp_path, config=config)
    assert untuned.summary["whole"]["tuned"] is None
    assert "instead" not in section_of(untuned.report)


def test_the_placebo_exchanges_profiles_beside_its_cell(found):
    whole = found.summary["whole"]
    placebos = rows_of(found, system="placebo")
    assert {"component": "M+E", "lambda": 0.7} in [
        {"component": r["component"], "lambda": r["lambda"]} for r in placebos
    ]
    for row in placebos:
        (gap,) = [
            g["comparison"]
            for g in whole["gaps"]
            if (g["against"], g["component"], g["lambda"])
            == ("placebo", row["component"], row["lambda"])
        ]
        (cell,) = [
            r
            for r in rows_of(found)
            if (r["component"], r["lambda"]) == (row["component"], row["lambda"])
        ]
        assert gap["mean_before"] == pytest.approx(row["nDCG@10"])
        assert gap["mean_after"] == pytest.approx(cell["nDCG@10"])
        assert row["nDCG@10"] != cell["nDCG@10"]


def section_of(report):
    page = report.read_text(encoding="utf-8")
    return page[page.index('<h2 id="ablation">') : page.index('id="provenance"')]


def test_the_report_shows_the_grid_the_baselines_and_the_doubts(found):
    page = found.report.read_text(encoding="utf-8")
    told = section_of(found.report)
    assert "&lt;" not in told, "no markup is shown as text"
    assert "50.0%" in told and "4 of 8, with 7 scenarios" in told
    assert "1 are of documents that the corpus does not hold" in told
    assert "that is fitting" in told and "<b>Placebo.</b>" in told
    assert "2 documents with pseudo-queries" in told
    assert 'data-plot="ablation_whole"' in page
    heat = argus.figure_dicts(found.folder)["ablation_whole"]["data"][0]
    assert heat["x"] == ["0", "0.5", "0.7", "1"] and heat["y"] == ["M", "I", "E", "M+E", "I+E"]
    assert np.array(heat["z"]).shape == (5, 4)
    assert {row[-1] for row in heat["z"]} == {0}, "λ = 1"
    on_page = tables(page)
    names = [row[0] for row in on_page["ablation_whole"]["rows"]]
    assert names[:3] == [
        "documents alone", "documents + pseudo-queries", "documents + summary"
    ]  # fmt: skip
    for table in on_page.values():
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


def test_table_and_summary_are_in_the_folder(found):
    assert pq.read_table(found.folder / "ablation.parquet").equals(found.table)
    header = (found.folder / "ablation.csv").read_text().splitlines()[0]
    assert header.startswith('"corpus","system","component","lambda","nDCG@10","R@10"')
    summary = json.loads((found.folder / "summary.json").read_text())
    assert summary["ablation"]["whole"]["best"] == found.summary["whole"]["best"]


def test_the_same_job_says_the_same(found, run, tmp_path):
    again = run(tmp_path / "again", expansions=found.folder.parent / "given.jsonl")
    assert again.summary == found.summary


def test_without_expansions_or_a_model_they_are_not_applicable(run, tmp_path):
    config = AblateConfig(components=(Component.E,), weights=(0.7,), resamples=1000)
    result = run(tmp_path, config=config)
    assert result.summary["expansions"] is None
    assert "Not applicable: document expansion" in section_of(result.report)
    assert {r["system"] for r in result.table.to_pylist()} == {
        "documents alone", "scenarios", "placebo"
    }  # fmt: skip


def test_with_all_documents_profiled_there_is_one_grid(run, tmp_path):
    config = AblateConfig(weights=(0.7,), resamples=1000, placebos=0)
    documents = [d for d in DOCUMENTS if d.id in NEEDS]
    result = run(tmp_path, corpus=documents, config=config)
    assert result.summary["profiled"] is None
    assert result.summary["missing_judged_documents"]["documents"] == 2
    told = section_of(result.report)
    assert "That is the whole corpus" in told
    assert "2 relevant documents are not in the corpus" in told


def test_without_questions_on_profiled_documents_it_is_said(run, tmp_path):
    config = AblateConfig(weights=(0.7,), resamples=1000, placebos=0)
    result = run(tmp_path, qrels={"q0": {"swim": 1, "rain": 1}}, config=config)
    assert result.summary["profiled"] is None and result.summary["whole"]["tuned"] is None
    assert [g["relevant_with_scenarios"] for g in result.summary["groups"]] == ["some"]
    assert result.summary["queries"]["reasons"] == {"no judgement": 5}
    assert "Not applicable: no question" in section_of(result.report)


def test_one_profile_has_no_placebo(run, tmp_path):
    config = AblateConfig(weights=(0.7,), resamples=1000)
    result = run(tmp_path, profiles={"swim": PROFILES["swim"]}, config=config)
    assert not rows_of(result, system="placebo")
    assert "Placebo" not in section_of(result.report)


def test_documents_without_text_are_counted_and_in_no_index(run, tmp_path):
    config = AblateConfig(components=(Component.M,), weights=(0.7,), resamples=1000)
    documents = [*DOCUMENTS, Document("blank", " ")]
    profiles = PROFILES | {"blank": profiled("blank", ["nothing"])}
    summary = run(tmp_path, corpus=documents, profiles=profiles, config=config).summary
    counts = summary["documents"]
    assert (counts["total"], counts["indexed"], counts["without_text"]) == (9, 8, 1)
    assert counts["with_scenarios"] == 4


def answers(endpoint):
    def behave(text, n):
        system = endpoint.requests[n - 1]["messages"][0]["content"]
        value = {"queries": ["a", "b", "c"]} if "queries" in system else {"summary": "All of it."}
        return {"text": json.dumps(value)}

    return behave


def asking(endpoint, **options):
    return ChatConfig(model="m", base_url=endpoint.url, backoff_s=0.001, **options)


def test_a_model_expands_the_documents_that_have_scenarios_once(run, endpoint, tmp_path):
    endpoint.behave = answers(endpoint)
    config = AblateConfig(components=(Component.ME,), weights=(0.7,), resamples=1000)
    result = run(tmp_path / "out", model=asking(endpoint), config=config)
    assert len(endpoint.requests) == 2 * 4
    made = result.summary["expansions"]
    assert {b: told["documents"] for b, told in made["baselines"].items()} == {
        "pseudo-queries": 4, "summary": 4
    }  # fmt: skip
    assert made["model"].startswith("m@") and made["language_model"]["prompts"] == 8
    assert "Written by m@" in section_of(result.report)
    written = (result.folder / "expansions.jsonl").read_text().splitlines()
    assert [json.loads(line)["pseudo_queries"] for line in written] == [["a", "b", "c"]] * 4
    again = run(tmp_path / "out", model=asking(endpoint), config=config)
    assert len(endpoint.requests) == 8, "nothing is asked twice"
    assert again.summary["whole"] == result.summary["whole"]
    by_file = run(tmp_path / "other", expansions=result.folder / "expansions.jsonl", config=config)
    assert by_file.summary["whole"] == result.summary["whole"]


def test_a_run_that_stops_goes_on_where_it_was(run, endpoint, tmp_path):
    config = AblateConfig(components=(Component.ME,), weights=(0.7,), resamples=1000)
    stopped = r"prompts are without an answer of m@.*run the same command: it asks only the rest"
    with pytest.raises(ArgusError, match=f"8 of 8 {stopped}"):
        run(tmp_path, model=asking(endpoint, max_total_tokens=1), config=config)
    assert not endpoint.requests
    healthy = answers(endpoint)

    def half(text, n):
        answer = healthy(text, n)
        return {"status": 503} if "summary" in answer["text"] else answer

    endpoint.behave = half
    with pytest.raises(ArgusError, match=f"4 of 8 {stopped}"):
        run(tmp_path, model=asking(endpoint, attempts=1), config=config)
    assert not (tmp_path / "ablation.parquet").exists()
    assert not (tmp_path / "expansions.jsonl").exists()
    endpoint.behave, before = healthy, len(endpoint.requests)
    run(tmp_path, model=asking(endpoint), config=config)
    assert len(endpoint.requests) == before + 4, "only the summaries"


def test_answers_that_cannot_be_used_leave_documents_as_they_are(run, endpoint, tmp_path):
    endpoint.behave = lambda text, n: {"text": "no object"}
    config = AblateConfig(components=(Component.ME,), weights=(0.7,), resamples=1000)
    result = run(tmp_path, model=asking(endpoint), config=config)
    for baseline in Baseline:
        assert rows_of(result, system=str(baseline)) == []  # failed, not documents alone again
        assert result.summary["expansions"]["baselines"][baseline]["documents"] == 0
    (reason,) = result.summary["expansions"]["reasons"]
    assert "does not fit QueriesAnswer" in reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profiles": {"elsewhere": PROFILES["elsewhere"]}}, "no profile with scenarios of a doc"),
        ({"profiles": {"rain": PROFILES["rain"]}}, "no profile with scenarios of a document"),
        ({"profiles": {}}, "no profile with scenarios of a document of the corpus .0 lines"),
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


def test_expansions_of_other_documents_are_counted_or_refused(run, tmp_path):
    path = write_expansions(tmp_path / "e.jsonl", [Expansion("elsewhere", ("a",), "b")])
    with pytest.raises(InputError, match="no expansion of a document of the corpus"):
        run(tmp_path / "out", expansions=path)
    write_expansions(path, [Expansion("elsewhere", ("a",), "b"), EXPANSIONS["swim"]])
    config = AblateConfig(components=(Component.ME,), weights=(0.7,), resamples=1000)
    summary = run(tmp_path / "out", expansions=path, config=config).summary
    assert summary["expansions"]["of_other_documents"] == 1


def test_a_file_and_a_model_at_once_are_refused(run, endpoint, tmp_path):
    with pytest.raises(InputError, match="both expansions and a model"):
        run(tmp_path, expansions=tmp_path / "e.jsonl", model=asking(endpoint))


def test_fresh_does_not_delete_the_folder_of_profiles(run, tmp_path):
    path = write_profiles(tmp_path / "profiles.jsonl", PROFILES.values())
    config = AblateConfig(components=(Component.ME,), weights=(0.7,), resamples=1000)
    assert run(tmp_path, profiles=tmp_path, config=config).summary["profiles"]["total"] == 6
    with pytest.raises(InputError, match="--fresh would empty the folder"):
        run(tmp_path, profiles=path, fresh=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": ()}, "a grid of 5 components and 0 λ"),
        ({"weights": (0.5, -0.1)}, "λ = -0.1"),
        ({"components": ()}, "a grid of 0 components"),
        ({"measures": ()}, "no measure"),
        ({"measures": ("nDCG@0",)}, "has the cutoff 0"),
        ({"tune_share": 1.0}, "from 0, below 1"),
        ({"placebos": -1}, "a whole number from 0"),
        ({"resamples": 10}, "a whole number from 1,000"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        AblateConfig(**options)


def test_settings_are_kept_in_one_order_and_spelling():
    config = AblateConfig(
        components=(Component.IE, Component.M, Component.M),
        weights=(1, 0.5, 0.5),
        measures=("NDCG@10", "R@200"),
    )
    assert config.components == (Component.M, Component.IE)
    assert config.weights == (0.5, 1.0)
    assert config.measures == ("nDCG@10", "R@200") and config.depth == 200


def test_an_engine_embeds_and_writes_and_changes_nothing(run, tmp_path):
    words, model = {"encoder": WordEncoder(), "store": None}, LocalConfig(
        model=str(save_llama(tmp_path / "tiny", make_tokenizer(), window=2048)),
        max_tokens_override=6,
    )  # fmt: skip
    here = run(tmp_path / "here", **words, model=None)
    engine = InProcessEngine()
    there = run(tmp_path / "there", **words, model=None, engine=engine)
    assert there.table.equals(here.table) and set(engine.setups) == {"embedding"}
    writing = InProcessEngine()
    with suppress(ArgusError):  # what a model with random weights writes may be of no use
        run(tmp_path / "written", **words, model=model, engine=writing)
    assert "answering" in writing.setups


def test_an_ablation_shows_its_figures(found, monkeypatch):
    assert "6 questions, nDCG@10" in shown(found)[0] and shown(found)[1:] != []
    assert sizes(found, monkeypatch) == {"table": found.table.num_rows}


def test_types_of_documents_stand_in_table_summary_and_report(run, tmp_path):
    kinds = {"ferry": "water", "flood": "water", "swim": "water", "rain": "water"}
    documents = [
        Document(d.id, d.text, metadata={"kind": kinds.get(d.id, "land")}) for d in DOCUMENTS
    ]
    config = AblateConfig(weights=(0.5, 0.7), placebos=0, resamples=1000, by=("kind",))
    result = run(tmp_path, corpus=documents, config=config)
    types = {row["type"]: row for row in result.summary["types"] if row["corpus"] == "whole"}
    assert {name: row["questions"] for name, row in types.items()} == {"water": 3, "land": 3}
    assert (types["water"]["profiles"], types["water"]["scenarios"]) == (3, 5)
    table = pq.read_table(tmp_path / "ablation_types.parquet").to_pylist()
    cells = {
        (r["type"], r["component"], r["lambda"]): r["mean"] for r in table if r["corpus"] == "whole"
    }
    whole = {
        (r["component"], r["lambda"]): r["nDCG@10"]
        for r in rows_of(result)
        if r["system"] == "scenarios"
    }
    for (component, weight), mean in whole.items():
        halves = [cells[kind, component, weight] for kind in ("water", "land")]
        assert mean == pytest.approx(sum(halves) / 2), "three questions each"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "By type of document" in page and "kind = water" in page
    assert any(line.startswith("kind = water (3 questions, few)") for line in result.headline())


def test_the_plain_form_is_embedded_without_what_explanations_share(run, tmp_path, monkeypatch):
    texts = []

    def recording(profiles, components, embed):
        embedded = embed_scenarios(profiles, components, embed)
        texts.append(set(embedded.rows))
        return embedded

    monkeypatch.setattr("argus.scenarios.ablation.inputs.embed_scenarios", recording)
    more = {d: profiled(d, [f"need of {d}"]) for d in ("engine", "fire", "medal")}
    for form in ("written", "plain"):
        config = AblateConfig(
            components=(Component.E,), weights=(0.7,), placebos=0, resamples=1000, form=form
        )
        run(tmp_path / form, profiles=PROFILES | more, config=config)
    written, plain = texts
    assert all(text.startswith("It tells ") for text in written)
    assert plain == {text.removeprefix("It tells ") for text in written}
    manifest = json.loads((tmp_path / "plain" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["ablation"]["config"]["form"] == "plain"
