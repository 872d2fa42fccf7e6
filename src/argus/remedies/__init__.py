"""Predict which entities are hard to reach, repair their documents, and write the receipt."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
