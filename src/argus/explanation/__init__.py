"""Explain why a document does not come back for a query: `argus explain`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
