"""Probes: RPS predicted from an entity's vector alone, before anything is indexed (ARGUS §4, §C).

Applying a probe needs numpy only, beside xgboost for its trees. Fitting is in `estimators`
(scikit-learn, torch, and xgboost from the extra `probes`) and `fit`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
