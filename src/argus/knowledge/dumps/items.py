"""Read items of a Wikidata JSON dump into tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from argus.extras import naming_extras
from argus.knowledge.alignment.raw_tables import ITEMS, STATEMENTS, rows_to_table

DISAMBIGUATION = "Q4167410"
"""Wikimedia disambiguation page: the class (P31) of every disambiguation page."""
ANY_LANGUAGE = "mul"
"""Wikidata's code for labels and aliases that hold in every language."""
LANGUAGE_OF_LABELS = {
    "als": "gsw", "bat-smg": "sgs", "be-x-old": "be-tarask", "fiu-vro": "vro", "no": "nb",
    "roa-rup": "rup", "simple": "en", "zh-classical": "lzh", "zh-min-nan": "nan", "zh-yue": "yue",
}  # fmt: skip
"""Wikipedias whose address is not the code that Wikidata has for their language."""
_NO_ENTITY = (b"", b"[", b"]", b"[]")
_ITEM = re.compile(rb'\{\s*"type"\s*:\s*"item"\s*,')
_MALFORMED = (KeyError, TypeError, AttributeError, ValueError, OverflowError)
Row = tuple[Any, ...]
"""Values in the order of ITEMS, or of STATEMENTS."""


def read_items(
    records: Iterable[bytes], language: str = "en"
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """Read lines of a dump, each one entity, bracket or nothing. Return tables and counts.

    Tables are "items" (ITEMS) and "statements" (STATEMENTS). Statements are main statements whose
    value is an item. Counts are "entities" on the lines. Of these "broken JSON", "not an item" and
    "no article" are in no table. "deprecated" statements of items in the table are left out.
    """
    with naming_extras():
        import orjson

    site = f"{language.replace('-', '_')}wiki"  # Wikidata's name, as in "zh_yuewiki"
    codes = tuple(dict.fromkeys((language, LANGUAGE_OF_LABELS.get(language, language))))
    quoted = b'"%s"' % site.encode()
    counts: Counter[str] = Counter()
    items: list[Row] = []
    statements: list[Row] = []
    for line in records:
        text = line.strip().rstrip(b",").rstrip()
        if text in _NO_ENTITY:
            continue
        counts["entities"] += 1
        # The bytes of most items of a full dump nowhere name the site: they need no parsing.
        if quoted not in text and _ITEM.match(text) and text.endswith(b"}"):
            counts["no article"] += 1
            continue
        try:
            entity = orjson.loads(text)
            if entity.get("type") != "item":
                counts["not an item"] += 1
                continue
            item, own, deprecated = _parse_item(entity, codes, site)
        except _MALFORMED:
            counts["broken JSON"] += 1
            continue
        if item[ITEMS.get_field_index("article")] is None:
            counts["no article"] += 1
            continue
        counts["deprecated"] += deprecated
        items.append(item)
        statements += own
    tables = {
        "items": rows_to_table(items, ITEMS),
        "statements": rows_to_table(statements, STATEMENTS),
    }
    return tables, dict(counts)


def _parse_item(
    entity: dict[str, Any], codes: Sequence[str], site: str
) -> tuple[Row, list[Row], int]:
    """Return an item's row, its statements and how many of them are deprecated.

    codes: of the language, the first to be preferred. PHP writes an empty object as `[]`, and some
    dumps leave it out. Raises an error of _MALFORMED for JSON that is not built as items are.
    """

    def first(part: str, codes: Sequence[str]) -> str | None:
        texts = entity.get(part) or {}
        found = (_text(texts[code]["value"]) for code in codes if texts.get(code) is not None)
        return next(filter(None, found), None)

    id_ = _text(entity["id"])
    if not id_:
        raise ValueError("no id")
    every = (*codes, ANY_LANGUAGE)
    label = first("labels", every)
    aliases = entity.get("aliases") or {}
    names = [_text(alias["value"]) for code in every for alias in aliases.get(code) or ()]
    statements, deprecated = [], 0
    for property_, claims in (entity.get("claims") or {}).items():
        for claim in claims:
            value = claim["mainsnak"].get("datavalue")
            if value is None or value["type"] != "wikibase-entityid":
                continue
            target = _item_id(value["value"])
            if target is not None and claim.get("rank") == "deprecated":
                deprecated += 1
            elif target is not None:
                statements.append((id_, property_, target))
    links = entity.get("sitelinks")
    link = links.get(site) if links else None
    row = (
        *(id_, label, first("descriptions", codes) or ""),
        [name for name in dict.fromkeys(names) if name and name != label],
        (_text(link.get("title") or "") or None) if link else None,
        (id_, "P31", DISAMBIGUATION) in statements,
    )
    return row, statements, deprecated


def _item_id(value: dict[str, Any]) -> str | None:
    """Return the id of an item, None of another entity. Older dumps have only its number."""
    if value.get("entity-type", "item") != "item":
        return None
    id_ = value.get("id")
    if id_ is None:
        return f"Q{int(value['numeric-id'])}"
    return str(id_) if str(id_).startswith("Q") else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} where a text should be")
    return value
