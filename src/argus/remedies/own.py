"""Apply a remedy that a user wrote: a Python function that gives documents further texts to index.

    def remedy(documents):  # each with id, title and text
        return {document.id: [document.title] for document in documents}

`argus tune try` and `research suite` run it. Each text becomes a view of its document, which then
also comes back where that text is near.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import View
from argus.data.writing import one_writer
from argus.encoders import Encoder
from argus.encoders.store import EmbeddingStore, store_of
from argus.errors import ArgusError
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.python_file import call_own, load_own
from argus.remedies.repair import add_views

KIND = "own"
EXPECTED = "a function of documents that returns their further texts: {id: [text, ...]}"


@one_writer
def add_own(index: Path | str, spec: str, *, encoder: Encoder | str | None = None) -> str:
    """Add the texts of a user's remedy to an index as views. Return the remedy's id.

    spec: `FILE.py:NAME`. The id is a hash of the code and of the documents: the same remedy is
    never added twice. `argus.rollback` takes it out again. Raises InputError for a file without
    such a function, ArgusError where it fails, NothingToMend where no text is new.
    """
    name, remedy_of = load_own(spec, callable, EXPECTED)
    opened = ViewIndex.open(index_folder(index))
    documents = originals(opened)
    made = call_own(spec, remedy_of, list(documents))
    if not isinstance(made, Mapping):
        raise ArgusError(f"{spec} returned {type(made).__name__}; expected {EXPECTED}.")
    if unknown := sorted(map(str, made.keys() - {document.id for document in documents})):
        raise ArgusError(f"{spec} gave texts to {unknown[0]!r}; expected ids of the documents.")
    texts: dict[str, list[str]] = {}
    for id_, own in made.items():
        own = [own] if isinstance(own, str) else list(own)
        if wrong := next((type(one) for one in own if not isinstance(one, str)), None):
            raise ArgusError(f"{spec} gave {id_!r} a {wrong.__name__}; expected texts.")
        texts[id_] = [text for text in dict.fromkeys(own) if text.strip()]
    parts = (part for id_, own in texts.items() for part in (id_, *own))
    remedy = f"{KIND}-{content_hash(name, *parts, size=4).hex()}"
    views = [
        View(f"{id_}#{remedy}#{n}", id_, KIND, text, name)
        for id_, own in texts.items()
        for n, text in enumerate(own, 1)
    ]
    model = encoder_of(opened, encoder)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    home.open()
    vectors = store_of(opened.path)
    with EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as cache:
        add_views(opened, model, cache, home, views, {"file": name})
    return remedy
