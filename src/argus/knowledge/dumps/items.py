"""Read items of a Wikidata JSON dump into tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NotRequired

import pyarrow as pa
from typing_extensions import TypedDict

from argus.extras import naming_extras
from argus.knowledge.dumps.pages import Item, Statement

DISAMBIGUATION = "Q4167410"
"""Wikimedia disambiguation page: the class (P31) of every disambiguation page."""
ANY_LANGUAGE = "mul"
"""Wikidata's code for labels and aliases that hold in every language."""
LANGUAGE_OF_LABELS = {
    "als": "gsw", "bat-smg": "sgs", "be-x-old": "be-tarask", "fiu-vro": "vro", "no": "nb",
    "roa-rup": "rup", "simple": "en", "zh-classical": "lzh", "zh-min-nan": "nan", "zh-yue": "yue",
}  # fmt: skip
"""Wikipedias whose address is not the code that Wikidata has for their language."""
_BRACKETS = (b"[", b"]", b"[]")
_ITEM = re.compile(rb'\{\s*"type"\s*:\s*"item"\s*,')


class BrokenItem(ValueError):
    """A line of the dump is not the JSON of an entity."""


class NotAnItem(ValueError):
    """A line of the dump is an entity of another kind: a property, a lexeme."""


class Text(TypedDict):
    """A text in one language."""

    value: str


class SiteLink(TypedDict):
    """A page of a wiki."""

    title: str


ItemValue = TypedDict(
    "ItemValue",
    {"entity-type": NotRequired[str], "id": NotRequired[str], "numeric-id": int},
)
"""A statement's value, if it is an entity. Older dumps have only its number."""


class DataValue(TypedDict):
    """A value with its type; that of other types than "wikibase-entityid" is not read."""

    type: str
    value: ItemValue


class Snak(TypedDict):
    """A value, or none: "unknown" and "no value"."""

    datavalue: NotRequired[DataValue]


class Claim(TypedDict):
    """A statement."""

    mainsnak: Snak
    rank: NotRequired[str]


class WikidataEntity(TypedDict):
    """The JSON of an item, as far as it is read. A dump may depart from it anywhere.

    PHP writes an empty object as `[]`, and some dumps leave it out.
    """

    type: str
    id: str
    labels: NotRequired[dict[str, Text]]
    descriptions: NotRequired[dict[str, Text]]
    aliases: NotRequired[dict[str, list[Text]]]
    sitelinks: NotRequired[dict[str, SiteLink]]
    claims: NotRequired[dict[str, list[Claim]]]


def parse_entity(text: bytes) -> WikidataEntity:
    """Return the JSON of an item.

    Raises BrokenItem where the line cannot be read, NotAnItem where it is of another kind.
    """
    try:
        entity: WikidataEntity = _loads(text)
    except ValueError as error:
        raise BrokenItem(f"the line is not JSON ({error})") from error
    if not isinstance(entity, dict):
        raise BrokenItem(f"the line is a JSON {type(entity).__name__}, not an entity")
    if entity.get("type") != "item":
        raise NotAnItem(f"the entity is of type {entity.get('type')!r}, not an item")
    if not isinstance(entity.get("id"), str) or not entity["id"]:
        raise BrokenItem("the item has no id")
    return entity


def entity_text(line: bytes) -> bytes:
    """Return the JSON of an entity on a line. Empty for the brackets around all, and empty lines.

    A line ends in a comma, but for the last.
    """
    text = line.strip().rstrip(b",").rstrip()
    return b"" if text in _BRACKETS else text


def site_of(language: str) -> str:
    """Return Wikidata's name for the Wikipedia of a language, as in "enwiki", "zh_yuewiki"."""
    return language.replace("-", "_") + "wiki"


def surely_without_article(text: bytes, site: str) -> bool:
    """Whether the bytes of an entity alone show that it is an item without a page on `site`.

    True only where they begin and end as an item does and nowhere name the site, however the JSON
    is spaced. False means that it has to be parsed. Most items of a full dump need no parsing then.
    """
    whole = _ITEM.match(text) is not None and text.endswith(b"}")
    return whole and b'"%s"' % site.encode() not in text


def item_of(entity: WikidataEntity, language: str) -> tuple[Item, int]:
    """Return the item of an entity's JSON in one language, and its deprecated statements' number.

    Statements are main statements whose value is an item. Raises BrokenItem.
    """
    try:
        label = _label(entity, language)
        statements, n_deprecated = _statements(entity)
        item = Item(
            id=entity["id"],
            label=label,
            description=_first(entity.get("descriptions") or {}, _codes(language)) or "",
            aliases=_aliases(entity, language, label),
            article=_article(entity, language),
            disambiguation=any(
                s.property == "P31" and s.object == DISAMBIGUATION for s in statements
            ),
            statements=statements,
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise BrokenItem(f"item {entity['id']} is not built as items are ({error!r})") from error
    return item, n_deprecated


def _codes(language: str) -> tuple[str, ...]:
    """Return the codes of a Wikipedia's language in Wikidata, the first to be preferred."""
    other = LANGUAGE_OF_LABELS.get(language)
    return (language,) if other is None else (language, other)


def _label(entity: WikidataEntity, language: str) -> str | None:
    return _first(entity.get("labels") or {}, (*_codes(language), ANY_LANGUAGE))


def _article(entity: WikidataEntity, language: str) -> str | None:
    links = entity.get("sitelinks")
    link = links.get(site_of(language)) if links else None
    return _text(link.get("title") or "") or None if link else None


def _aliases(entity: WikidataEntity, language: str, label: str | None) -> tuple[str, ...]:
    aliases = entity.get("aliases") or {}
    keys = (*_codes(language), ANY_LANGUAGE)
    values = [_value(a) for key in keys for a in aliases.get(key) or ()]
    return tuple(dict.fromkeys(value for value in values if value and value != label))


def _first(texts: dict[str, Text], codes: tuple[str, ...]) -> str | None:
    return next((text for code in codes if (text := _value(texts.get(code)))), None)


def _statements(entity: WikidataEntity) -> tuple[tuple[Statement, ...], int]:
    statements = []
    n_deprecated = 0
    for property_, claims in (entity.get("claims") or {}).items():
        for claim in claims:
            value = claim["mainsnak"].get("datavalue")
            if value is None or value["type"] != "wikibase-entityid":
                continue
            target = _item_id(value["value"])
            if target is None:
                continue
            if claim.get("rank") == "deprecated":
                n_deprecated += 1
            else:
                statements.append(Statement(entity["id"], property_, target))
    return tuple(statements), n_deprecated


def _item_id(value: ItemValue) -> str | None:
    """Return the id of an item, None of another entity."""
    id_ = value.get("id")
    if value.get("entity-type", "item") != "item":
        return None
    if id_ is None:
        return f"Q{int(value['numeric-id'])}"
    return str(id_) if str(id_).startswith("Q") else None


def _value(text: Text | None) -> str | None:
    return None if text is None else _text(text["value"])


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} where a text should be")
    return value


def _loads(text: bytes) -> Any:  # whatever JSON there is
    with naming_extras():
        import orjson
    return orjson.loads(text)


ITEMS = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("description", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("article", pa.string()),
        ("disambiguation", pa.bool_()),
    ]
)
STATEMENTS = pa.schema(
    [("subject", pa.string()), ("property", pa.string()), ("object", pa.string())]
)


@dataclass(frozen=True)
class ItemSetup:
    """Settings of items. articles_only: leave out those without an article in `language`."""

    language: str = "en"
    articles_only: bool = True

    @property
    def site(self) -> str:
        """Wikidata's name for the language's Wikipedia."""
        return site_of(self.language)


@dataclass
class ItemPart:
    """A piece of the dump as tables: `items` as ITEMS, `statements` as STATEMENTS.

    counts: "entities" on the lines; of these "broken JSON", "not an item" and "no article" (unless
    they stay) are in no table. "deprecated": statements of items in the table that are left out.
    """

    items: pa.Table
    statements: pa.Table
    counts: dict[str, int]


def read_items(records: Iterable[bytes], setup: ItemSetup) -> ItemPart:
    """Read lines of a dump, each one entity, bracket or nothing.

    Broken lines are counted and do not stop it. Memory holds the tables of all given lines.
    """
    counts: Counter[str] = Counter()
    rows = _Rows()
    for line in records:
        text = entity_text(line)
        if not text:
            continue
        counts["entities"] += 1
        if setup.articles_only and surely_without_article(text, setup.site):
            counts["no article"] += 1
            continue
        try:
            item, n_deprecated = item_of(parse_entity(text), setup.language)
        except BrokenItem:
            counts["broken JSON"] += 1
        except NotAnItem:
            counts["not an item"] += 1
        else:
            if setup.articles_only and item.article is None:
                counts["no article"] += 1
            else:
                counts["deprecated"] += n_deprecated
                rows.add(item)
    return ItemPart(*rows.tables(), dict(counts))


_Value = str | list[str] | bool | None


@dataclass
class _Rows:
    items: list[list[_Value]] = field(default_factory=lambda: [[] for _ in ITEMS])
    statements: list[list[str]] = field(default_factory=lambda: [[] for _ in STATEMENTS])

    def add(self, item: Item) -> None:
        values = (
            *(item.id, item.label, item.description),
            *(list(item.aliases), item.article, item.disambiguation),
        )
        for column, value in zip(self.items, values, strict=True):
            column.append(value)
        subjects, properties, objects = self.statements
        for statement in item.statements:
            subjects.append(statement.subject)
            properties.append(statement.property)
            objects.append(statement.object)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        items = [pa.array(c, f.type) for c, f in zip(self.items, ITEMS, strict=True)]
        statements = [pa.array(column, pa.string()) for column in self.statements]
        return pa.table(items, schema=ITEMS), pa.table(statements, schema=STATEMENTS)
