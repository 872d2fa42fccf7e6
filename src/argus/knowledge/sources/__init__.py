"""Knowledge bases from other sources than dumps: triples, rows, folders of pages, mentions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
