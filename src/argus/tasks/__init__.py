"""Tasks of retrieval as their authors publish them: documents, questions, judgements, metrics."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
