from hashlib import md5
from itertools import pairwise

import pytest

from argus.errors import InputError
from argus.knowledge.alignment import align
from argus.knowledge.raw import RAW
from tests.knowledge.alignment.worlds import (
    SMALL,
    Item,
    Page,
    World,
    built,
    finished,
    redirect,
    write_rows,
)


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
    lost = {table: counts["align"][table]["dropped"] for table in ("items", "pages")}
    assert lost == {"items": {"redirect loop": 1}, "pages": {"redirect": 8, "redirect loop": 2}}


def test_nothing_to_align_or_nothing_left_says_what_became_of_all(tmp_path):
    with pytest.raises(InputError, match=r"no page and no item was read.*--wikipedia"):
        align(tmp_path, memory_bytes=SMALL)
    assert list(tmp_path.iterdir()) == []
    entities = [("a", "", None, None, "some words"), ("b", "b", None, None, None)]
    write_rows(tmp_path / "raw" / "entities", RAW["entities"], entities)
    with pytest.raises(InputError, match=r"no label: 1, no paragraph: 1.*at least one with an id"):
        finished(tmp_path)


def test_pages_alone_are_entities_by_their_titles(tmp_path):
    world = World(
        pages=[Page("London (city)", "London is a city."), Page("Oslo", "Oslo is cold."),
               redirect("Old London", "London (city)"), redirect("Lost", "Nowhere"),
               Page("Oslo", "Told again."), Page("Mercury", "", "disambiguation")],
        links=[("Oslo", "Old London"), ("Oslo", "London (city)"), ("Oslo", "Oslo"),
               ("Oslo", "Lost")],
    )  # fmt: skip
    tables, counts = built(world, tmp_path)
    assert tables.by_id("label") == {"London (city)": "London", "Oslo": "Oslo"}
    assert tables.by_id("related") == {"London (city)": 1, "Oslo": 1}
    assert tables.rows["relations"] == [("Oslo", "link", "London (city)", "hyperlink")]
    assert tables.rows["redirects"] == [("Old London", "London (city)", "London (city)")]
    assert tables.rows["aliases"] == [
        ("London (city)", "London (city)", "title"), ("London (city)", "Old London", "redirect"),
    ]  # fmt: skip
    assert counts["align"]["pages"]["dropped"] == {
        "disambiguation": 1, "duplicate title": 1, "redirect": 1, "redirect to no page": 1,
    }  # fmt: skip
    lost = {"duplicate": 1, "self-loop": 1, "to no entity": 1}
    assert (counts["graph"], counts["dropped"]["relations"]) == ("hyperlink", {"hyperlink": lost})


def test_items_alone_have_their_descriptions_and_share_no_article(tmp_path):
    world = World(
        items=[Item("Q1", "Bern", "Bern", "Bern is a city.", ("Berne", "Bern")),
               Item("Q1", "again", "Again"), Item("Q2", None, "X"), Item("Q3", "nowhere"),
               Item("Q4", "Basel", "Basel", "a city"), Item("Q10", "Berna", "Bern", "too"),
               Item("Q5", "Mercury", "Mercury", "of that name", disambiguation=True)],
        statements=[("Q1", "P1", "Q4"), ("Q4", "P2", "Q3")],
    )  # fmt: skip
    tables, counts = built(world, tmp_path)
    assert tables.by_id("paragraph") == {"Q1": "Bern is a city.", "Q4": "a city"}
    assert tables.by_id("prepended") == {"Q1": False, "Q4": True}
    assert tables.rows["aliases"] == [("Q1", "Berne", "alias")]
    assert tables.rows["relations"] == [("Q1", "P1", "Q4", "wikidata")]
    assert counts["align"]["items"]["dropped"] == {
        "article of another item": 1, "disambiguation": 1, "duplicate id": 1, "no article": 1,
        "no label": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("sample", "seed"), [(None, 0), (1, 0), (1, 3), (2, 1)])
def test_a_sample_is_drawn_by_hash_and_brings_its_neighbours(tmp_path, sample, seed):
    ids = [f"Q{i}" for i in range(1, 8)]
    world = World(
        pages=[Page(f"T{id_}", "words of it") for id_ in ids] + [Page("Alone")],
        items=[Item(id_, f"label {id_}", f"T{id_}") for id_ in ids],
        statements=[(a, "P1", b) for a, b in pairwise(ids)],
    )
    align(world.write(tmp_path), memory_bytes=SMALL)
    tables, counts = finished(tmp_path, sample=sample, seed=seed)
    drawn = sorted(ids, key=lambda id_: md5(f"{seed}:{id_}".encode()).hexdigest())[:sample]
    left = {id_ for id_ in ids for one in drawn if abs(int(id_[1:]) - int(one[1:])) <= 1}
    assert set(tables.by_id("id")) == left and counts["targets"] == len(drawn)
    assert {id_ for id_, is_target in tables.by_id("target").items() if is_target} == set(drawn)
    both = [(a, "P1", b, "wikidata") for a, b in pairwise(ids) if {a, b} <= left]
    assert tables.rows["relations"] == both
    gone = {"not sampled": 7 - len(left)} if len(left) < 7 else {}
    assert counts["dropped"]["entities"] == gone
