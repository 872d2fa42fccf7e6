"""What every job shares: an output folder, an encoder, its store, and the record of the run."""

from __future__ import annotations

import time
from collections import Counter
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
from argus.errors import ArgusError, InputError
from argus.progress import announce


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
        announce(f"{self.job}: {step}")
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
    _check_folder(folder, record)
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


def _check_folder(folder: ArtifactFolder, record: Record) -> None:
    """Refuse to put results of two corpora into one report, or to delete what is being read."""
    for path in filter(None, record.inputs.values()):
        if folder.fresh and folder.path.resolve() in path.resolve().parents:
            raise InputError(
                f"--fresh would empty the folder that holds {path}",
                expected="input outside --out",
                fix="Give another --out.",
                where=folder.path,
            )
    if folder.fresh:
        return
    folder.read_json("summary.json")
    ours = describe_inputs(corpus=record.inputs.get("corpus")).get("corpus")
    for job, section in folder.read_json("manifest.json").items():
        theirs = section.get("inputs", {}).get("corpus")
        same = not (ours and theirs) or (
            ours["sha256"] == theirs["sha256"]
            and record.config.get("limit") == section["config"].get("limit")
        )
        if job != record.job and not same:
            raise InputError(
                f"holds the {job} of another corpus or --limit ({theirs['file']})",
                expected="one corpus per folder, since its report shows all jobs together",
                fix="Give another --out, or start over with --fresh.",
                where=folder.path,
            )


def read_documents(
    corpus: Path | str | Sequence[Document], fields: FieldNames, limit: int | None
) -> tuple[list[Document], Path | None]:
    """Return the documents that `corpus` is or names, and the path it was read from."""
    if isinstance(corpus, (str, Path)):
        return read_corpus(Path(corpus), fields, limit=limit), corpus_file(Path(corpus))
    documents = list(corpus)[:limit]
    twice = next((id_ for id_, n in Counter(d.id for d in documents).items() if n > 1), None)
    if twice is not None:
        raise InputError(
            f"two documents have the id {twice!r}",
            expected="one document per id",
            fix="Remove or rename one of the two.",
            where="corpus",
        )
    for document in documents:
        _refuse_half_characters(document)
    return documents, None


def _refuse_half_characters(document: Document) -> None:
    """Raise InputError, as reading a file does: tokenizers and Parquet take whole characters."""
    for name, text in (("id", document.id), ("title", document.title), ("text", document.text)):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"half a surrogate pair (\\u{ord(text[error.start]):04x}), character "
                f"{error.start + 1} of the {name} of document {document.id!r}",
                expected="whole Unicode characters",
                fix="The text was cut inside a character: make it again, or remove the half.",
                where="corpus",
            ) from error


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
