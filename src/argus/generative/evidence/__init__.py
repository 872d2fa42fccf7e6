"""From keys to ranked passages: SEAL's evidence aggregation (NGRAM_INDEX §6.4; thesis, eq. 3).

`weighted` classes the keys, `first_stage` finds passages by the rare ones, `full_stage` reads the
best of them in full; `ranking` joins the three.
"""

from argus.generative.evidence.ranking import EvidenceIndex, Matched, Ranked, aggregate

__all__ = ["EvidenceIndex", "Matched", "Ranked", "aggregate"]
