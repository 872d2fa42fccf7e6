"""Pages and items made one: entities, relations, aliases and redirects (docs/knowledge.md).

Two steps over tables on disk, by a database that holds no more in memory than it is allowed:
`align` turns the tables of dumps into raw tables, `finish` turns raw tables, of dumps or of any
other source, into those of a knowledge base.
"""

from argus.knowledge.alignment.from_dumps import align
from argus.knowledge.alignment.raw_tables import RAW, raw_folder
from argus.knowledge.alignment.settings import AlignSettings
from argus.knowledge.alignment.to_tables import TableWriter, finish

__all__ = ["RAW", "AlignSettings", "TableWriter", "align", "finish", "raw_folder"]
