"""The n-gram index: a suffix array over passages, in segments, memory-mapped."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
