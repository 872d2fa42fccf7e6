"""From keys to ranked passages: SEAL's evidence aggregation (thesis, eq. 3).

`weighted` classes the keys, `first_stage` finds passages by the rare ones, `full_stage` reads the
best of them in full; `ranking` joins the three. In words: docs/generative.md, "How scores are
made".
"""

from argus.generative.evidence.ranking import EvidenceIndex, Matched, Ranked, aggregate

__all__ = ["EvidenceIndex", "Matched", "Ranked", "aggregate"]
