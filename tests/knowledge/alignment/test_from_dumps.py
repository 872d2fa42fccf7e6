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
