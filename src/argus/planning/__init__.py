"""`argus plan`: what a job will take, from what was measured on the hardware (docs/plans.md)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
