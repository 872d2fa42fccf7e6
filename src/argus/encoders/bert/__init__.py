"""Sentence models on BERT, loaded with nothing but their own classes.

Importing sentence-transformers takes several seconds of processor time, most of it for models and
metrics that no BERT needs. A folder of which every setting is known to mean the same here is loaded
by `open_model`. Every other one goes through sentence-transformers.
"""

from argus.encoders.bert.folder import open_model

__all__ = ["open_model"]
