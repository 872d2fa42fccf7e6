"""Does it help to answer? Questions answered with documents and scenarios (SPIKE §4.4, C.5)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
