"""Index further texts of documents: summaries of a language model, or what code of the user gives.

    def remedy(documents):  # each with id, title and text
        return {document.id: [document.title] for document in documents}

`add_texts`: a file of ids and texts, or such a function -> a view per text. A document then scores
`λ·s + (1 - λ)·max(s, best text)` with λ = 0.5, and its texts count in BM25. By the maximum alone,
texts harm elsewhere as often as they help (docs/results/blend.md). `argus tune try` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.rows import id_value, pick_field, read_rows
from argus.data.types import Document, View
from argus.data.writing import one_writer
from argus.encoders import Encoder
from argus.encoders.store import EmbeddingStore, store_of
from argus.errors import ArgusError
from argus.indexes.blend import REMEDIES, TEXT, Blend
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.python_file import call_own, is_own, load_own
from argus.remedies.repair import add_views

KIND = "texts"
EXPECTED = "a function of documents that returns their further texts: {id: [text, ...]}"
BLEND = Blend(weight=0.5)
IDS = ("_id", "id", "doc_id", "document_id")


@one_writer
def add_texts(
    index: Path | str,
    source: str,
    *,
    blend: Blend | None = None,
    encoder: Encoder | str | None = None,
) -> str:
    """Add further texts to an index as views, and search by them. Return the remedy's id.

    source: `FILE.py:NAME`, or a file of rows (JSONL, CSV, Parquet) with an id and one field of
    text. blend: weights of the search from then on; None keeps those of the index, else `BLEND`.
    The same texts are never added twice. `argus.rollback` takes them out again. Raises InputError
    for a file without such texts, ArgusError where code fails, NothingToMend where no text is new.
    """
    opened = ViewIndex.open(index_folder(index))
    documents = originals(opened)
    name, texts = texts_of(source, documents)
    recipe = opened.recipe()
    blend = blend or recipe.blend or BLEND
    blend = blend if blend.sentences else replace(blend, weight=BLEND.weight)
    parts = (part for id_, own in texts.items() for part in (id_, *own))
    remedy = f"{KIND}-{content_hash(name, repr(blend), *parts, size=4).hex()}"
    views = [
        View(f"{id_}#{remedy}#{n}", id_, TEXT, text, name)
        for id_, own in texts.items()
        for n, text in enumerate(own, 1)
    ]
    model = encoder_of(opened, encoder)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    home.open()
    vectors = store_of(opened.path)
    with EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as cache:
        add_views(opened, model, cache, home, views, {"file": name})
    opened.prescribe(remedy, blend=blend, relied_on=recipe.sentences_of)
    return remedy


def texts_of(source: str, documents: list[Document]) -> tuple[str, dict[str, list[str]]]:
    """Return a name that says what the texts are made of, and those of each document.

    Errors are as for `add_texts`.
    """
    if is_own(source):
        name, remedy_of = load_own(source, callable, EXPECTED)
        made = call_own(source, remedy_of, documents)
        if not isinstance(made, Mapping):
            raise ArgusError(f"{source} returned {type(made).__name__}; expected {EXPECTED}.")
    else:
        name, made = Path(source).name, _read_texts(Path(source))
    if unknown := sorted(map(str, made.keys() - {document.id for document in documents})):
        raise ArgusError(f"{source} gave texts to {unknown[0]!r}; expected ids of the documents.")
    texts: dict[str, list[str]] = {}
    for id_, own in made.items():
        own = [own] if isinstance(own, str) else list(own)
        if wrong := next((type(one) for one in own if not isinstance(one, str)), None):
            raise ArgusError(f"{source} gave {id_!r} a {wrong.__name__}; expected texts.")
        texts[id_] = [text for text in dict.fromkeys(own) if text.strip()]
    return name, texts


def _read_texts(path: Path) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for row in read_rows(path):
        own = pick_field(row, IDS, what="id")
        found = [name for name in row.values if name not in IDS and row.values[name] is not None]
        if "text" in found or len(found) != 1:
            found = [pick_field(row, ["text"], what="text")]
        value: Any = row.values[found[0]]
        texts.setdefault(id_value(row, own), []).extend(
            [value] if isinstance(value, str) else value
        )
    return texts
