"""`research kb build`: dumps and other sources in, a knowledge base out (docs/knowledge.md)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
