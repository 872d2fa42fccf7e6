"""Engines: the same work over many blocks, on this machine's processes or on a cluster."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
