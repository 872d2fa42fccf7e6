import bz2
import json

import pytest

from argus.knowledge.dumps.items import (
    BrokenItem,
    entity_text,
    item_of,
    parse_entity,
    site_of,
    surely_without_article,
)


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


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": "), (" ,\t", " : ")])
def test_bytes_alone_show_that_a_site_is_not_named(spacing):
    record = json.dumps(entity(), separators=spacing).encode()
    assert not surely_without_article(entity_text(record), "enwiki")
    assert surely_without_article(entity_text(record), "dewiki")
