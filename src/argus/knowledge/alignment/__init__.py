"""Pages and items made one: entities, relations, aliases and redirects (docs/dumps.md).

Two steps over tables on disk, by a database that holds no more in memory than it is allowed:
`align` turns the tables of dumps into raw tables, `finish` turns raw tables, of dumps or of any
other source, into those of a knowledge base.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
