"""Probes: RPS predicted from an entity's vector alone, before anything is indexed (ARGUS §4, §C).

Loading and applying a probe needs numpy only. Fitting is in `estimators` (scikit-learn, torch,
and xgboost from the extra `probes`) and `sweep`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
