"""Provide the parts that all jobs share: output folder, encoder, vector cache, manifest, resuming.

`Record` notes inputs, settings and times of a job for manifest.json. `open_encoder` opens the
encoder with the cache of its vectors. `read_documents` reads a corpus, and `check_folder` refuses
to delete inputs. `Parts` keeps finished parts of a long computation, so that a killed job resumes.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from typing_extensions import TypedDict

from argus.corpora import Corpus
from argus.corpora.opening import CorpusSource, Origin, open_corpus
from argus.corpora.stored import StoredCorpus
from argus.data.fields import FieldNames
from argus.data.folders import SUMMARY, ArtifactFolder, ManifestSection, corpora_in
from argus.data.provenance import describe_environment, describe_inputs, peak_memory_bytes, utc_now
from argus.data.reading import read_arrays
from argus.data.types import Document
from argus.data.writing import check_plain, replacing
from argus.encoders import (
    EmbeddingStore,
    Encoder,
    EncoderConfig,
    Rows,
    Store,
    TokenCounter,
    as_config,
    load_any_encoder,
    load_encoder,
    open_store,
    require_vectors,
)
from argus.encoders.embed import documents as as_documents
from argus.encoders.embed import on_engine
from argus.encoders.protocol import family_of
from argus.encoders.store import EMBEDDINGS as EMBEDDINGS
from argus.encoders.store import store_of
from argus.engine import Engine
from argus.errors import InputError, NothingMeasured
from argus.progress import announce
from argus.stores.spec import is_store
from argus.version import __version__

# Stands for an encoder's fingerprint where no encoder was needed.
NO_ENCODER = "no-encoder"


@dataclass
class Record:
    """The notes of a job about itself, for its section of manifest.json."""

    job: str
    config: dict[str, object]
    """Its settings, by name."""
    inputs: Mapping[str, Origin | None]
    encoder: dict[str, Any] = field(default_factory=dict)
    engine: Engine | None = None
    """The engine on which it runs, if any. Results do not depend on it."""
    timings_s: dict[str, float] = field(default_factory=dict)
    started: str = field(default_factory=utc_now)
    _described: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Hash the files that were read, before they can become others."""
        self.describe(*(name for name, of in self.inputs.items() if isinstance(of, Path)))

    def describe(self, *names: str) -> dict[str, dict[str, Any]]:
        """Return size and hash of some inputs, as they were when first asked for."""
        new = {name: self.inputs.get(name) for name in names if name not in self._described}
        self._described |= describe_inputs(**new)
        return {name: self._described[name] for name in names if name in self._described}

    def runs_on(self, engine: Engine | None) -> None:
        """Note the engine, if there is one."""
        self.engine = engine

    def stored(self) -> StoredCorpus | None:
        """Return the store whose vectors the job takes, if there is one."""
        stores = (i for i in self.inputs.values() if isinstance(i, StoredCorpus) and i.read)
        return next(stores, None)

    def of_store(self) -> dict[str, Any]:
        """Return the summary's part about vectors that came with the corpus. It may be empty."""
        return {"stored_vectors": self.encoder["stored"]} if "stored" in self.encoder else {}

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

    def manifest(self, counts: Mapping[str, object]) -> ManifestSection:
        """Return the job's section of manifest.json."""
        section: ManifestSection = {
            "argus": __version__,
            "started": self.started,
            "finished": utc_now(),
            "config": self.config,
            "inputs": self.describe(*self.inputs),
            "encoder": self.encoder,
            "counts": counts,
            "timings_s": self.timings_s,
            "peak_memory_bytes": peak_memory_bytes(),
            "environment": describe_environment(),
        }
        if self.engine is not None:
            section["engine"] = self.engine.describe()
        return section


@contextmanager
def open_encoder(
    folder: ArtifactFolder,
    encoder: Encoder | EncoderConfig | str,
    record: Record,
    *,
    store: Path | None = None,
    check: Callable[[Encoder], object] | None = None,
    engine: Engine | None = None,
) -> Iterator[tuple[Encoder, EmbeddingStore]]:
    """Open the encoder and the store of its vectors, `folder/embeddings` unless `store` is given.

    check: raises when the encoder does not fit its use, and is called before anything is deleted.
    engine: the engine on which `embed` embeds batches. None is this process. The vectors of a
    corpus that is a store are taken as they are. Raises EncoderMismatch when the store holds
    vectors of another encoder.
    """

    def dense(loaded: Encoder[Rows]) -> None:
        require_vectors(loaded)
        if check is not None:
            check(cast(Encoder, loaded))

    with any_encoder(folder, encoder, record, store=store, check=dense, engine=engine) as (
        model,
        opened,
    ):
        yield cast(Encoder, model), cast(EmbeddingStore, opened)


@contextmanager
def any_encoder(
    folder: ArtifactFolder,
    encoder: Encoder[Rows] | EncoderConfig | str,
    record: Record,
    *,
    store: Path | None = None,
    check: Callable[[Encoder[Rows]], object] | None = None,
    engine: Engine | None = None,
) -> Iterator[tuple[Encoder[Rows], Store[Rows]]]:
    """Open an encoder of any family, and the store of its rows. See `open_encoder`."""
    check_folder(folder, record)
    path = store or store_of(folder.path)
    record.runs_on(engine)
    encoder = as_config(encoder)
    config = encoder if isinstance(encoder, EncoderConfig) else None
    with record.timed("loading the encoder"):
        encoder = load_any_encoder(encoder)
    record.encoder["fingerprint"] = encoder.fingerprint
    if check is not None:
        check(encoder)
    folder.open()  # only now: whatever was wrong with the input has deleted nothing
    if store is None:
        folder.own(EMBEDDINGS)
    family = family_of(encoder)
    with open_store(family, path, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        take_stored(record, opened)
        yield on_engine(encoder, engine, config), opened


def take_stored(record: Record, opened: Store[Any]) -> None:
    """Have vectors that came with the corpus taken from there. Note them in the record."""
    if (corpus := record.stored()) is None:
        return
    assert isinstance(opened, EmbeddingStore)  # `corpus_for` has compared them with the encoder's
    keys = [item.key for document in corpus.read for item in as_documents([document.content])]
    opened.lay_over(keys, corpus.vectors, corpus.broken)
    record.encoder["stored"] = corpus.facts


def keep_input(folder: ArtifactFolder, inputs: Iterable[Origin | None]) -> None:
    """Refuse --fresh where it would delete inputs: the folder itself, or files in it.

    inputs: paths that the job reads: corpora, indexes, runs, results of other jobs.
    """
    if not folder.fresh:
        return
    home = folder.path.resolve()
    for source in inputs:
        path = source if isinstance(source, Path | None) else source.place
        if path is not None and path.resolve().is_relative_to(home):
            raise InputError(
                f"--fresh would empty the folder that holds {path}",
                expected="input outside --out",
                fix="Give another --out, or leave out --fresh.",
                where=folder.path,
            )


def check_folder(folder: ArtifactFolder, record: Record, *, about: Iterable[Path] = ()) -> None:
    """Refuse to delete inputs, and to put results of two corpora into one report.

    about: folders whose results the job speaks of (an index, an audit): their corpora are its own,
    too. A job that names no corpus, itself or through them, fits every folder.
    """
    about = list(about)
    keep_input(folder, [*record.inputs.values(), *about])
    if folder.fresh:
        return
    folder.read_json(SUMMARY)
    own = record.describe("corpus").values()
    ours = {corpus["sha256"] for corpus in own}  # of a store it depends on whether vectors are read
    ours |= {corpus["file"] for corpus in own if is_store(corpus["file"])}
    ours |= {sha256 for path in about for _, sha256, _ in corpora_in(path).values()}
    for job, (file, sha256, settings) in corpora_in(folder.path).items():
        limits = [c["limit"] for c in (record.config, settings) if "limit" in c]
        same = not ours.isdisjoint((sha256, file)) and len(set(limits)) < 2
        if job != record.job and ours and not same:
            raise InputError(
                f"holds the {job} of another corpus or --limit ({file})",
                expected="one corpus per folder, since its report shows all jobs together",
                fix="Give another --out, or start over with --fresh.",
                where=folder.path,
            )


def corpus_for(
    corpus: Corpus, encoder: Encoder[Rows] | EncoderConfig | str | None, limit: int | None
) -> CorpusSource:
    """Open a corpus. The vectors of a store are taken where `encoder` made them.

    encoder: None where a job wants nothing but texts. Loaded, it is let go of before the job loads
    it for itself: in float32, where the number format is still to be chosen.
    """
    if encoder is None:
        return open_corpus(corpus, limit=limit)

    def comparing() -> Encoder:
        named = as_config(encoder)
        if not isinstance(named, EncoderConfig):
            require_vectors(named)
            return cast(Encoder, named)
        return load_encoder(named)

    return open_corpus(corpus, limit=limit, asking=comparing)


def read_documents(
    corpus: Corpus,
    fields: FieldNames,
    limit: int | None,
    encoder: Encoder[Rows] | EncoderConfig | str | None,
) -> tuple[list[Document], Origin | None]:
    """Return the documents that `corpus` is or names, and its entry in a manifest.

    encoder: whoever embeds them, see `corpus_for`. None where a job wants nothing but texts.
    """
    source = corpus_for(corpus, encoder, limit)
    return source.documents(fields), source.origin


class TextWindow(TypedDict):
    """The part of the texts beyond the encoder's window, in tokens.

    max_tokens: tokens that the encoder reads of a text.
    texts_cut: texts that are longer.
    tokens_unread: tokens beyond, over all texts.
    tokens: tokens of all texts.
    """

    max_tokens: int
    texts_cut: int
    tokens_unread: int
    tokens: int


def texts_cut(encoder: Encoder[Rows], texts: Sequence[str]) -> TextWindow | None:
    """Count the texts that are longer than the encoder's window. None when it cannot be known."""
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
    """Raise NothingMeasured when there is nothing to measure."""
    if n == 0:
        raise NothingMeasured(what, why)


PARTS = "ranks"


class Parts:
    """Parts of one computation, by number, under the hash of their inputs.

    The engine is not part of that hash: another engine goes on where one stopped. key: the hash,
    behind "KIND-" where parts of two kinds of computations may lie side by side.
    """

    def __init__(self, folder: ArtifactFolder, key: str) -> None:
        self.home = check_plain(folder.own(PARTS) / key)
        self.home.mkdir(parents=True, exist_ok=True)

    def __contains__(self, number: int) -> bool:
        return self._path(number).is_file()

    def read(self, number: int) -> dict[str, np.ndarray]:
        """Return the arrays of a part, by name."""
        return read_arrays(self._path(number), fix="Remove it: it is computed again.")

    def write(self, number: int, arrays: dict[str, np.ndarray]) -> None:
        """Write a part, at once and whole."""
        with replacing(self._path(number)) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def remove(self) -> None:
        """Remove these parts and those of the kind under earlier settings, which a kill left.

        And the folder of all where it holds no others.
        """
        kind, dash, _ = self.home.name.rpartition("-")
        for home in self.home.parent.glob(f"{kind}-*" if dash else self.home.name):
            shutil.rmtree(home, ignore_errors=True)
        with suppress(OSError):
            self.home.parent.rmdir()

    def _path(self, number: int) -> Path:
        return self.home / f"{number:09d}.npz"


def remove_parts(folder: ArtifactFolder) -> None:
    """Remove the parts of this and of earlier settings."""
    shutil.rmtree(folder / PARTS, ignore_errors=True)
