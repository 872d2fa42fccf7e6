"""What every job shares: an output folder, an encoder, its store, and the record of the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus import __version__
from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import FieldNames, corpus_file, read_corpus
from argus.data.provenance import (
    describe_environment,
    describe_inputs,
    peak_memory_bytes,
    utc_now,
)
from argus.data.types import Document
from argus.encoders import (
    EmbeddingStore,
    Encoder,
    EncoderConfig,
    TokenCounter,
    load_encoder,
    stored_fingerprint,
)
from argus.errors import ArgusError


@dataclass
class Record:
    """What a job notes of itself, for its section of manifest.json."""

    job: str
    config: dict[str, Any]
    inputs: dict[str, Path | None]
    encoder: dict[str, Any] = field(default_factory=dict)
    timings_s: dict[str, float] = field(default_factory=dict)
    started: str = field(default_factory=utc_now)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Time a step and announce it on the standard error."""
        print(f"{self.job}: {step} ...", file=sys.stderr, flush=True)
        start = time.perf_counter()
        yield
        self.timings_s[step] = round(time.perf_counter() - start, 2)

    def manifest(self, counts: dict[str, Any]) -> dict[str, Any]:
        """Return the job's section of manifest.json."""
        return {
            "argus": __version__,
            "started": self.started,
            "finished": utc_now(),
            "config": self.config,
            "inputs": describe_inputs(**self.inputs),
            "encoder": self.encoder,
            "counts": counts,
            "timings_s": self.timings_s,
            "peak_memory_bytes": peak_memory_bytes(),
            "environment": describe_environment(),
        }


@contextmanager
def open_encoder(
    folder: ArtifactFolder,
    encoder: Encoder | EncoderConfig | str,
    record: Record,
    *,
    sample: Sequence[str],
    store: Path | None = None,
) -> Iterator[tuple[Encoder, EmbeddingStore]]:
    """Open the encoder and the store of its vectors, `folder/embeddings` unless `store` is given.

    sample: texts for the precision check. Raises FingerprintMismatch when the store holds
    vectors of another encoder.
    """
    path = store or folder / "embeddings"
    kept = None if folder.fresh and store is None else stored_fingerprint(path)
    if isinstance(encoder, str):
        encoder = EncoderConfig(model=encoder)
    if isinstance(encoder, EncoderConfig):
        with record.timed("loading the encoder"):
            loaded = load_encoder(encoder, sample=sample, stored=kept)
        encoder, record.encoder["precision_trials"] = loaded.encoder, loaded.precision_trials
    record.encoder["fingerprint"] = encoder.fingerprint
    folder.open()  # only now: whatever was wrong with the input has deleted nothing
    with EmbeddingStore(path, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        yield encoder, opened


def read_documents(
    corpus: Path | str | Sequence[Document], fields: FieldNames, limit: int | None
) -> tuple[list[Document], Path | None]:
    """Return the documents that `corpus` is or names, and the path it was read from."""
    if isinstance(corpus, (str, Path)):
        return read_corpus(Path(corpus), fields, limit=limit), corpus_file(Path(corpus))
    return list(corpus)[:limit], None


def texts_cut(encoder: Encoder, texts: Sequence[str]) -> dict[str, int] | None:
    """Count the texts that are longer than the encoder's window; None when it cannot be known."""
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None or not texts:
        return None
    counts = encoder.count_tokens(texts)
    limit = encoder.max_tokens
    return {
        "max_tokens": limit,
        "texts_cut": int((counts > limit).sum()),
        "tokens_unread": int((counts - limit).clip(min=0).sum()),
        "tokens": int(counts.sum()),
    }


def require_some(n: int, what: str, why: str) -> None:
    """Raise ArgusError when there is nothing to measure."""
    if n == 0:
        raise ArgusError(f"Nothing can be measured: no {what}. {why}")
