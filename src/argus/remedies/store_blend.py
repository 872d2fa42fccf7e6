"""`argus tune apply blend --store`: write sentence vectors of a store's documents beside them.

The records of the blend go into a second collection of the same vector database, through
`argus.remedies.store_writing`. `argus.retrievers.blended` searches them. For an index of Argus's
own the blend is `argus.remedies.blend`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora import StoreCorpus
from argus.corpora.stored import StoredCorpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import View
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig, as_config
from argus.errors import InputError
from argus.indexes.blend import BLEND, SENTENCE, Blend
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.workspace import Record, open_encoder, read_documents
from argus.remedies import store_writing as writing
from argus.remedies.blend_parts import blend_id, make_blend
from argus.remedies.config import SentenceSettings
from argus.stores.protocol import Metric, Store, values_of, writable
from argus.stores.spec import StoreConfig, open_store


@one_writer
def blend_store(
    store: str | Store,
    blend: Blend | None = None,
    *,
    encoder: Encoder | EncoderConfig | str,
    sentences: SentenceSettings | None = None,
    into: str | None = None,
    opening: StoreConfig | None = None,
    fields: FieldNames | None = None,
    out: Path | str = "argus-out",
    fresh: bool = False,
) -> writing.WrittenResult:
    """Write a blend of a store's documents beside them, and search for its records.

    store: `KIND:PLACE/COLLECTION`, or an opened one. Its records stay as they are. encoder: the one
    that made its vectors. into: the collection of the new records. None makes NAME_argus. fields:
    fields of texts and titles. Its id names the field by which results are called, and records keep
    their own ids. out: folder for the receipt and for the vectors of the sentences. OUT/REMEDY has
    the reach of the records. A run that was stopped goes on when it is called again. Raises
    InputError for bad input, and for vectors of another encoder. Raises ArgusError if the store
    cannot be written.
    """
    blend, settings = blend or Blend(), sentences or SentenceSettings()
    folder, fields = ArtifactFolder(Path(out), fresh=fresh), fields or FieldNames()
    with open_store(store, opening) as opened:
        base = writable(opened)
        corpus = StoreCorpus(base, opening or StoreConfig())
        documents, stored = read_documents(corpus, replace(fields, id=None), None, encoder)
        assert isinstance(stored, StoredCorpus)
        if stored.ranking is not Metric.COSINE:
            raise InputError(
                f"vectors that are compared by {stored.ranking}",
                expected="an encoder that ranks by cosine: a blend's weights hold for cosines",
                fix="Embed the documents with such an encoder.", where=base.name,
            )  # fmt: skip
        config = {**asdict(blend), **asdict(settings), "store": base.name, "into": into}
        record = Record(writing.JOB, config, {"corpus": stored})
        with open_encoder(folder, encoder, record) as (model, cache):
            sha256 = record.describe("corpus")["corpus"]["sha256"]
            payloads = writing.parent_payloads(base)
            if fields.id is not None and not any(
                values_of(one, fields.id) for one in payloads.values()
            ):
                got = f"no record holds a field {fields.id!r}"
                expected = "the field by which results are called"
                fix = "Check the name; leave it out where the store's own ids are meant."
                raise InputError(got, expected=expected, fix=fix, where="--id-field")
            # By id: a store may change their order, and a run that goes on must make the same.
            rows = [row for row in range(len(stored.read)) if row not in stored.broken]
            rows.sort(key=lambda row: stored.read[row].id)
            documents, own = [stored.read[row] for row in rows], stored.vectors[rows]
            made_of = (  # equal records share an id. BM25 is no part of them
                blend_id(replace(blend, bm25=0.0), settings, documents),
                model.fingerprint, sha256, stored.template or "",
                json.dumps(payloads, sort_keys=True, default=str),
            )  # fmt: skip
            remedy = f"{BLEND}-{content_hash(*made_of, size=4).hex()}"
            # Before anything is embedded: the store may be read-only.
            target = writing.make_home(base, into)
            with record.timed("embedding sentences"):
                made = make_blend(blend, settings, remedy, documents, model, cache)
        views = [View(document.id, document.id, ORIGINAL, "") for document in documents]
        if made.views:
            own = np.concatenate([own, made.vectors])
        state = Snapshot.of([*views, *made.views], own).blended(blend)
        records = writing.state_records(remedy, state, 1.0, model.fingerprint)
        source: dict[str, Any] = {
            "index": None,
            "remedies": [],
            "settings": asdict(blend),
            "weight": None,
            "left_out": len(stored.broken),
            "sentences": {
                "max_views": settings.max_views,
                "documents": {
                    "total": len(documents),
                    "with_views": len({view.doc_id for view in made.views}),
                    **made.counts,
                },
                "failed": made.failed + len(made.views) - records.kinds.count(SENTENCE),
            },
        }
        given = as_config(encoder)  # the Python argument that names it, or one for an object
        name = f"encoder={given.model!r}" if isinstance(given, EncoderConfig) else "encoder=encoder"
        return writing.deliver(
            base, target, into, records, payloads, source, name,
            folder=folder, record=record, id_field=fields.id, text_field=fields.text,
        )  # fmt: skip
