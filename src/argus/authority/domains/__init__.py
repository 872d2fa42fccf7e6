"""Domains: YAML files that say how records are read and what supersedes what (docs/domains.md)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
