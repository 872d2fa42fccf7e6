"""`research reproduce`: recipes are whole, and one table of each paper runs on small real data."""

import json
from collections import Counter
from shutil import copytree

import pytest

from argus.authority.benchmarks import makers
from argus.data.writing import write_jsonl
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.suite.reproduce import names, read_recipe, reproduce
from argus.suite.requests import PUBLISHED
from tests.support.generating import output_records, small_vocabulary
from tests.support.suites import draw, read_rows

TABLES = {"argus": 5 + 4, "car": 11, "spike": 4, "thesis": 12}
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
    assert Counter(name.partition("-")[0] for name in names()) == TABLES


@pytest.mark.parametrize("name", names())
def test_a_recipe_is_whole(name, tmp_path):
    recipe = opened(name, tmp_path)
    assert "Table" in recipe.source or "Figure" in recipe.source
    names = {(cell.row, cell.column) for cell in recipe.cells}
    rows, columns = ({name[i] for name in names} for i in (0, 1))
    assert len(recipe.cells) == len(names) == len(rows) * len(columns)
    for cell in recipe.cells:
        assert bool(cell.parts) != bool(cell.reason)


@pytest.mark.parametrize(
    ("name", "row", "column", "value"),
    [
        ("argus-1", "CONTRIEVER, XGBoost", "Pearson r", 0.658),
        ("argus-2", "JINA-V3, ARGUS (Doc-Exp.)", "ImpliRet avg. nDCG@10", 20.8),
        ("argus-4", "CONTRIEVER, k = 10", "Theorems", 23.93),
        ("spike-1", "SBERT +SPIKE", "Avg.", 15.7),
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


def test_car_9_runs_from_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(makers, "PAIRS", 300)  # questions of FinSuperQA, of 1,000
    result = reproduce("car-9", out=tmp_path, data=tmp_path / "none")
    assert (result.summary["measured"], result.summary["not_run"]) == (9, 0)
    for (row, _), cell in cells(result).items():
        if row != "TwoStage":
            assert cell["measured"] == pytest.approx(cell["published"], abs=0.05)
    assert "CVE T1" in (tmp_path / "car-9" / "cells.csv").read_text()


@pytest.mark.parametrize(("name", "columns"), [("argus-2", 2), ("argus-5", 4)])
def test_argus_2_and_5_run_from_nothing_beside_the_published(name, columns, stdlib, tmp_path):
    result = reproduce(name, out=tmp_path, data=stdlib)
    assert (result.summary["measured"], result.summary["failed"]) == (2 * columns, 0)
    values = {key: c["measured"] for key, c in cells(result).items() if c["state"] == "measured"}
    assert {row for row, _ in values} == {f"{x} (not in the paper)" for x in ("MiniLM", "BM25")}
    assert min(values.values()) > 0 and max(values.values()) <= 100


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
    groups = [sum(c["measured"] is not None for c in r.summary["cells"]) for r in (usual, strict)]
    # Eight questions each of one, two and three n-grams: equal values stay together in the thesis.
    assert groups == [10, 3]


def test_what_is_absent_is_told_once_and_without_the_paths_of_a_machine(stdlib, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    copytree(stdlib / "stdlib", data / "stdlib")
    result = reproduce("spike-1", out=out, data=data)
    (told,) = [line for line in result.headline() if "DATA/BRIGHT is not here" in line]
    assert told == "not run, 182 cells: DATA/BRIGHT is not here"
    assert f"DATA: {data}" in result.headline()
    assert str(tmp_path) not in (out / "spike-1" / "cells.csv").read_text()
