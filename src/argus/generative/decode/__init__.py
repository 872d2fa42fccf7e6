"""Decode n-grams for a question: the model, the index's constraint, beam search, rescoring."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
