"""What every job shares: an output folder, an encoder, its store, and the record of the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import corpus_file, read_corpus, refuse_fields, refuse_repeated
from argus.data.fields import FieldNames
from argus.data.kb_folder import kb_file
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
from argus.encoders.spread import on_engine
from argus.engine import Engine
from argus.errors import ArgusError, InputError
from argus.knowledge import KnowledgeBase, KnowledgeSource, load_knowledge
from argus.progress import announce
from argus.version import __version__

NO_ENCODER = "no-encoder"
"""In place of an encoder's fingerprint, where none was needed."""


@dataclass
class Record:
    """What a job notes of itself, for its section of manifest.json."""

    job: str
    config: dict[str, Any]
    inputs: dict[str, Path | None]
    encoder: dict[str, Any] = field(default_factory=dict)
    engine: Engine | None = None
    """Where it runs, if on an engine; results do not depend on it."""
    timings_s: dict[str, float] = field(default_factory=dict)
    started: str = field(default_factory=utc_now)

    def runs_on(self, engine: Engine | None) -> None:
        """Note the engine, if there is one."""
        self.engine = engine

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Time a step and announce it on the standard error."""
        announce(f"{self.job}: {step}")
        start = time.perf_counter()
        yield
        self.timings_s[step] = round(time.perf_counter() - start, 2)

    def open(self, folder: ArtifactFolder, *, about: Iterable[Path] = ()) -> None:
        """Check the folder (see `check_folder`) and open it: the first thing that a job writes."""
        check_folder(folder, self, about=about)
        folder.open()

    def manifest(self, counts: Mapping[str, object]) -> dict[str, Any]:
        """Return the job's section of manifest.json."""
        return {
            "argus": __version__,
            "started": self.started,
            "finished": utc_now(),
            "config": self.config,
            "inputs": describe_inputs(**self.inputs),
            "encoder": self.encoder,
            **({} if self.engine is None else {"engine": self.engine.describe()}),
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
    check: Callable[[Encoder], object] | None = None,
    engine: Engine | None = None,
) -> Iterator[tuple[Encoder, EmbeddingStore]]:
    """Open the encoder and the store of its vectors, `folder/embeddings` unless `store` is given.

    sample: texts for the precision check. check: raises when the encoder does not fit what it is to
    be used with; called before anything is deleted. engine: what `embed` has batches embedded on;
    None is this process. Raises FingerprintMismatch when the store holds
    vectors of another encoder.
    """
    check_folder(folder, record)
    path = store or folder / "embeddings"
    kept = None if folder.fresh and store is None else stored_fingerprint(path)
    record.runs_on(engine)
    config: EncoderConfig | None = None
    if isinstance(encoder, str):
        encoder = EncoderConfig(model=encoder)
    if isinstance(encoder, EncoderConfig):
        with record.timed("loading the encoder"):
            loaded = load_encoder(encoder, sample=sample, stored=kept)
        record.encoder["precision_trials"] = loaded.precision_trials
        encoder, config = loaded.encoder, loaded.config
    record.encoder["fingerprint"] = encoder.fingerprint
    if check is not None:
        check(encoder)
    del sample  # perhaps millions of texts, which the caller may be done with before we are
    folder.open()  # only now: whatever was wrong with the input has deleted nothing
    with EmbeddingStore(path, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        yield on_engine(encoder, engine, config), opened


def keep_input(folder: ArtifactFolder, paths: Iterable[Path | None]) -> None:
    """Refuse --fresh where it would delete what is read: the folder itself, or what is in it.

    paths: files and folders that the job reads: corpora, indexes, runs, results of other jobs.
    """
    if not folder.fresh:
        return
    home = folder.path.resolve()
    for path in filter(None, paths):
        if path.resolve().is_relative_to(home):
            raise InputError(
                f"--fresh would empty the folder that holds {path}",
                expected="input outside --out",
                fix="Give another --out, or leave out --fresh.",
                where=folder.path,
            )


def check_folder(folder: ArtifactFolder, record: Record, *, about: Iterable[Path] = ()) -> None:
    """Refuse to delete what is being read, and to put results of two corpora into one report.

    about: folders whose results the job speaks of (an index, an audit): their corpora are its own,
    too. A job that names no corpus, itself or through them, fits every folder.
    """
    about = list(about)
    keep_input(folder, [*record.inputs.values(), *about])
    if folder.fresh:
        return
    folder.read_json("summary.json")
    ours = {c["sha256"] for c in describe_inputs(corpus=record.inputs.get("corpus")).values()}
    ours |= {corpus["sha256"] for path in about for corpus, _ in _corpora(path).values()}
    for job, (corpus, settings) in _corpora(folder.path).items():
        limits = [c["limit"] for c in (record.config, settings) if "limit" in c]
        same = corpus["sha256"] in ours and len(set(limits)) < 2
        if job != record.job and ours and not same:
            raise InputError(
                f"holds the {job} of another corpus or --limit ({corpus['file']})",
                expected="one corpus per folder, since its report shows all jobs together",
                fix="Give another --out, or start over with --fresh.",
                where=folder.path,
            )


def _corpora(folder: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return, for each job in a folder that read a corpus file, that file and the settings."""
    found = {}
    for job, section in ArtifactFolder(folder).read_json("manifest.json").items():
        corpus = section["inputs"].get("corpus") if _is_section(section) else None
        if isinstance(corpus, dict) and {"sha256", "file"} <= corpus.keys():
            found[job] = corpus, section["config"]
    return found


def _is_section(section: Any) -> bool:
    parts = ("inputs", "config")
    return isinstance(section, dict) and all(isinstance(section.get(p), dict) for p in parts)


def read_documents(
    corpus: Path | str | Sequence[Document], fields: FieldNames, limit: int | None
) -> tuple[list[Document], Path | None]:
    """Return the documents that `corpus` is or names, and the path it was read from."""
    if isinstance(corpus, (str, Path)):
        return read_corpus(Path(corpus), fields, limit=limit), corpus_file(Path(corpus))
    documents = list(corpus)[:limit]
    refuse_repeated(documents)
    for document in documents:
        _refuse_half_characters(document)
    return documents, None


def read_knowledge(
    corpus: Path | str | Sequence[Document], source: KnowledgeSource, limit: int | None
) -> tuple[KnowledgeBase, Path | str, Path | None]:
    """Return entities and relations, where the relations came from, and the file of the corpus.

    A corpus that is a knowledge base on disk is not made into documents. limit: of documents, or of
    `source.entities` where these are given; relations that lead out of it are dropped.
    """
    if limit is not None:
        source = replace(source, skip_unknown=True)
    path: Path | None
    documents: list[Document] | None = None
    if isinstance(corpus, (str, Path)) and kb_file(source.entities or corpus):
        path = corpus_file(Path(corpus))
        refuse_fields(source.fields, path)
    else:
        documents, path = read_documents(corpus, source.fields, limit)
    base, relations = load_knowledge(documents, source, corpus=path, limit=limit)
    if limit is not None and source.entities:
        base = base.first(limit)
    return base, relations, path


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


class TextWindow(TypedDict):
    """How much of the texts is longer than the encoder's window, in tokens."""

    max_tokens: int
    texts_cut: int
    tokens_unread: int
    tokens: int


def texts_cut(encoder: Encoder, texts: Sequence[str]) -> TextWindow | None:
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
