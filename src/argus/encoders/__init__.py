"""Text to vectors: encoders behind one protocol, and the store that keeps what they made."""

from argus.encoders.embed import Embedded, Item, Role, documents, embed, queries
from argus.encoders.load import (
    DEFAULT_MODEL,
    EncoderConfig,
    LoadedEncoder,
    load_encoder,
)
from argus.encoders.protocol import Encoder, TokenCounter
from argus.encoders.store import EmbeddingStore, stored_fingerprint

__all__ = [
    "DEFAULT_MODEL",
    "Embedded",
    "EmbeddingStore",
    "Encoder",
    "EncoderConfig",
    "Item",
    "LoadedEncoder",
    "Role",
    "TokenCounter",
    "documents",
    "embed",
    "load_encoder",
    "queries",
    "stored_fingerprint",
]
