"""Measure systems on judged queries, compare them, and hold them to bounds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
