"""The correction of queries that `argus remedy adapt` learnt, for what takes vectors of queries."""

from __future__ import annotations

from argus.encoders import Encoder
from argus.indexes.correction import QueryCorrection, find_correction, read_correction
from argus.retrievers.config import AskingConfig

CORRECTED = " corrected"
"""Behind the name of what is asked with one."""


def correction_of(config: AskingConfig, encoder: Encoder) -> QueryCorrection | None:
    """Return the correction of queries; FingerprintMismatch where another encoder's is named."""
    if config.correction is None:
        return None
    file = find_correction(config.correction)
    correction = read_correction(file)
    correction.check_fingerprint(encoder.fingerprint, file)
    return correction
