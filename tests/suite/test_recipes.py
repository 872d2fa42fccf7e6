"""`argus reproduce`: recipes are whole, and one table of each paper runs on small real data."""

import json
from shutil import copytree

import pytest

from argus.authority.benchmarks.collection import write_benchmark
from argus.data.writing import write_jsonl
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.llm import ChatConfig
from argus.suite.config import ReproduceConfig
from argus.suite.recipes import ReachRequest, names, read_recipe
from argus.suite.reproduce import headline, recipes, reproduce
from argus.suite.sources import PUBLISHED, SOURCES, Setting, model_lacking
from tests.support.generating import output_records, small_vocabulary
from tests.support.harm import faithful, made
from tests.support.suites import draw, read_rows

TABLES = {"argus": 5 + 4, "car": 11, "spike": 3, "thesis": 10}
QUESTIONS = 24


def cells(result):
    return {(cell["row"], cell["column"]): cell for cell in result.summary["cells"]}


def opened(name, folder):
    return read_recipe(name, {"data": folder, "stdlib": folder / "stdlib"})


@pytest.fixture(scope="module")
def stdlib(tmp_path_factory):
    """Return a folder of data with some of the standard library's documents, as recipes ask it."""
    data = tmp_path_factory.mktemp("data")
    whole = data / "whole"
    write_sample_corpus(whole, standard_library())
    draw(whole, data / "stdlib", questions=QUESTIONS, others=10)
    corpus = {row["_id"] for row in read_rows(data / "stdlib" / "corpus.jsonl")}
    for name in ("profiles", "expansions"):
        rows = read_rows(whole / f"{name}.jsonl")
        write_jsonl(data / "stdlib" / f"{name}.jsonl", (r for r in rows if r["_id"] in corpus))
    return data


def test_there_are_recipes_of_every_paper():
    papers = [name.partition("-")[0] for name in names()]
    assert {paper: papers.count(paper) for paper in TABLES} == TABLES
    assert len(papers) == sum(TABLES.values())


@pytest.mark.parametrize("name", names())
def test_a_recipe_is_whole(name, tmp_path):
    recipe = opened(name, tmp_path)
    assert "Table" in recipe.source or "Figure" in recipe.source
    assert len(recipe.cells) == len(recipe.rows) * len(recipe.columns)
    assert len(set(recipe.rows)) == len(recipe.rows)
    for cell in recipe.cells:
        assert bool(cell.parts) != bool(cell.reason)


@pytest.mark.parametrize(
    ("name", "row", "column", "value"),
    [
        ("argus-1", "CONTRIEVER, XGBoost", "Pearson r", 0.658),
        ("argus-2", "JINA-V3, ARGUS (Doc-Exp.)", "ImpliRet avg. nDCG@10", 20.8),
        ("argus-2", "BGE-M3, Baseline", "Biology nDCG@5", 7.8),
        ("argus-4", "CONTRIEVER, k = 10", "Theorems", 23.93),
        ("spike-1", "SBERT +SPIKE", "Avg.", 15.7),
        ("spike-3", "Qwen +Sum.", "Earth.", 46.7),
        ("spike-7", "M+E 0.7", "Avg.", 21.6),
        ("car-2", "DenseReRank", "T2", 0.980),
        ("car-5", "Dense (E5-large)", "Mean rank", 1113.0),
        ("thesis-4", "D1", "MINDER hits@10", 93.9),
        ("thesis-16", "NN", "SEAL %", 47.6),
    ],
)
def test_published_numbers_are_those_of_the_paper(name, row, column, value, tmp_path):
    published = {(c.row, c.column): c.published for c in opened(name, tmp_path).cells}
    assert published[row, column] == value


ENTITIES = ("argus-1", "argus-3", *(f"argus-figure-{n}" for n in (1, 3, 5, 6)))


@pytest.mark.parametrize("name", ENTITIES)
def test_the_papers_retrievers_lack_entities_or_a_model_and_are_ready_else(name, tmp_path):
    out = tmp_path / "out"
    own = [c for c in opened(name, tmp_path).cells if "not in the paper" not in c.row]
    assert len({cell.parts[0].encoder for cell in own}) == 8
    assert {cell.parts[0].knowledge for cell in own} == {str(tmp_path / "argus" / "kb")}
    if name in ("argus-1", "argus-3"):
        family = {"XGBoost": "xgboost", "Ridge": "ridge", "MLP": "mlp"}
        for cell in own:
            kind = cell.row.rpartition(", ")[2]
            assert cell.parts[0].family == family.get(kind, kind.lower())
    absent = reproduce(name, out=out, data=tmp_path).summary["cells"]
    why = {cell["reason"] for cell in absent if cell["row"] == own[0].row}
    why.discard("a constant has none")  # a correlation
    assert len(why) == 1 and "argus" in str(why) and "is not here" in str(why)
    (tmp_path / "argus" / "kb").mkdir(parents=True)
    setting = Setting(tmp_path, tmp_path, out, out, 0.0)
    for request in {cell.parts[0] for cell in own}:
        assert SOURCES[ReachRequest].lacking(request, setting) == model_lacking(request.encoder)


def test_car_9_runs_from_nothing(tmp_path):
    result = reproduce("car-9", out=tmp_path, data=tmp_path / "none")
    assert (result.summary["measured"], result.summary["not_run"]) == (9, 0)
    for (row, _), cell in cells(result).items():
        if row != "TwoStage":
            assert cell["measured"] == pytest.approx(cell["published"], abs=0.05)
    text = (tmp_path / "car-9" / "tables" / "car-9.md").read_text()
    assert "CVE T1, published" in text


MEASURED_FROM_NOTHING = {"MiniLM (not in the paper)", "BM25 (not in the paper)"}


@pytest.mark.parametrize(("name", "columns"), [("argus-2", 2), ("argus-5", 4)])
def test_argus_2_and_5_run_from_nothing_beside_the_published(name, columns, stdlib, tmp_path):
    result = reproduce(name, out=tmp_path, data=stdlib)
    assert (result.summary["measured"], result.summary["failed"]) == (2 * columns, 0)
    values = {key: c["measured"] for key, c in cells(result).items() if c["state"] == "measured"}
    assert {row for row, _ in values} == MEASURED_FROM_NOTHING
    assert all("standard library" in column for _, column in values)
    assert min(values.values()) > 0 and max(values.values()) <= 100


@pytest.fixture(scope="module")
def entities(shared, tmp_path_factory):
    """Return a folder of data with 1,000 of FB15k-237's entities under its name."""
    data = tmp_path_factory.mktemp("entities")
    home = data / "fb15k237"
    home.mkdir()
    rows = read_rows(shared("fb15k237") / "entities.jsonl")[:1000]
    write_jsonl(home / "entities.jsonl", rows)
    ids = {row.get("_id", row.get("id")) for row in rows}
    head, *edges = (shared("fb15k237") / "edges.tsv").read_text().splitlines()
    own = [e for e in edges if {e.split("\t")[0], e.split("\t")[-1]} <= ids]
    (home / "edges.tsv").write_text("\n".join([head, *own]) + "\n")
    return data


@pytest.mark.campaign
def test_argus_figure_6_is_measured_of_audits_that_are_shared(entities, tmp_path):
    result = reproduce("argus-figure-6", out=tmp_path, data=entities)
    own = {
        column: cell
        for (row, column), cell in cells(result).items()
        if row == "MiniLM, mentions (not in the paper)"
    }
    assert {cell["state"] for cell in own.values()} == {"measured"}
    low = [own[f"low, N={n}"]["measured"] for n in (100, 200, 400, 800)]
    assert low == sorted(low) and 0 < low[0] < low[-1] < 1
    assert 0 < own["held out, N=800"]["measured"] < 1
    assert cells(result)["CONTRIEVER", "low, N=800"]["published"] == 0.753
    again = reproduce("argus-figure-5", out=tmp_path, data=entities)
    assert len(list((tmp_path / "shared" / "audits").iterdir())) == 2, "audits are shared"
    at = {
        column: cell["measured"]
        for (row, column), cell in cells(again).items()
        if row == "MiniLM, sentences (not in the paper)"
    }
    assert list(at.values()) == sorted(at.values()) and len(at) == 5


def test_a_terminal_shows_rows_and_columns_with_a_figure_and_tells_of_the_others():
    def cell(row, column, measured):
        state, reason = ("not run", "no model") if measured is None else ("measured", "")
        return {"row": row, "column": column, "published": 2.0, "measured": measured,
                "state": state, "reason": reason}  # fmt: skip

    summary = {"recipe": "t", "title": "T", "source": "S", "note": ""}
    grid = [cell("big", "a", None), cell("big", "b", None), cell("small", "a", None)]
    lines = list(headline({**summary, "cells": [*grid, cell("small", "b", 1.0)]}, 1))
    assert lines[2].split() == ["b"] and lines[3].split() == ["small", "1.0", "|", "2.0"]
    assert lines[4].startswith("3 more cells") and lines[5] == "not run, 3 cells: no model"
    assert lines[6:] == ["1 cell beside a published number: 1.0 apart in the mean, 1.0 at most "
                         "(small, b)"]  # fmt: skip
    lines = list(headline({**summary, "cells": grid[:2]}, 1))  # nothing at all: the published table
    assert lines[2].split() == ["a", "b"] and not any("more cells" in line for line in lines)


@pytest.fixture(scope="module")
def spike(tmp_path_factory):
    """Return where tables of SPIKE are measured: what one embeds, the others have."""
    return tmp_path_factory.mktemp("spike")


@pytest.mark.parametrize(("name", "n"), [("spike-7", 25), ("spike-3", 4), ("spike-1", 2)])
def test_tables_of_spike_run_on_the_standard_library(name, n, stdlib, spike):
    result = reproduce(name, out=spike, data=stdlib)
    assert (result.summary["measured"], result.summary["failed"]) == (n, 0)
    values = [c["measured"] for c in result.summary["cells"] if c["state"] == "measured"]
    assert len(set(values)) > min(3, n - 1)
    assert all(0 <= value <= 100 for value in values)


@pytest.mark.slow
def test_thesis_16_trains_searches_and_analyses(stdlib, tmp_path):
    config = ReproduceConfig(minutes=0.05)
    result = reproduce("thesis-16", out=tmp_path, data=stdlib, config=config)
    seal = [cell["measured"] for (_, column), cell in cells(result).items() if "SEAL" in column]
    assert sum(seal) == pytest.approx(100, abs=0.1)


def groups_of_seal(result):
    """Return how many groups of questions Table 13 has of SEAL's output."""
    return sum(cell["measured"] is not None for cell in result.summary["cells"])


def test_published_outputs_are_counted_as_the_thesis_does_where_its_tokenizer_is(tmp_path):
    data = tmp_path / "data"
    home = data / "thesis"
    home.mkdir(parents=True)
    for name in PUBLISHED:
        (home / name).write_text(json.dumps(output_records()))
    usual = reproduce("thesis-13", out=tmp_path / "usual", data=data)
    assert "DATA/thesis/tokenizer (of GPT-2 or BART) is not here" in usual.summary["note"]
    small_vocabulary().save(home / "tokenizer")
    strict = reproduce("thesis-13", out=tmp_path / "strict", data=data)
    assert "--strict" in strict.summary["note"]
    # Eight questions each of one, two and three n-grams: equal values stay together in the thesis.
    assert (groups_of_seal(usual), groups_of_seal(strict)) == (10, 3)


def test_what_is_absent_is_told_once_and_without_the_paths_of_a_machine(stdlib, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    copytree(stdlib / "stdlib", data / "stdlib")
    for name, reason, n in (("spike-1", "BRIGHT", 182), ("spike-3", "BRIGHT", 260)):
        result = reproduce(name, out=out, data=data)
        (told,) = [line for line in result.headline() if f"DATA/{reason} is not here" in line]
        assert told == f"not run, {n} cells: DATA/{reason} is not here"
        assert f"DATA: {data}" in result.headline()
        for sheet in (out / name / "tables").iterdir():
            assert str(tmp_path).encode() not in sheet.read_bytes(), sheet
    (listed,) = [recipe for recipe in recipes(data, out) if recipe["name"] == "spike-1"]
    timings = json.loads((out / "spike-1" / "manifest.json").read_text())["reproduce"]["timings_s"]
    assert listed["seconds"] == sum(timings.values()) > 0


def test_recipes_are_listed_without_running(tmp_path):
    listed = {recipe["name"]: recipe for recipe in recipes(tmp_path / "none", tmp_path)}
    assert listed["car-9"]["here"] == listed["car-9"]["cells"] == 9
    assert listed["car-5"]["here"] == 0 and listed["car-5"]["seconds"] is None
    assert not list(tmp_path.iterdir())


@pytest.fixture
def flaws(tmp_path):
    """Return a folder of data with a few flaws and their fixes where recipes look for GHSA."""
    write_benchmark(tmp_path / "data" / "authority" / "ghsa", made(), seed=0, settings={})
    return tmp_path / "data"


def test_the_vocabulary_gap_is_measured_beside_published(flaws, tmp_path):
    result = reproduce("car-4", out=tmp_path / "out", data=flaws)
    measured = cells(result)
    jaccard = measured["Jaccard", "Query-Disclosure"]
    assert jaccard["published"] == 0.085
    assert jaccard["measured"] > measured["Jaccard", "Query-Patch"]["measured"]
    share = "% positive gap (BM25)"
    assert measured[share, "Query-Disclosure"]["measured"] == 100
    assert "under the other column" in measured[share, "Query-Patch"]["reason"]
    absent = measured["Jaccard", "SCOTUS, overruled (not in the paper)"]
    assert "scotus is not here" in absent["reason"]


def test_answers_are_asked_of_a_model_that_is_named_and_of_no_other(flaws, tmp_path, endpoint):
    endpoint.behave = faithful
    result = reproduce("car-12", out=tmp_path / "out", data=flaws)
    measured = cells(result)
    assert measured["Two-Stage (BM25)", "Patch Recall@5 %"]["measured"] == 100
    assert "--model NAME" in measured["Dense (MiniLM)", "Conf. Wrong %"]["reason"]
    assert endpoint.requests == []
    model = ChatConfig(model="m", base_url=endpoint.url)
    measured = cells(reproduce("car-12", out=tmp_path / "asked", data=flaws, model=model))
    two_stage = measured["Two-Stage (BM25)", "Says Patched %"]
    assert (two_stage["measured"], two_stage["published"]) == (100, 82.4)
    assert measured["Two-Stage (BM25)", "Conf. Wrong %"]["measured"] == 0
    asked = [text for text in endpoint.texts if "Question:" in text]
    assert asked and all(text.endswith("what version fixes it?") for text in asked)
