"""Entities, their relations, their mentions in text, and the embedded sample corpus.

Importing this loads no model and no compiled library: a finder loads what it needs when it is made.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
