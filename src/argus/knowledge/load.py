"""Read entities and relations from a corpus, a knowledge base, or files of rows and triples.

The inputs of `argus research audit` and `argus research probe predict`. `read_knowledge` returns a
`KnowledgeBase` (`argus.knowledge.base`) with entities ordered by id, and the files it came from.
`read_entities` reads entities alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from argus.corpora.opening import CorpusSource, Origin
from argus.data.documents import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS, find_file
from argus.data.fields import FieldNames
from argus.data.folders import kb_file
from argus.data.kb import ALL, SOURCES, KnowledgeFolder
from argus.data.reading import nothing_in
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.data.types import Document
from argus.errors import InputError
from argus.knowledge.base import (
    ArrowEntities,
    Entity,
    KnowledgeBase,
    RelationGraph,
    ids_of,
    read_relations,
)
from argus.knowledge.names import mention_relations
from argus.settings import Option

MENTIONS = "mentions"


@dataclass(frozen=True, kw_only=True)
class KnowledgeSource:
    """Sources of entities and relations.

    entities: a knowledge base (argus.data.kb) does as well as a file. None takes every document as
    an entity, its title as label. relations: of a knowledge base's sources "wikidata", "hyperlink",
    "triples", "all". None takes what the knowledge base says, or an `edges` file beside the corpus,
    else mentions.

    Attributes:
        entities: File of id, label, paragraph (or doc_id); default: every document.
        relations: Triples file, or "mentions"; of a knowledge base also wikidata, hyperlink,
            triples, all. Default: its own, or edges.* beside the corpus, else mentions.
        skip_unknown: Drop (and count) edges to ids that are not entities.
    """

    entities: Path | None = None
    relations: Annotated[Path | str | None, Option(is_name=True)] = None
    skip_unknown: Annotated[bool, Option(panel="Input")] = False
    fields: FieldNames = field(default_factory=FieldNames)


@dataclass(frozen=True)
class Knowledge:
    """Entities and relations, and their sources."""

    base: KnowledgeBase
    relations: Path | str
    """A file, "mentions", or the name of a knowledge base's source."""
    corpus: Origin | None
    entities: Path | None
    documents: Sequence[Document] = ()
    """Documents of the corpus. Empty for a knowledge base on disk, which has its own."""

    @property
    def inputs(self) -> dict[str, Origin | None]:
        """The files, as a manifest names them."""
        relations = self.relations if isinstance(self.relations, Path) else None
        return {"corpus": self.corpus, "entities": self.entities, "relations": relations}


def read_knowledge(corpus: CorpusSource, source: KnowledgeSource) -> Knowledge:
    """Return entities, ordered by id, and relations, and where they came from.

    A corpus that is a knowledge base on disk is not made into documents, and has its own relations.
    Beside other corpora an `edges` file is looked for. The corpus's limit is one of documents, or
    of `source.entities` where these are given. Relations that lead out of it are dropped. Raises
    InputError as the readers do.
    """
    limit, entities = corpus.limit, source.entities
    refuse_template(source, whole=corpus.stored is not None and entities is None)
    documents: Sequence[Document] = ()
    if limit is not None:
        source = replace(source, skip_unknown=True)
    kb = _kb_of(entities) if entities else corpus.kb
    if kb is not None:
        corpus.refuse_fields(source.fields)
        base, relations = _from_kb(kb, source, None if entities else limit)
    else:
        home = entities or corpus.file
        edges = find_file(home.parent, ["edges"]) if home else None
        embedded = corpus.stored is not None and corpus.stored.asking is not None
        documents = corpus.documents(source.fields)
        found: Sequence[Entity] = (
            read_entities(source.entities, documents, coerce_ids=source.fields.coerce_ids)
            if source.entities
            else [Entity.from_document(d, embedded=embedded) for d in documents]
        )
        found = sorted(found, key=lambda e: e.id)
        relations = source.relations or edges or MENTIONS
        if str(relations) == MENTIONS:
            base, relations = KnowledgeBase(found, mention_relations(found)), MENTIONS
        else:
            base = KnowledgeBase(found, _from_file(relations, found, source))
            relations = Path(relations)
    if limit is not None and entities:
        base = base.first(limit)
    home = entities and (kb.file if kb else entities)
    return Knowledge(base, relations, corpus.origin, home, documents)


def refuse_template(source: KnowledgeSource, *, whole: bool) -> None:
    """Raise InputError for a template where names are embedded in their paragraphs.

    whole: whether records are taken with their vectors, as they were embedded.
    """
    if source.fields.template is not None and not whole:
        raise InputError(
            "how title and text are joined",
            expected="that of a store, whose vectors are taken: of other corpora the paragraph is "
            "embedded that names the entity",
            fix="Leave it out.",
            where="--template",
        )


def _kb_of(path: Path) -> KnowledgeFolder | None:
    return KnowledgeFolder.open(path) if kb_file(path) else None


def _from_kb(
    folder: KnowledgeFolder, source: KnowledgeSource, limit: int | None
) -> tuple[KnowledgeBase, Path | str]:
    """Return the first `limit` entities of a knowledge base on disk, and their relations."""
    table = folder.entities(("id", "label", "paragraph", "target"), limit=limit)
    entities = ArrowEntities(table)
    targets = None
    if folder.facts.get("sample"):  # others are targets of whatever relations are used
        targets = np.asarray(table["target"].fill_null(False).to_numpy(), bool)
    name = str(source.relations or folder.graph)
    where: Path | str = name
    if name in folder.sources or (name == ALL and folder.sources):
        # With a limit, edges that lead out of it count as unknown.
        subjects, objects = folder.relations(name, limit=limit)
        there = sum(folder.sources.values()) if name == ALL else folder.sources[name]
        unknown = there - len(subjects)
        graph = RelationGraph.from_edges(len(entities), subjects, objects, unknown=unknown)
    elif name == MENTIONS:
        graph = mention_relations(entities)
    elif name not in (*SOURCES, ALL) and Path(name).exists():
        graph, where = _from_file(name, entities, source), Path(name)
    else:
        counts = ", ".join(f"{other} ({n:,})" for other, n in folder.sources.items())
        raise InputError(
            f"{name!r} is neither a file nor a source of its relations",
            expected=f"{counts}; {ALL}; or {MENTIONS}"
            if counts
            else f"{MENTIONS}: it has no other",
            fix="Choose another with --relations.",
            where=folder.path,
        )
    return KnowledgeBase(entities, graph, targets), where


def _from_file(
    relations: Path | str, entities: Sequence[Entity], source: KnowledgeSource
) -> RelationGraph:
    return read_relations(
        Path(relations),
        {id_: i for i, id_ in enumerate(ids_of(entities))},
        skip_unknown=source.skip_unknown,
        coerce_ids=source.fields.coerce_ids,
    )


def read_entities(
    path: Path, documents: Sequence[Document], *, coerce_ids: bool = False
) -> Sequence[Entity]:
    """Read entities (id, label, paragraph or doc_id) from a file in any row format, or a KB.

    The paragraph is the row's own text; else that of the document that `doc_id`, or the entity's
    id, names; else empty, which makes the entity not applicable. Raises InputError for a missing
    label column, duplicate ids and a doc_id that is not in the corpus.
    """
    if kb := _kb_of(path):
        return ArrowEntities(kb.entities(("id", "label", "paragraph")))
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
        refers = "doc_id" in row.values and row.values["doc_id"] not in (None, "")
        reference = id_value(row, "doc_id", coerce=coerce_ids) if refers else ""
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
        raise nothing_in(path, "entity", "at least one row of id, label, paragraph")
    return list(entities.values())
