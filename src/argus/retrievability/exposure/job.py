"""Exposure: what a retriever cannot bring back of a corpus, with no graph and no questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.types import Document, FloatArray, IntArray, Query, State
from argus.encoders import DEFAULT_MODEL, Embedded, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.engine import Engine, EngineConfig
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.on_engine import require_shared
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some, texts_cut
from argus.measures import wilson
from argus.reports import write_report
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.probes import (
    QUERY,
    SENTENCE,
    TITLE,
    Exposure,
    Probes,
    displaced_by,
    success,
    summarise_probes,
)
from argus.retrievability.exposure.search import Asked, search_in_parts
from argus.retrievability.sentences import hold_out

HUBS = 50


@dataclass(frozen=True)
class ExposureResult:
    """What the probes found; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per document."""
    misses: pa.Table
    """One row per probe that did not bring its document back within k."""


def exposure(
    corpus: Path | str | Sequence[Document],
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    config: ExposureConfig | None = None,
    queries: Path | str | Sequence[Query] = (),
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> ExposureResult:
    """Ask for every document by its title and by sentences taken out of it.

    corpus, out, encoder, store, engine: as for `argus.audit`. queries: real queries to add to the
    sample that hubs and never-retrieved documents are counted over. In a sentence probe the
    document is embedded without the sentence; everything else is as in the index.
    """
    config = config or ExposureConfig()
    given, path = read_documents(corpus, fields or FieldNames(), limit)
    given = sorted(given, key=lambda d: d.id)
    extra = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    require_some(
        sum(bool(d.content.strip()) for d in given), "document has text", "Check --text-field."
    )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "exposure",
        {**asdict(config), "queries": len(extra), "limit": limit},
        {"corpus": path},
    )
    sample = [d.content for d in given if d.content.strip()]
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=sample, store=store, engine=running
        ) as (model, opened),
    ):  # fmt: skip
        require_shared(running, opened.path, len(sample), model.dim)
        with record.timed("embedding documents"):
            index = _embed_documents(given, model, opened)
            cut = texts_cut(model, [d.content for d in index.documents])
        with record.timed("embedding probes"):
            searches = _embed_probes(index, extra, config, model, opened)
        with record.timed("searching"):
            asked = Asked(searches.vectors, searches.target, searches.stand_in)
            rows, parts = search_in_parts(index.vectors, asked, config.k, folder, running)
            probes = Probes(searches.kind, searches.target, searches.text, rows.rank, rows.top)
            found = summarise_probes(probes, len(index.documents), k=config.k)
    with record.timed("writing"):
        table = _table(given, index, searches, found)
        misses = _misses(index, probes, config.k)
        summary = _summary(given, index, searches, probes, found, table, config) | {
            "text_window": cut
        }
        folder.write_table("exposure", table, csv=True)
        folder.write_table("misses", misses, csv=True)
        folder.write_section("summary.json", "exposure", summary)
        folder.write_section("manifest.json", "exposure", record.manifest(summary["documents"]))
        parts.remove()
    return ExposureResult(folder.path, write_report(folder.path), summary, table, misses)


@dataclass(frozen=True)
class _Index:
    """The documents that could be embedded, ordered by id, with their vectors."""

    documents: list[Document]
    vectors: FloatArray
    failures: dict[str, str]
    """Document id to why it has no vector."""


@dataclass(frozen=True)
class _Searches:
    """Embedded probes. Arrays have shape (n_probes, ...)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    text: list[str]
    vectors: FloatArray
    stand_in: FloatArray
    """The target's vector as this probe sees it: the document, or what is left of it."""
    without_sentence: dict[int, str]
    failed: int


def _embed_documents(given: Sequence[Document], model: Encoder, store: EmbeddingStore) -> _Index:
    usable = [d for d in given if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    failures |= {d.id: "no text" for d in given if not d.content.strip()}
    kept = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    return _Index(kept, embedded.vectors, failures)


def _embed_probes(
    index: _Index,
    extra: Sequence[Query],
    config: ExposureConfig,
    model: Encoder,
    store: EmbeddingStore,
) -> _Searches:
    titled = [i for i, d in enumerate(index.documents) if d.title.strip()]
    held, without = hold_out(index.documents, per_document=config.sentences, seed=config.seed)
    texts = [index.documents[i].title for i in titled]
    texts += [h.sentence for h in held] + [q.text for q in extra]
    kind = np.array([TITLE] * len(titled) + [SENTENCE] * len(held) + [QUERY] * len(extra))
    target = np.array(titled + [h.position for h in held] + [-1] * len(extra), np.int64)
    asked = embed(as_queries(texts), model, store, what="titles and sentences")
    rests = embed(
        as_documents([h.rest for h in held]), model, store, what="documents less a sentence"
    )
    usable = asked.ok & _stand_in_exists(kind, rests)
    return _Searches(
        kind=kind[usable],
        target=target[usable],
        text=[text for text, ok in zip(texts, usable, strict=True) if ok],
        vectors=_full(asked)[usable],
        stand_in=_stand_ins(index, kind, target, rests)[usable],
        without_sentence=without,
        failed=int((~usable).sum()),
    )


def _full(embedded: Embedded) -> FloatArray:
    """Return one row per item; rows of failed items are zero and must not be used."""
    out = np.zeros((len(embedded.ok), embedded.vectors.shape[1]), np.float32)
    out[embedded.ok] = embedded.vectors
    return out


def _stand_in_exists(kind: npt.NDArray[np.str_], rests: Embedded) -> npt.NDArray[np.bool_]:
    exists = np.ones(len(kind), bool)
    exists[kind == SENTENCE] = rests.ok
    return exists


def _stand_ins(
    index: _Index, kind: npt.NDArray[np.str_], target: IntArray, rests: Embedded
) -> FloatArray:
    vectors = index.vectors[np.maximum(target, 0)]
    vectors[kind == SENTENCE] = _full(rests)
    return vectors


def _table(
    given: Sequence[Document], index: _Index, searches: _Searches, found: Exposure
) -> pa.Table:
    row = {d.id: i for i, d in enumerate(index.documents)}
    records = []
    for document in given:
        i = row.get(document.id)
        record: dict[str, Any] = {"id": document.id, "label": document.title}
        if i is None:
            why = index.failures[document.id]
            state = State.NOT_APPLICABLE if why == "no text" else State.FAILED
            records.append(record | {"state": str(state), "reason": why})
            continue
        measured = found.own_probes[i] > 0
        sentence = found.sentence_rank[i]
        reasons = [] if found.title_rank[i] else ["no title"]
        if np.isnan(sentence):
            reasons.append(searches.without_sentence.get(i, "no sentence probe"))
        records.append(
            record
            | {
                "title_rank": int(found.title_rank[i]) or None,
                "sentence_rank": None if np.isnan(sentence) else float(sentence),
                "own_probes": int(found.own_probes[i]),
                "retrieved_by_own": int(found.retrieved_by_own[i]),
                "retrieved_by_others": int(found.retrieved_by_others[i]),
                "never_retrieved": bool(found.never[i]),
                "state": str(State.MEASURED if measured else State.NOT_APPLICABLE),
                "reason": "; ".join(reasons),
            }
        )
    return pa.Table.from_pylist(records, schema=_SCHEMA)


_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("title_rank", pa.int64()),
        ("sentence_rank", pa.float64()),
        ("own_probes", pa.int64()),
        ("retrieved_by_own", pa.int64()),
        ("retrieved_by_others", pa.int64()),
        ("never_retrieved", pa.bool_()),
        ("state", pa.string()),
        ("reason", pa.string()),
    ]
)


def _misses(index: _Index, probes: Probes, k: int) -> pa.Table:
    missed = np.flatnonzero((probes.target >= 0) & (probes.rank > k))
    missed = missed[np.argsort(-probes.rank[missed], kind="stable")]
    return pa.table(
        {
            "id": [index.documents[probes.target[i]].id for i in missed],
            "label": [_name(index.documents[probes.target[i]]) for i in missed],
            "probe": probes.kind[missed].tolist(),
            "query": [probes.text[int(i)] for i in missed],
            "rank": probes.rank[missed],
            "displaced_by": [
                "; ".join(_name(index.documents[int(j)]) for j in displaced_by(probes, int(i)))
                for i in missed
            ],
        }
    )


def _summary(
    given: Sequence[Document],
    index: _Index,
    searches: _Searches,
    probes: Probes,
    found: Exposure,
    table: pa.Table,
    config: ExposureConfig,
) -> dict[str, Any]:
    hubs = np.argsort(-found.retrieved_by_others, kind="stable")[:HUBS].tolist()
    n_lists = len(probes.text)
    states = Counter(table["state"].to_pylist())
    return {
        "k": config.k,
        "documents": {
            "total": len(given),
            **{str(s): states.get(str(s), 0) for s in State},
            "reasons": dict(
                Counter(
                    row["reason"]
                    for row in table.select(["state", "reason"]).to_pylist()
                    if row["state"] != str(State.MEASURED)
                )
            ),
        },
        "queries": n_lists,
        "probes_failed": searches.failed,
        "title": _with_interval(success(probes, TITLE, k=config.k)),
        "sentence": _with_interval(success(probes, SENTENCE, k=config.k)),
        "never_retrieved": int(found.never.sum()),
        "never_retrieved_by_others": int((found.retrieved_by_others == 0).sum()),
        "concentration": found.concentration(),
        "expected_by_chance": round(
            n_lists * min(config.k, len(index.documents)) / len(index.documents), 1
        ),
        "hubs": [
            {
                "id": index.documents[i].id,
                "label": _name(index.documents[i]),
                "lists": int(found.retrieved_by_others[i]),
                "share": round(float(found.retrieved_by_others[i]) / n_lists, 5),
            }
            for i in hubs
            if found.retrieved_by_others[i] > 0
        ],
    }


def _with_interval(result: dict[str, Any]) -> dict[str, Any]:
    if not result["probes"]:
        return result
    low, high = wilson(result["success_at_k"], result["probes"])
    return result | {"low": float(low), "high": float(high)}


def _name(document: Document) -> str:
    return document.title or document.id
