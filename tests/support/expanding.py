"""Documents, passages and pairs of them for tests of expansions."""

from argus.data.types import Document, Span, State
from argus.remedies.diagnosis import Risk
from argus.remedies.expansion import Pair
from argus.remedies.reference import Passage

AARE = Document("aare", "The Aare is a river in Switzerland.", "Aare")
BERN = Document("bern", "It is the capital of Switzerland.", "Bern")
TOWN = Document("d", "They swam in the Aare at Bern.")


def risk(document, entity, *entity_ids):
    at = document.content.index(entity)
    return Risk(document.id, entity, (Span(at, at + len(entity)),), entity_ids, 0.1, State.MEASURED)


def pair(document, entity, passage, *, linked=True, similarity=None):
    return Pair(document, risk(document, entity), Passage(passage, linked), similarity)
