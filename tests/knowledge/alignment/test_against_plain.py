"""The database against plain Python on small random worlds."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge.alignment import align
from tests.knowledge.alignment.plain import PlainAlignment, plain_tables
from tests.knowledge.alignment.worlds import SMALL, Item, Page, World, finished
from tests.support.draws import examples

TITLES = [*(f"T{i}" for i in range(12)), "Łódź (miasto)", "é", "e\u0301", "A (b) (c)"]
IDS = [f"Q{i}" for i in range(1, 15)]
titles, ids = st.sampled_from(TITLES), st.sampled_from(IDS)
labels = st.sampled_from([*TITLES, None, "", "\u00a0"])
reasons = st.sampled_from(
    ["", "", "", "", "no text", "disambiguation", "paragraph too short", "not an article"]
)
paragraphs = st.sampled_from(["T1 is a title.", "It is (miasto) Łódź.", "words", " "])
pages = st.builds(
    lambda title, to, reason, paragraph: Page(
        title, "" if to else paragraph, "redirect" if to else reason, to
    ),
    titles,
    st.one_of(st.none(), titles),
    reasons,
    paragraphs,
)
items = st.builds(
    Item,
    ids,
    labels,
    st.one_of(st.none(), titles, titles, titles),
    st.sampled_from(["thing", ""]),
    st.lists(titles, max_size=2).map(tuple),
    st.integers(0, 9).map(lambda n: n == 0),
)
worlds = st.builds(
    World,
    st.one_of(st.none(), st.lists(pages, min_size=1, max_size=20)),
    st.one_of(st.none(), st.lists(items, min_size=1, max_size=14), st.lists(items, min_size=8)),
    st.lists(st.tuples(titles, titles), max_size=30),
    st.lists(st.tuples(ids, st.sampled_from(["P1", "P2"]), ids), max_size=30),
).filter(lambda world: world.pages or world.items)


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(worlds, st.one_of(st.none(), st.integers(1, 5)), st.integers(0, 3))
def test_a_world_becomes_what_plain_python_makes_of_it(world, sample, seed):
    plain = PlainAlignment(world)
    with tempfile.TemporaryDirectory() as folder:
        work = world.write(Path(folder))
        if not plain.entities:
            with pytest.raises(InputError, match="no entity is left"):
                align(work, memory_bytes=SMALL)
            return
        fates = align(work, memory_bytes=SMALL)
        assert fates["entities"] == len(plain.entities)
        for table, lost in (("pages", plain.page_reasons), ("items", plain.item_reasons)):
            if getattr(world, table):
                part = fates[table]
                assert part["dropped"] == dict(+lost)
                assert part["read"] == len(getattr(world, table))
                assert part["read"] == fates["entities"] + sum(part["dropped"].values())
        expected, expected_counts = plain_tables(plain, sample, seed)
        try:
            tables, counts = finished(work, sample=sample, seed=seed)
        except InputError as error:
            assert "no entity is left" in str(error)
            assert not expected["entities"]
        else:
            assert tables.rows == expected
            assert {name: counts[name] for name in expected_counts} == expected_counts
            assert counts["entities"] == len(expected["entities"])
            assert counts["targets"] == sum(row[8] for row in expected["entities"])
