import bz2
import json

import pytest

from argus.knowledge.dumps import read_items


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
    sitelinks = {"enwiki": {"site": "enwiki", "title": "Universe", "badges": []}}
    english = {
        name: {"en": {"language": "en", "value": "universe"}} for name in ("labels", "descriptions")
    }
    return {"type": "item", "id": "Q1", **english, "sitelinks": sitelinks, **changes}


def line(**changes: object) -> bytes:
    return json.dumps(entity(**changes), separators=(",", ":")).encode() + b",\n"


def read(*lines: bytes, language: str = "en") -> tuple[list, list, dict]:
    tables, counts = read_items(lines, language)
    return tables["items"].to_pylist(), tables["statements"].to_pylist(), counts


def text(value: str, language: str = "en") -> dict:
    return {"language": language, "value": value}


@pytest.mark.parametrize(
    ("wikipedia", "code"), [("simple", "en"), ("no", "nb"), ("zh-yue", "yue"), ("de", "de")]
)
def test_texts_are_in_wikidatas_language_of_a_wikipedia(wikipedia, code):
    texts = {code: text("here", code), "fr": text("là", "fr"), "mul": text("all", "mul")}
    [item], _, _ = read(
        line(
            labels=texts,
            descriptions={code: text("a place", code)},
            aliases={code: [text("hither", code)]},
            sitelinks={f"{wikipedia.replace('-', '_')}wiki": {"title": "Here"}},
        ),
        language=wikipedia,
    )
    assert (item["label"], item["description"], item["article"]) == ("here", "a place", "Here")
    assert item["aliases"] == ["hither"]


def test_the_excerpt_has_100_items_and_5576_valid_statements(shared):
    path = shared("wikidata_excerpt") / "sample_wikidata_items.json.bz2"
    with bz2.open(path) as lines:
        items, statements, counts = read(*lines)
    ids = {item["id"] for item in items}
    between = [s for s in statements if s["object"] in ids]
    assert counts == {"entities": 100, "deprecated": 22} and len(items) == 100
    assert all(i["label"] and i["article"] and not i["disambiguation"] for i in items)
    assert len(statements) == 5598 - 22  # of the README's 5,598 are 22 deprecated
    assert len(between) == 165
    assert sum(s["subject"] == s["object"] for s in between) == 19


def test_every_line_is_in_the_tables_or_under_a_reason():
    claims = {"P1": [statement(item_value(9)), statement(item_value(9), rank="deprecated")]}
    spaced = json.dumps(entity(id="Q3", sitelinks={"dewiki": {"title": "Q3"}})).encode() + b",\n"
    items, _, counts = read(
        *(b"[\n", line(id="Q1", claims=claims), line(id="Q2", sitelinks={}), spaced),
        line(type="property", id="P4", sitelinks={}),
        *(line(id="Q6")[:-3] + b",\n", line(id="Q7", claims=claims), b"]\n"),
    )
    assert [item["id"] for item in items] == ["Q1", "Q7"]
    assert counts == {
        "entities": 6, "no article": 3, "broken JSON": 1, "deprecated": 2,
    }  # fmt: skip


def test_empty_parts_that_php_wrote_as_lists_are_empty():
    [item], statements, _ = read(line(aliases=[], claims=[], descriptions=[]))
    assert (item["aliases"], item["description"], statements) == ([], "", [])
    assert read(line(sitelinks=[]))[2] == {"entities": 1, "no article": 1}


def test_only_valid_main_statements_about_items_count():
    claims = {
        "P1": [statement(item_value(2)), statement(item_value(3), rank="preferred")],
        "P2": [statement(item_value(4), rank="deprecated")],
        "P3": [statement("text", type_="string")],
        "P4": [statement({"entity-type": "property", "numeric-id": 31, "id": "P31"})],
        "P5": [statement({"entity-type": "lexeme", "id": "L5"}), statement({"id": "L5-F1"})],
        "P6": [{"mainsnak": {"snaktype": "somevalue"}, "rank": "normal"}],
        "P8": [statement({"id": "Q8"})],
    }
    _, statements, counts = read(line(claims=claims))
    assert counts["deprecated"] == 1
    assert [tuple(statement.values()) for statement in statements] == [
        ("Q1", "P1", "Q2"), ("Q1", "P1", "Q3"), ("Q1", "P8", "Q8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        b'{"type":"item","id":"enwiki","a":"\xff"}', line(labels={"en": "universe"}),
        line(claims={"P1": [{}]}), line(claims={"P1": [statement({"entity-type": "item"})]}),
        line(claims={"P1": [statement("Q2")]}), line(sitelinks=["enwiki"]),
        line(aliases={"en": [{"value": {}}]}),
    ],
)  # fmt: skip
def test_a_broken_line_is_counted(record):
    assert read(record) == ([], [], {"entities": 1, "broken JSON": 1})


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": "), (" ,\t", " : ")])
def test_bytes_alone_show_that_a_site_is_not_named(monkeypatch, spacing):
    record = json.dumps(entity(), separators=spacing).encode()
    assert read(record)[2]["entities"] == len(read(record)[0]) == 1
    monkeypatch.setattr("orjson.loads", None)
    assert read(record, language="de")[2] == {"entities": 1, "no article": 1}
