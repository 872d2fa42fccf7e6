"""Knowledge bases from other sources than dumps: triples, rows, folders of pages, mentions."""

from argus.knowledge.sources.mentions import mention_rows
from argus.knowledge.sources.pages.folder import PageFolder
from argus.knowledge.sources.raw import RawWriter
from argus.knowledge.sources.rows import EntityRows
from argus.knowledge.sources.triples import TripleFiles

__all__ = [
    "EntityRows",
    "PageFolder",
    "RawWriter",
    "TripleFiles",
    "mention_rows",
]
