"""Where entities and relations come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.data.fields import FieldNames
from argus.settings import Doc, Option


@dataclass(frozen=True, kw_only=True)
class KnowledgeSource:
    """Where entities and relations come from.

    entities: a knowledge base (argus.data.kb) does as well as a file; None takes every document as
    an entity, its title as label. relations: of a knowledge base's sources "wikidata", "hyperlink",
    "triples", "all"; None takes what the knowledge base says, or an `edges` file beside the corpus,
    else mentions.
    """

    entities: Annotated[
        Path | None, Doc("File of id, label, paragraph (or doc_id); default: every document.")
    ] = None
    relations: Annotated[
        Path | str | None,
        Doc(
            'Triples file, or "mentions"; of a knowledge base also wikidata, hyperlink, triples, '
            "all. Default: its own, or edges.* beside the corpus, else mentions."
        ),
    ] = None
    skip_unknown: Annotated[
        bool, Doc("Drop (and count) edges to ids that are not entities."), Option(panel="Input")
    ] = False
    fields: FieldNames = field(default_factory=FieldNames)
