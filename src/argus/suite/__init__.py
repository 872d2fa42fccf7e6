"""Retrievers x remedies x tasks in one run, and the tables of the four papers beside ours."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
