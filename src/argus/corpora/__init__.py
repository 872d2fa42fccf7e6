"""What a corpus is: rows in a file, a knowledge base, a vector store, documents of a program."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
