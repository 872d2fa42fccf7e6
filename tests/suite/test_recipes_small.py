"""Recipes that no other test runs, on draws of what they read: what can be measured is measured."""

import json

import pytest

from argus.errors import InputError
from argus.suite.reproduce import recipes, reproduce
from argus.suite.requests import PUBLISHED
from tests.support.generating import output_records
from tests.support.suites import draw_authority, read_rows
from tests.support.tasks import lines

QUESTIONS, OTHERS = 4, 4


@pytest.fixture(scope="module")
def place(shared, tmp_path_factory):
    """Return folders of data and results, the same for all tables: vectors are shared."""
    home = tmp_path_factory.mktemp("recipes")
    for name in ("ghsa", "scotus"):
        folder = home / "data" / "authority" / name
        source = shared(f"authority/{name}")
        draw_authority(source, folder, questions=QUESTIONS, others=OTHERS)
        for other in ("queries_structured.jsonl", "hyde.jsonl"):
            if (source / other).is_file():
                rows = read_rows(source / other)[:QUESTIONS]
                own = (row | {"gold_equivalent": [f"{row['_id']}#patch"]} for row in rows)
                lines(folder / other, *own)
    thesis = home / "data" / "thesis"
    thesis.mkdir()
    for name in PUBLISHED:
        (thesis / name).write_text(json.dumps(output_records()))
    return home


@pytest.fixture(scope="module")
def listed(place):
    return counted(place / "data", place / "out")


@pytest.fixture(scope="module")
def bare(place):
    """Of questions without answers."""
    return counted(place / "none", place / "out")


def counted(data, out):
    return {r["name"]: r["here"] + r["perhaps"] for r in recipes(data, out)}


@pytest.mark.parametrize(
    ("name", "lexical", "served"),
    [
        ("car-6", ("BM25", "TCA@5"), ("Two-Stage (k1 = 5)", "TCA@5")),
        ("car-7", ("MiniLM-L6-v2", "TCA@5"), ("Two-Stage (BM25 + Entity Index)", "TCA@5")),
        ("car-10", ("BM25 direct", "TCA@5"), ("Two-Stage (BM25 anchor)", "TCA@5")),
        ("car-13", ("Security (GHSA)", "BM25"), ("Security (GHSA)", "Two-Stage")),
    ],
)
def test_two_stages_serve_what_ranking_alone_does_not(name, lexical, served, place, listed):
    result = reproduce(name, out=place / "out", data=place / "data")
    assert (result.summary["measured"], result.summary["failed"]) == (listed[name], 0)
    table = {(c["row"], c["column"]): c for c in result.summary["cells"]}
    alone, both = (table[key]["measured"] for key in (lexical, served))
    assert 0 <= alone < both <= 1
    assert table[served]["published"] > table[lexical]["published"] or name == "car-10"


# Of outputs alone; 12 needs the index as well, 13 and 16 are in another test.
THESIS = [f"thesis-{n}" for n in (4, 5, 6, 8, 14, 15, 17)]


@pytest.mark.parametrize("name", THESIS)
def test_tables_of_the_thesis_are_counted_of_outputs(name, place, listed, bare):
    result = reproduce(name, out=place / "out", data=place / "data")
    assert result.summary["failed"] == 0
    measured = [c for c in result.summary["cells"] if c["state"] == "measured"]
    assert 0 < len(measured) <= listed[name]
    assert bare[name] == (0 if name == "thesis-7" else listed[name])
    assert all(c["measured"] >= 0 for c in measured)
    assert any(c["published"] for c in measured), "beside the published"
    assert ("DATA/thesis_figures" in result.summary["note"]) == (
        name not in ("thesis-6", "thesis-17")
    )


def test_a_table_that_its_own_data_do_not_round_to_is_named(place):
    folder = place / "data" / "thesis_figures" / "seal_nq"
    folder.mkdir(parents=True)
    rates = {"hits@1_rate": 30.4348, "hits@10_rate": 99}
    rows = [{"same_title_count": n, **rates} for n in range(1, 11)]
    file = folder / "title_repetition_analysis_results.json"
    file.write_text(json.dumps({"by_title_repetition_count": rows}))
    lines = [*reproduce("thesis-15", out=place / "out", data=place / "data").headline()]
    at = lines.index("printed numbers that its own data do not round to: 11 of 12")
    assert lines[at + 1] == "  1, SEAL hits@10: 60.9 printed, 99 in the data"
    file.write_text("{}")
    with pytest.raises(InputError, match="by_title_repetition_count"):
        reproduce("thesis-15", out=place / "out", data=place / "data")
