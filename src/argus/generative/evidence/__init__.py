"""Rank passages by keys: SEAL's evidence aggregation (thesis, eq. 3).

`weighted` classes the keys, `first_stage` finds passages by the rare ones, `full_stage` reads the
best of them in full. `ranking` joins the three. In words: docs/ngrams.md.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
