"""Vector stores where they stand: read, searched and written in place, nothing copied."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
