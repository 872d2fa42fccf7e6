import pytest

from argus.errors import ArgusError, InputError
from argus.knowledge.alignment import align
from tests.knowledge.alignment.worlds import SMALL, Item, Page, World, built, redirect


def dropped(counts, table):
    part = counts["align"][table]
    assert part["read"] == counts["align"]["entities"] + sum(part["dropped"].values())
    return part["dropped"]


def test_an_item_gets_the_paragraph_of_the_article_that_it_names(tmp_path):
    world = World(
        pages=[Page("Bern", "Bern is a city in Switzerland."), Page("Aare", "It is a long river.")],
        items=[
            Item("Q70", "Bern", "Bern", "capital of Switzerland", ("Berne", "Bärn")),
            Item("Q14", "Aare", "Aare", "river"),
        ],
        statements=[("Q70", "P206", "Q14")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["entities"] == [
        ("Q14", "Aare", "river", "Aare", "It is a long river.", 0, 4, True, True, 1),
        (
            *("Q70", "Bern", "capital of Switzerland", "Bern", "Bern is a city in Switzerland."),
            *(0, 4, False, True, 1),
        ),
    ]
    assert tables.rows["relations"] == [("Q70", "P206", "Q14", "wikidata")]
    assert tables.rows["aliases"] == [("Q70", "Berne", "alias"), ("Q70", "Bärn", "alias")]
    assert tables.rows["redirects"] == []
    assert counts == {
        "align": {
            "pages": {"read": 2, "dropped": {}},
            "items": {"read": 2, "dropped": {}},
            "entities": 2,
        },
        "entities": 2,
        "targets": 2,
        "aliases": 2,
        "redirects": 0,
        "relations": {"wikidata": 1},
        "graph": "wikidata",
        "dropped": {"entities": {}, "relations": {}},
    }
    assert not (tmp_path / "database").exists()


def test_redirects_are_followed_to_eight_steps(tmp_path):
    chain = [redirect(f"R{step}", f"R{step - 1}") for step in range(2, 11)]
    world = World(
        pages=[Page("End"), redirect("R1", "End"), *chain],
        items=[Item("Q1", "End", "R8"), Item("Q2", "two", "R9")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("article") == {"Q1": "End"}
    assert tables.rows["redirects"] == [(f"R{step}", "End", "Q1") for step in range(1, 9)]
    assert tables.rows["aliases"] == [("Q1", f"R{step}", "redirect") for step in range(1, 9)]
    assert dropped(counts, "items") == {"redirect loop": 1}
    assert dropped(counts, "pages") == {"redirect": 8, "redirect loop": 2}


def test_a_table_that_breaks_off_leaves_raw_tables_as_before(tmp_path):
    built(World(pages=[Page("A")]), tmp_path)
    (tmp_path / "pages" / "000001.parquet").write_bytes(b"PAR1 and no more")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ArgusError, match=r"pages/000001\.parquet.*remove that folder"):
        align(tmp_path, memory_bytes=SMALL)
    assert sorted(tmp_path.rglob("*")) == before


def test_no_table_at_all_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no page and no item was read.*--wikipedia"):
        align(tmp_path, memory_bytes=SMALL)
    assert list(tmp_path.iterdir()) == []
