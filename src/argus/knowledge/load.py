"""Put a knowledge base together from what a person has: documents, entities, relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.corpus import (
    ID_FIELDS,
    TEXT_FIELDS,
    TITLE_FIELDS,
    FieldNames,
    corpus_file,
    find_file,
)
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.data.types import Document
from argus.errors import InputError
from argus.knowledge.base import Entity, KnowledgeBase
from argus.knowledge.mentions import mention_relations
from argus.knowledge.relations import read_relations

MENTIONS = "mentions"


@dataclass(frozen=True, kw_only=True)
class KnowledgeSource:
    """Where entities and relations come from.

    entities: a file of id, label and paragraph (or `doc_id`, the document that holds it); None
    takes every document as an entity, its title as label. relations: a triples file, or "mentions"
    to derive them from the text; None takes an `edges` file beside the corpus, else mentions.
    """

    entities: Path | None = None
    relations: Path | str | None = None
    skip_unknown: bool = False
    fields: FieldNames = field(default_factory=FieldNames)


def load_knowledge(
    documents: Sequence[Document], source: KnowledgeSource, *, corpus: Path | None = None
) -> tuple[KnowledgeBase, Path | str]:
    """Return the knowledge base, entities ordered by id, and where its relations came from.

    corpus: where `documents` were read, to look beside it for edges. Raises InputError as the
    readers do.
    """
    entities = (
        read_entities(source.entities, documents, coerce_ids=source.fields.coerce_ids)
        if source.entities
        else [Entity.from_document(d) for d in documents]
    )
    entities = sorted(entities, key=lambda e: e.id)
    relations = source.relations or edges_beside(source.entities or corpus) or MENTIONS
    if relations == MENTIONS:
        return KnowledgeBase(entities, mention_relations(entities)), MENTIONS
    graph = read_relations(
        Path(relations),
        {e.id: i for i, e in enumerate(entities)},
        skip_unknown=source.skip_unknown,
        coerce_ids=source.fields.coerce_ids,
    )
    return KnowledgeBase(entities, graph), Path(relations)


def edges_beside(corpus: Path | None) -> Path | None:
    """Return the `edges` file in the folder of a corpus, if there is one."""
    if corpus is None:
        return None
    return find_file(corpus_file(corpus).parent, ["edges"])


def read_entities(
    path: Path, documents: Sequence[Document], *, coerce_ids: bool = False
) -> list[Entity]:
    """Read entities (id, label, paragraph or doc_id) from a file in any row format.

    The paragraph is the row's own text; else that of the document that `doc_id`, or the entity's
    id, names; else empty, which makes the entity not applicable. Raises InputError for a missing
    label column, duplicate ids and a doc_id that is not in the corpus.
    """
    by_id = {d.id: d for d in documents}
    entities: dict[str, Entity] = {}
    for row in read_rows(path):
        id_field = pick_field(row, ID_FIELDS, what="id")
        label_field = pick_field(row, TITLE_FIELDS, what="label")
        id_ = id_value(row, id_field, coerce=coerce_ids)
        if id_ in entities:
            raise InputError(
                f"id {id_!r} was already given",
                expected="one row per entity",
                fix="Remove or rename one of the two.",
                where=row.at(id_field),
            )
        text_field = next((name for name in TEXT_FIELDS if name in row.values), None)
        paragraph = text_value(row, text_field) if text_field else ""
        given = "doc_id" in row.values and row.values["doc_id"] not in (None, "")
        reference = id_value(row, "doc_id", coerce=coerce_ids) if given else ""
        if not paragraph and reference and reference not in by_id:
            raise InputError(
                f"{reference!r} is not the id of a document",
                expected="an id that the corpus has",
                fix="Mend the id, or give the entity a paragraph of its own.",
                where=row.at("doc_id"),
            )
        if not paragraph and (reference or id_) in by_id:
            paragraph = by_id[reference or id_].text
        entities[id_] = Entity(id_, text_value(row, label_field), paragraph)
    if not entities:
        raise InputError(
            "no entity in it",
            expected="at least one row of id, label, paragraph",
            fix="Check that this is the right file.",
            where=path,
        )
    return list(entities.values())
