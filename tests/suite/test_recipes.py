"""`argus reproduce`: recipes are whole, and one table of each paper runs on small real data."""

import pytest

from argus.data.beir import write_jsonl
from argus.errors import InputError
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.suite.recipes.config import ReproduceConfig
from argus.suite.recipes.job import recipes, reproduce
from argus.suite.recipes.recipe import names, read_recipe
from tests.support.suites import draw, read_rows

TABLES = {"argus": 5, "car": 12, "spike": 7, "thesis": 14}
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


def test_there_is_a_recipe_per_table_of_every_paper():
    papers = [name.partition("-")[0] for name in names()]
    assert {paper: papers.count(paper) for paper in TABLES} == TABLES
    assert len(papers) == sum(TABLES.values())


@pytest.mark.parametrize("name", names())
def test_a_recipe_is_whole(name, tmp_path):
    recipe = opened(name, tmp_path)
    assert "Table" in recipe.source
    assert len(recipe.cells) == len(recipe.rows) * len(recipe.columns)
    assert len(set(recipe.rows)) == len(recipe.rows)
    for cell in recipe.cells:
        assert (cell.request is None) == bool(cell.reason)


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


def test_car_9_runs_from_nothing(tmp_path):
    result = reproduce("car-9", out=tmp_path, data=tmp_path / "none")
    assert (result.summary["measured"], result.summary["not_run"]) == (9, 0)
    for (row, _), cell in cells(result).items():
        if row != "TwoStage":
            assert cell["measured"] == pytest.approx(cell["published"], abs=0.05)
    text = (tmp_path / "car-9" / "tables" / "car-9.md").read_text()
    assert "CVE T1, published" in text


def test_argus_2_runs_on_what_is_shared(shared, tmp_path):
    data = tmp_path / "data"
    for name in ("impliret_wknow_multi", "theoremqa_theorems", "wiki2"):
        draw(shared(name), data / name, questions=3, others=6)
    result = reproduce("argus-2", out=tmp_path / "out", data=data)
    measured = {row for (row, _), c in cells(result).items() if c["measured"] is not None}
    assert {"MiniLM (not in the paper)", "BM25 (not in the paper)"} <= measured
    bge = cells(result)["BGE-M3, Baseline", "Biology nDCG@5"]
    assert (bge["state"], bge["published"]) == ("not run", 7.8)
    assert "BRIGHT" in bge["reason"]
    assert result.summary["failed"] == 0


def test_spike_7_runs_on_the_standard_library(stdlib, tmp_path):
    result = reproduce("spike-7", out=tmp_path, data=stdlib)
    assert (result.summary["measured"], result.summary["failed"]) == (25, 0)
    values = {
        row: cell["measured"] for (row, column), cell in cells(result).items()
        if column.startswith("standard library")
    }  # fmt: skip
    assert len(set(values.values())) > 3
    assert all(0 <= value <= 100 for value in values.values())


@pytest.mark.slow
def test_thesis_16_trains_searches_and_analyses(stdlib, tmp_path):
    config = ReproduceConfig(minutes=0.05)
    result = reproduce("thesis-16", out=tmp_path, data=stdlib, config=config)
    seal = [cell["measured"] for (_, column), cell in cells(result).items() if "SEAL" in column]
    assert sum(seal) == pytest.approx(100, abs=0.1)
    again = reproduce("thesis-7", out=tmp_path, data=stdlib, config=config)
    assert again.summary["not_run"] == 8  # the standard library has no answers
    assert "answer" in again.summary["cells"][0]["reason"]


def test_a_job_that_fails_fails_its_cells_alone(stdlib, tmp_path):
    (tmp_path / "data" / "authority" / "ghsa").mkdir(parents=True)
    result = reproduce("car-8", out=tmp_path / "out", data=tmp_path / "data")
    states = {row: cell["state"] for (row, _), cell in cells(result).items()}
    assert states["Security (real), generic free-form"] == "failed"


def test_recipes_are_listed_without_running(tmp_path):
    listed = {recipe["name"]: recipe for recipe in recipes(tmp_path / "none", tmp_path)}
    assert listed["car-9"]["here"] == listed["car-9"]["cells"] == 9
    assert listed["car-5"]["here"] == 0
    assert not list(tmp_path.iterdir())


def test_an_unknown_recipe_names_the_nearest(tmp_path):
    with pytest.raises(InputError) as error:
        reproduce("car9", out=tmp_path)
    assert error.value.where == "argus reproduce"
    assert "car-9" in error.value.fix
