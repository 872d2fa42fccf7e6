"""Which properties of RDF name and describe things, and what an IRI says by itself."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DBO = "http://dbpedia.org/ontology/"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = ("http://schema.org/", "https://schema.org/")

LABEL, DESCRIPTION, PARAGRAPH, ALIAS = "label", "description", "paragraph", "alias"


class Use(NamedTuple):
    """What a property's text is; of two texts for one place, that of the smaller rank is taken."""

    kind: str
    rank: int


TEXT_PROPERTIES = {
    RDFS + "label": Use(LABEL, 0),
    SKOS + "prefLabel": Use(LABEL, 1),
    **{schema + "name": Use(LABEL, 2) for schema in SCHEMA},
    FOAF + "name": Use(LABEL, 3),
    DBO + "abstract": Use(PARAGRAPH, 0),
    RDFS + "comment": Use(PARAGRAPH, 1),
    **{schema + "description": Use(DESCRIPTION, 0) for schema in SCHEMA},
    SKOS + "altLabel": Use(ALIAS, 0),
}
REDIRECT = DBO + "wikiPageRedirects"
WIKI_LINK = DBO + "wikiPageWikiLink"

FOR_ALL = ("", "mul")
"""Language tags of texts that are for every language: none, and Wikidata's for all."""


def language_rank(tag: str, language: str) -> int | None:
    """Return 0 for the language itself, 1 for a kind of it, 2 for all languages, None for others.

    A kind of "en" is "en-GB"; tags are compared without regard to case (BCP 47).
    """
    tag = tag.lower()
    if tag == language:
        return 0
    if tag.startswith(f"{language}-"):
        return 1
    return 2 if tag in FOR_ALL else None


def label_from_id(id_: str) -> str:
    """Return an IRI's local name, decoded, or another id as it is; underscores become spaces."""
    name = id_
    if "://" in id_:
        bare = id_.rstrip("/#")
        name = unquote(bare.rsplit("#", 1)[-1] if "#" in bare else bare.rsplit("/", 1)[-1])
    elif id_.lower().startswith("urn:"):
        name = unquote(id_.rsplit(":", 1)[-1])
    return " ".join(name.replace("_", " ").split()) or id_
