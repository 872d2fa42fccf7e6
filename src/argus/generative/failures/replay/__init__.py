"""Repeat a search to measure losses of the beam: false pruning, and rankings without some keys."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
