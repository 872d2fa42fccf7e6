"""Embedded part of an entity: its name in its paragraph, or the paragraph whole."""

from __future__ import annotations

from argus.encoders import Item, Role
from argus.knowledge import KnowledgeBase, ground


def entity_items(base: KnowledgeBase, pooling: str) -> list[Item]:
    """Ground every label in its paragraph and choose the items to embed (ARGUS §B.1, §B.4).

    One item per entity that has a paragraph, in the order of `base`. Pooling as in AuditConfig. An
    entity whose vector comes with the corpus is what was embedded of it.
    """
    items = []
    for entity, usable in zip(base.entities, base.has_text, strict=True):
        if not usable:
            continue
        if entity.embedded:
            items.append(Item(entity.embedded, Role.DOCUMENT))
            continue
        grounded = ground(entity.label, entity.paragraph)
        if pooling == "span" and grounded.span is not None:
            items.append(Item(grounded.text, Role.SPAN, grounded.span))
        else:
            items.append(Item(grounded.text, Role.DOCUMENT))
    return items
