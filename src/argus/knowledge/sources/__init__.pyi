from .raw import mention_rows as mention_rows
from .pages.folder import PageFolder as PageFolder
from .raw import RawWriter as RawWriter
from .rows import EntityRows as EntityRows
from .triples import TripleFiles as TripleFiles
