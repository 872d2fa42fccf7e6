"""The fields of a blend's records in a store, beside those of the record that they came from."""

from __future__ import annotations

REMEDY = "argus_remedy"
PARENT = "argus_parent"
"""Id of the record in the user's own collection."""
KIND = "argus_kind"
DOCUMENT, SENTENCE = "document", "sentence"
SCALE = "argus_scale"
PENALTY = "argus_penalty"
"""A record scores `cosine · scale - penalty`, a document as its best record."""
ENCODER = "argus_encoder"
FIELDS = frozenset((REMEDY, PARENT, KIND, ENCODER, SCALE, PENALTY))
