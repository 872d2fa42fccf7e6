"""Text to vectors: encoders behind one protocol, and the store that keeps their vectors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
