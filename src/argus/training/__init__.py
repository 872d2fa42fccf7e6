"""Train anything that has weights, a loss and examples. `loop.train` does it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
