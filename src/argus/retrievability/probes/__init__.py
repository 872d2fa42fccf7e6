"""Probes: RPS predicted from an entity's vector alone, before anything is indexed (ARGUS §4, §C).

Loading and applying a probe needs numpy only; fitting is in `estimators` (scikit-learn, torch,
and xgboost from the extra `probes`) and `sweep`.
"""

from argus.retrievability.probes.persist import load_probe, probe_file, save_probe
from argus.retrievability.probes.probe import Prediction, Probe, same_encoder
from argus.retrievability.probes.shipped import load_default

__all__ = [
    "Prediction",
    "Probe",
    "load_default",
    "load_probe",
    "probe_file",
    "same_encoder",
    "save_probe",
]
