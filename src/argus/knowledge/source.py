"""Name the sources of entities and relations, and the names to look for in texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.data.fields import FieldNames
from argus.settings import Ge, Option, check_settings

_PANEL = "Mentions"


@dataclass(frozen=True, kw_only=True)
class GazetteerConfig:
    """Rules of names, and of comparing them.

    common_words: by default one-word names that are common words are left out, because "It" or
    "Jaws" at the beginning of a sentence is rarely the film. Common are words that occur in lower
    case in the texts; with `ignore_case`, where names are expected in lower case and that tells
    nothing, only English function words ("after", "what"), so that "jaws" is found wherever it
    stands. min_length: characters.

    Attributes:
        ignore_case: Names in any case.
        common_words: Also one-word names that occur in lower case.
        min_length: Shorter names are left out.
    """

    ignore_case: Annotated[bool, Option(panel=_PANEL)] = False
    common_words: Annotated[bool, Option(panel=_PANEL)] = False
    min_length: Annotated[int, Ge(1), Option(panel=_PANEL)] = 3

    def __post_init__(self) -> None:
        check_settings(self)


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
