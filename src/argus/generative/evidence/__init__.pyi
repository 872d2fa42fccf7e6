from .ranking import (
    EvidenceIndex as EvidenceIndex,
    Matched as Matched,
    Ranked as Ranked,
    aggregate as aggregate,
)
