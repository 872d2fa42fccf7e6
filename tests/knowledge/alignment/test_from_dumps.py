import pytest

from argus.errors import InputError
from argus.knowledge.alignment import AlignSettings, align
from tests.knowledge.alignment.worlds import SMALL, Item, Page, World, built, finished, redirect


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
        "prepended": 1,
        "aliases": 2,
        "redirects": 0,
        "relations": {"wikidata": 1},
        "graph": "wikidata",
        "dropped": {"entities": {}, "relations": {}},
    }
    assert not (tmp_path / "database").exists()


def test_dropped_items_have_the_first_reason_that_holds(tmp_path):
    world = World(
        pages=[
            Page("A"),
            Page("Short", "too short", "paragraph too short"),
            Page("Not", "", "no text"),
            Page("Tell"),
            Page("Bare"),
        ],
        items=[
            Item("Q1", "kept", "A"),
            Item("Q2", None, None),  # no article comes before no label
            Item("Q3", None, "Nowhere"),  # no label before article not in the dump
            Item("Q4", "\u00a0 \u2003", "Bare"),
            Item("Q5", "five", "Nowhere"),
            Item("Q6", "six", "Short"),
            Item("Q7", "seven", "Not", disambiguation=True),  # disambiguation before no text
            Item("Q8", "eight", "Tell", disambiguation=True),
        ],
    )
    tables, counts = built(world, tmp_path)
    assert tables.column("entities", "id") == ["Q1"]
    assert dropped(counts, "items") == {
        "no article": 1,
        "no label": 2,
        "article not in the dump": 1,
        "paragraph too short": 1,
        "disambiguation": 2,
    }
    assert dropped(counts, "pages") == {
        "paragraph too short": 1,
        "disambiguation": 2,
        "no label": 1,
    }


def test_an_article_that_no_item_names_is_counted(tmp_path):
    world = World(pages=[Page("A"), Page("B")], items=[Item("Q1", "a", "A")])
    assert dropped(built(world, tmp_path)[1], "pages") == {"no item": 1}


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


@pytest.mark.parametrize("length", [1, 2, 3, 8, 11])
def test_a_loop_of_redirects_leads_nowhere(tmp_path, length):
    loop = [redirect(f"L{i}", f"L{(i + 1) % length}") for i in range(length)]
    world = World(
        pages=[Page("A"), *loop, redirect("In", "L0")],
        items=[Item("Q1", "a", "A"), Item("Q2", "two", "L0"), Item("Q3", "three", "In")],
        links=[("A", "L0"), ("A", "In")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["redirects"] == []
    assert dropped(counts, "items") == {"redirect loop": 2}
    assert dropped(counts, "pages") == {"redirect loop": length + 1}
    assert counts["dropped"]["relations"] == {"hyperlink": {"to no entity": 2}}


def test_a_redirect_to_a_page_that_is_not_there_leads_nowhere(tmp_path):
    world = World(
        pages=[Page("A"), redirect("R", "Missing")],
        items=[Item("Q1", "a", "A"), Item("Q2", "two", "R"), Item("Q3", "three", "Missing")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["redirects"] == []
    assert dropped(counts, "pages") == {"redirect to no page": 1}
    assert dropped(counts, "items") == {"redirect to no page": 1, "article not in the dump": 1}


def test_a_redirect_to_no_entity_has_a_target_and_no_id(tmp_path):
    world = World(
        pages=[Page("A"), Page("D", "", "disambiguation"), redirect("R", "D"), redirect("S", "A")],
        items=[Item("Q1", "A", "A"), Item("Q2", "two", "R")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["redirects"] == [("R", "D", None), ("S", "A", "Q1")]
    assert dropped(counts, "items") == {"disambiguation": 1}


def test_a_redirect_is_an_alias_unless_it_is_the_label(tmp_path):
    world = World(
        pages=[
            Page("Mercury (planet)"),
            redirect("Mercury", "Mercury (planet)"),
            redirect("M", "Mercury"),
        ],
        items=[Item("Q308", "Mercury", "Mercury (planet)", aliases=("M", "Hermes"))],
    )
    tables, _ = built(world, tmp_path)
    assert tables.rows["aliases"] == [
        ("Q308", "Hermes", "alias"),
        ("Q308", "M", "alias"),  # a redirect, too: one row, of the first source
        ("Q308", "Mercury (planet)", "title"),
    ]


@pytest.mark.parametrize("reverse", [False, True])
def test_an_article_is_of_the_item_that_names_it_else_the_first(tmp_path, reverse):
    items = [
        Item("Q20", "direct", "A"),
        Item("Q3", "by a redirect", "To A"),
        Item("Q10", "ten", "To B"),
        Item("Q9", "nine", "Also B"),
    ]
    world = World(
        pages=[
            *(Page("A"), Page("B")),
            *(redirect("To A", "A"), redirect("To B", "B"), redirect("Also B", "B")),
        ],
        items=items[::-1] if reverse else items,
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("article") == {"Q20": "A", "Q9": "B"}
    assert dropped(counts, "items") == {"article of another item": 2}


def test_an_item_without_a_label_leaves_its_article_to_another(tmp_path):
    world = World(
        pages=[Page("A"), redirect("To A", "A")],
        items=[Item("Q1", None, "A"), Item("Q2", "two", "To A")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("article") == {"Q2": "A"}
    assert dropped(counts, "items") == {"no label": 1}


def test_a_disambiguation_item_by_redirect_drops_no_article(tmp_path):
    world = World(
        pages=[Page("A"), redirect("R", "A")],
        items=[Item("Q1", "a", "A"), Item("Q2", "two", "R", disambiguation=True)],
    )
    tables, counts = built(world, tmp_path)
    assert tables.column("entities", "id") == ["Q1"]
    assert dropped(counts, "items") == {"disambiguation": 1}
    assert dropped(counts, "pages") == {"redirect": 1}


def test_links_lead_from_entities_through_redirects_to_entities(tmp_path):
    world = World(
        pages=[Page("A"), Page("B"), Page("C"), redirect("R", "B")],
        items=[Item("Q1", "a", "A"), Item("Q2", "b", "B")],
        links=[("A", "R"), ("A", "C"), ("C", "A"), ("R", "A"), ("B", "B"), ("A", "Missing")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["relations"] == [("Q1", "link", "Q2", "hyperlink")]
    assert counts["graph"] == "hyperlink"
    assert counts["dropped"]["relations"] == {"hyperlink": {"to no entity": 4, "self-loop": 1}}


def test_statements_relate_entities_alone_and_once(tmp_path):
    world = World(
        pages=[Page("A"), Page("B")],
        items=[Item("Q1", "a", "A"), Item("Q2", "b", "B"), Item("Q3", "c", "Missing")],
        statements=[
            *[("Q1", "P1", "Q2")] * 3,
            *(("Q1", "P2", "Q2"), ("Q2", "P1", "Q1")),
            *(("Q1", "P1", "Q1"), ("Q1", "P1", "Q1")),
            *(("Q1", "P1", "Q3"), ("Q3", "P1", "Q1"), ("Q1", "P1", "Q404")),
        ],
        links=[("A", "B")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.rows["relations"] == [
        ("Q1", "P1", "Q2", "wikidata"),
        ("Q1", "P2", "Q2", "wikidata"),
        ("Q1", "link", "Q2", "hyperlink"),
        ("Q2", "P1", "Q1", "wikidata"),
    ]
    assert counts["relations"] == {"hyperlink": 1, "wikidata": 3}
    assert counts["dropped"]["relations"] == {
        "wikidata": {"to no entity": 3, "self-loop": 2, "duplicate": 2}
    }
    assert tables.by_id("related") == {"Q1": 1, "Q2": 1}


def test_pages_and_items_that_are_there_twice_count_once(tmp_path):
    world = World(
        pages=[Page("A", "the first paragraph here"), Page("A", "the second one"), Page("B")],
        items=[Item("Q1", "first", "A"), Item("Q1", "second", "B")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("label") == {"Q1": "first"}
    assert tables.by_id("paragraph") == {"Q1": "the first paragraph here"}
    assert dropped(counts, "pages") == {"duplicate title": 1, "no item": 1}
    assert dropped(counts, "items") == {"duplicate id": 1}


def test_wikipedia_alone_has_titles_as_ids_and_hyperlinks(tmp_path):
    world = World(
        pages=[
            *(Page("Mercury (planet)"), Page("Sun"), Page("(parenthesis)"), Page("St. (x) y")),
            *(Page("Stub", "too short", "paragraph too short"), redirect("Sol", "Sun")),
            Page("Łódź\u00a0(miasto)"),
        ],
        links=[("Mercury (planet)", "Sol"), ("Sun", "Stub")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("label") == {
        "(parenthesis)": "(parenthesis)",
        "Mercury (planet)": "Mercury",
        "St. (x) y": "St. (x) y",
        "Sun": "Sun",
        "Łódź\u00a0(miasto)": "Łódź",
    }
    assert tables.by_id("article") == {id_: id_ for id_ in tables.by_id("id")}
    assert set(tables.by_id("description").values()) == {""}
    assert tables.rows["relations"] == [("Mercury (planet)", "link", "Sun", "hyperlink")]
    assert ("Sun", "Sol", "redirect") in tables.rows["aliases"]
    assert ("Mercury (planet)", "Mercury (planet)", "title") in tables.rows["aliases"]
    assert counts["graph"] == "hyperlink"
    assert dropped(counts, "pages") == {"redirect": 1, "paragraph too short": 1}
    assert "items" not in counts["align"]


def test_wikidata_alone_has_descriptions_as_paragraphs(tmp_path):
    world = World(
        items=[
            Item("Q1", "universe", "Universe", "all of space and time", ("cosmos",)),
            Item("Q2", "Earth", None, "third planet from the Sun"),
            Item("Q3", "three", "Three", "  "),
            Item("Q4", None, None, ""),
            Item("Q5", "Mercury", "Mercury", "page", disambiguation=True),
        ],
        statements=[("Q2", "P361", "Q1"), ("Q2", "P1", "Q3")],
    )
    tables, counts = built(world, tmp_path)
    assert tables.by_id("paragraph") == {
        "Q1": "all of space and time",
        "Q2": "third planet from the Sun",
    }
    assert tables.by_id("article") == {"Q1": "Universe", "Q2": None}
    assert tables.rows["aliases"] == [("Q1", "Universe", "title"), ("Q1", "cosmos", "alias")]
    assert dropped(counts, "items") == {"no label": 1, "no description": 1, "disambiguation": 1}
    assert "pages" not in counts["align"]


def test_titles_of_any_script_are_found(tmp_path):
    titles = ["Zürich", "東京", "Кёльн", "𝔘nicode", 'Q\'uote "s"', "50% [a]*?", "e\u0301"]
    world = World(
        pages=[*map(Page, titles), *(redirect(f"→ {title}", title) for title in titles)],
        items=[Item(f"Q{i}", f"label {i}", f"→ {title}") for i, title in enumerate(titles)],
    )
    tables, _ = built(world, tmp_path)
    assert tables.column("entities", "article") == titles


def test_folders_may_be_named_with_pattern_characters(tmp_path):
    work = tmp_path / "a[1] b'c*? ü"
    tables, _ = built(World(pages=[Page("A"), Page("B")], links=[("A", "B")]), work)
    assert tables.column("entities", "id") == ["A", "B"]


def test_how_rows_are_spread_over_files_changes_nothing(tmp_path):
    world = World(
        pages=[
            *(Page(f"P{i}") for i in range(40)),
            *(redirect(f"R{i}", f"P{i}") for i in range(9)),
        ],
        items=[Item(f"Q{i}", f"label {i}", f"R{i}" if i < 9 else f"P{i}") for i in range(30)],
        links=[(f"P{i}", f"P{(i * 7) % 30}") for i in range(40)],
        statements=[(f"Q{i}", "P1", f"Q{(i * i) % 30}") for i in range(30)],
    )
    expected = built(world, tmp_path / "one")
    work = world.write(tmp_path / "many", files=5)
    counts = align(work, AlignSettings(memory_bytes=SMALL))
    tables, more = finished(work)
    assert (tables.rows, {"align": counts, **more}) == (expected[0].rows, expected[1])


def test_aligning_again_starts_over(tmp_path):
    world = World(pages=[Page("A"), Page("B")], links=[("A", "B")])
    first, _ = built(world, tmp_path)
    (tmp_path / "raw.partial" / "entities").mkdir(parents=True)
    (tmp_path / "database").mkdir()  # as after a kill
    (tmp_path / "database" / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"half")
    again, _ = built(world, tmp_path)
    assert again.rows == first.rows
    assert not (tmp_path / "raw.partial").exists()


def test_a_table_that_breaks_off_leaves_raw_tables_as_before(tmp_path):
    built(World(pages=[Page("A")]), tmp_path)
    (tmp_path / "pages" / "000001.parquet").write_bytes(b"PAR1 and no more")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"pages/000001\.parquet.*Remove the file"):
        align(tmp_path, AlignSettings(memory_bytes=SMALL))
    assert sorted(tmp_path.rglob("*")) == before


def test_no_table_at_all_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no page and no item was read.*--wikipedia"):
        align(tmp_path, AlignSettings())
    assert list(tmp_path.iterdir()) == []


def test_dumps_of_two_languages_leave_no_entity(tmp_path):
    world = World(pages=[Page("Bern")], items=[Item("Q1", "a", "Berne"), Item("Q2", None, "B")])
    with pytest.raises(
        InputError,
        match=r"no entity is left \(pages: 1 no item; items: 1 article not in the dump, "
        r"1 no label\).*one language .*\(now en\)",
    ):
        built(world, tmp_path)
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize(
    ("name", "value"), [("sample", 0), ("memory_bytes", 1000), ("min_words", 0)]
)
def test_settings_that_cannot_work_are_refused(name, value):
    with pytest.raises(InputError) as error:
        AlignSettings(**{name: value})
    assert error.value.where == name
