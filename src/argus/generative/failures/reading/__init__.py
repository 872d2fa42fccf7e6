"""A record of an output file, as bytes, to the question as it is analysed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
