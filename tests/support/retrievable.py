"""What people ask: an index and a Qdrant collection of a few documents, both of one encoder."""

from collections.abc import Sequence
from pathlib import Path

from argus.data.types import Document
from argus.encoders import Encoder
from argus.indexes.job import build_index
from tests.support.payloads import write_payloads
from tests.support.word_encoder import WordEncoder

DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water", "Tea"),
    Document("coffee", "Coffee is made of roasted beans and hot water", "Coffee"),
    Document("ska", "Ska came from Jamaica before reggae", "Ska"),
    Document("rain", "Rain falls on most days of the week", "Rain"),
]


def word_index(folder: Path, documents: Sequence[Document] = DOCUMENTS) -> Path:
    """Return the folder of an index that names no encoder: its own is no model that is loaded."""
    build_index(list(documents), out=folder, encoder=WordEncoder())
    return folder


def word_store(
    folder: Path, documents: Sequence[Document] = DOCUMENTS, encoder: Encoder | None = None
) -> str:
    """Return the name of a Qdrant collection: ids are numbers, a document's is in its payload."""
    encoder = encoder or WordEncoder()
    vectors = encoder.encode_documents([d.content for d in documents])
    rows = [{"doc_id": d.id, "text": d.text, "year": 2000 + i} for i, d in enumerate(documents)]
    return write_payloads(folder, rows, vectors)
