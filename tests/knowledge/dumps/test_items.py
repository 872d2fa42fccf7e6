import bz2
import json

import pytest

from argus.knowledge.dumps.items import (
    BrokenItem,
    NotAnItem,
    entity_text,
    item_of,
    parse_entity,
    site_of,
    surely_without_article,
)
from argus.knowledge.dumps.pages import Statement


def statement(target: object, *, rank: str = "normal", type_: str = "wikibase-entityid") -> dict:
    return {
        "mainsnak": {"snaktype": "value", "datavalue": {"type": type_, "value": target}},
        "rank": rank,
        "qualifiers": {"P585": [{"datavalue": {"type": type_, "value": item_value(999)}}]},
        "references": [{"snaks": {"P143": [{"datavalue": {"value": item_value(328)}}]}}],
    }


def item_value(number: int) -> dict:
    return {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}


def entity(**changes: object) -> dict:
    return {
        "type": "item",
        "id": "Q1",
        "labels": {"en": {"language": "en", "value": "universe"}},
        "descriptions": {"en": {"language": "en", "value": "all of space and time"}},
        "aliases": {"en": [{"language": "en", "value": "cosmos"}]},
        "claims": {},
        "sitelinks": {"enwiki": {"site": "enwiki", "title": "Universe", "badges": []}},
        **changes,
    }


def line(**changes: object) -> bytes:
    return json.dumps(entity(**changes), separators=(",", ":")).encode() + b",\n"


def parse_item(line, language):
    text = entity_text(line)
    return item_of(parse_entity(text), language)[0] if text else None


def text(value: str, language: str = "en") -> dict:
    return {"language": language, "value": value}


@pytest.mark.parametrize(
    ("wikipedia", "code"), [("simple", "en"), ("no", "nb"), ("zh-yue", "yue"), ("de", "de")]
)
def test_texts_are_in_wikidatas_language_of_a_wikipedia(wikipedia, code):
    texts = {code: text("here", code), "fr": text("là", "fr"), "mul": text("all", "mul")}
    record = line(
        labels=texts,
        descriptions={code: text("a place", code)},
        aliases={code: [text("hither", code)]},
        sitelinks={site_of(wikipedia): {"title": "Here"}},
    )
    item = parse_item(record, wikipedia)
    assert (item.label, item.description, item.article) == ("here", "a place", "Here")
    assert item.aliases == ("hither",)


def test_the_own_code_of_a_wikipedia_comes_first():
    texts = {"simple": text("plain", "simple"), "en": text("ornate")}
    assert parse_item(line(labels=texts), "simple").label == "plain"


@pytest.fixture(scope="module")
def excerpt(shared):
    path = shared("wikidata_excerpt") / "sample_wikidata_items.json.bz2"
    with bz2.open(path) as lines:
        return [item for item in (parse_item(record, "en") for record in lines) if item]


def test_the_excerpt_has_100_items_and_5576_valid_statements(excerpt):
    statements = [s for item in excerpt for s in item.statements]
    ids = {item.id for item in excerpt}
    between = [s for s in statements if s.object in ids]

    assert len(excerpt) == 100
    assert all(item.label and item.article and not item.disambiguation for item in excerpt)
    assert len(statements) == 5598 - 22  # of the README's 5,598 are 22 deprecated
    assert len(between) == 165
    assert sum(s.subject == s.object for s in between) == 19


def test_belgium_of_the_excerpt_is_as_its_json_says(excerpt):
    belgium = next(item for item in excerpt if item.id == "Q31")
    assert belgium.label == belgium.article == "Belgium"
    assert belgium.aliases[0] == "Kingdom of Belgium"
    assert Statement("Q31", "P36", "Q239") in belgium.statements  # its capital: Brussels
    borders = {s.object for s in belgium.statements if s.property == "P47"}
    assert {"Q142", "Q183", "Q32", "Q55"} <= borders  # France, Germany, Luxembourg, Netherlands


def test_brackets_and_empty_lines_hold_no_item():
    assert [parse_item(record, "en") for record in (b"[\n", b"]\n", b"\n", b"", b"[]")] == [
        None
    ] * 5


def test_the_last_line_needs_no_comma():
    assert parse_item(line().rstrip(b",\n"), "en") == parse_item(line(), "en")


def test_a_label_for_all_languages_stands_in_for_a_missing_one():
    item = parse_item(line(labels={"mul": text("U", "mul"), "de": text("Universum", "de")}), "en")
    assert item and item.label == "U"


def test_a_label_of_the_language_comes_before_that_of_all():
    item = parse_item(line(labels={"mul": text("U", "mul"), "de": text("Universum", "de")}), "de")
    assert item and item.label == "Universum"


@pytest.mark.parametrize("labels", [{}, [], {"fr": text("univers", "fr")}, {"en": text("")}])
def test_an_item_without_a_label_has_none(labels):
    item = parse_item(line(labels=labels), "en")
    assert item and item.label is None


def test_aliases_are_of_the_language_and_all_without_the_label():
    aliases = {
        "en": [text("cosmos"), text("universe"), text("all"), text("cosmos")],
        "mul": [text("all"), text("kosmos")],
        "fr": [text("tout")],
    }
    item = parse_item(line(aliases=aliases), "en")
    assert item and item.aliases == ("cosmos", "all", "kosmos")


def test_an_article_is_that_of_the_language():
    links = {"be_x_oldwiki": {"title": "Сусьвет"}, "enwikiquote": {"title": "Universe"}}
    assert parse_item(line(sitelinks=links), "en").article is None
    assert parse_item(line(sitelinks=links), "be-x-old").article == "Сусьвет"
    assert site_of("zh-yue") == "zh_yuewiki"


def test_empty_parts_that_php_wrote_as_lists_are_empty():
    item = parse_item(line(aliases=[], claims=[], descriptions=[], sitelinks=[]), "en")
    assert item
    assert (item.aliases, item.statements, item.description, item.article) == ((), (), "", None)


def test_only_valid_main_statements_about_items_count():
    claims = {
        "P1": [statement(item_value(2)), statement(item_value(3), rank="preferred")],
        "P2": [statement(item_value(4), rank="deprecated")],
        "P3": [statement("text", type_="string")],
        "P4": [statement({"entity-type": "property", "numeric-id": 31, "id": "P31"})],
        "P5": [statement({"entity-type": "lexeme", "id": "L5"}), statement({"id": "L5-F1"})],
        "P6": [{"mainsnak": {"snaktype": "somevalue"}, "rank": "normal"}],
        "P7": [statement({"entity-type": "item", "numeric-id": 7})],  # as in dumps before 2015
        "P8": [statement({"id": "Q8"})],
    }
    item = parse_item(line(claims=claims), "en")
    assert item
    statements = [(s.subject, s.property, s.object) for s in item.statements]
    assert statements == [
        ("Q1", "P1", "Q2"),
        ("Q1", "P1", "Q3"),
        ("Q1", "P7", "Q7"),
        ("Q1", "P8", "Q8"),
    ]


@pytest.mark.parametrize(
    ("rank", "property_", "expected"),
    [("normal", "P31", True), ("deprecated", "P31", False), ("normal", "P279", False)],
)
def test_a_disambiguation_page_is_an_instance_of_one(rank, property_, expected):
    claims = {property_: [statement(item_value(4167410), rank=rank)]}
    item = parse_item(line(claims=claims), "en")
    assert item and item.disambiguation is expected


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b'{"type":"item","id":"Q1","labels":{"en":{"lang', "not JSON"),
        (b'{"type":"item","id":"Q1\xff"}', "not JSON"),
        (b'"Q1",', "a JSON str, not an entity"),
        (b'{"type":"item"}', "no id"),
        (line(labels={"en": "universe"}), "item Q1 is not built as items are"),
        (line(claims={"P1": [{"rank": "normal"}]}), "item Q1 is not built as items are"),
        (line(claims={"P1": [statement({"entity-type": "item"})]}), "item Q1 is not built"),
        (line(claims={"P1": [statement("Q2")]}), "item Q1 is not built as items are"),
        (line(sitelinks=["Universe"]), "item Q1 is not built as items are"),
        (line(sitelinks={"enwiki": {"title": 7}}), "7 where a text should be"),
        (line(labels={"en": {"value": 7}}), "7 where a text should be"),
        (line(descriptions={"en": {"value": ["x"]}}), "where a text should be"),
        (line(aliases={"en": [{"value": {}}]}), "item Q1 is not built as items are"),
    ],
)
def test_a_broken_line_says_so(record, message):
    with pytest.raises(BrokenItem, match=message):
        parse_item(record, "en")


@pytest.mark.parametrize("kind", ["property", "lexeme", None])
def test_another_kind_of_entity_is_not_broken(kind):
    with pytest.raises(NotAnItem, match="not an item"):
        parse_item(line(type=kind), "en")


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": "), (" ,\t", " : ")])
def test_bytes_alone_show_that_a_site_is_not_named(spacing):
    record = json.dumps(entity(), separators=spacing).encode()
    assert not surely_without_article(entity_text(record), "enwiki")
    assert surely_without_article(entity_text(record), "dewiki")


@pytest.mark.parametrize(
    "record", [line(type="property"), line()[:40], b'{"id":"Q1","type":"item"}', b"null"]
)
def test_bytes_alone_show_nothing_of_what_is_no_whole_item(record):
    assert not surely_without_article(entity_text(record), "dewiki")
