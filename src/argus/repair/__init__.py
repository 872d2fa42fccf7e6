"""`argus tune try`: try remedies on a copy of an index, keep the one that is proven to help."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
