"""Runs of jobs as records: the figures of each, by document and question."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
