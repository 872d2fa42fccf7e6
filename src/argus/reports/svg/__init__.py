"""Figures drawn as inline SVG, without script or loading, from plotly's own dictionaries."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
