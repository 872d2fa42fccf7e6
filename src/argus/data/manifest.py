"""What a job says of itself in manifest.json, and what of that is read back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import Environment, InputFile
from argus.data.records import read_record
from argus.engine.protocol import EngineRecord
from argus.errors import InputError

MANIFEST = "manifest.json"


class PrecisionTrial(TypedDict):
    """How one number format did against float32 on a sample of texts."""

    precision: str
    speedup: float
    min_cosine: float | None
    """None where the format was dropped for its speed alone."""
    accepted: bool


class StoredVectorsFacts(TypedDict):
    """The vectors of a store that were taken as they are, and how an encoder agrees with them.

    store: name or address of the store.
    vector_field: field of the vectors.
    metric: metric that the store ranks by.
    ranking: similarity that they are compared by here.
    index: kind of index that the store has.
    records: records that the store said that it holds, or as many as were wanted.
    read: records that were read.
    shortest: least length of a whole vector; None without any.
    longest: greatest length of a whole vector; None without any.
    least: least cosine to the encoder's vectors.
    sha256: SHA-256 of ids, texts and vectors.
    """

    store: str
    vector_field: str
    metric: str
    ranking: str
    index: str
    records: int
    read: int
    broken: dict[str, int]
    """Records without a vector to be found by, by reason."""
    shortest: float | None
    longest: float | None
    template: str
    """How title and text were joined."""
    agreement: float
    """Median cosine to the encoder's vectors."""
    least: float
    compared: int
    """Texts that were embedded for it."""
    sha256: str


class EncoderFacts(TypedDict, total=False):
    """Whose vectors, or whose output, a job measured."""

    what: str
    """What stands in place of an encoder, such as "index"."""
    fingerprint: str
    precision_trials: list[PrecisionTrial]
    store: str
    """Folder of the vectors; relative where it lies in the folder of results."""
    dim: int
    stored: StoredVectorsFacts
    """Where documents came with vectors of a store."""


class RanOn(TypedDict, total=False):
    """The engine, where there was one, as `Engine.describe` says it."""

    engine: EngineRecord


class ManifestSection(RanOn):
    """A job's section of manifest.json; times are ISO 8601 in UTC."""

    argus: str
    """Version."""
    started: str
    finished: str
    config: dict[str, object]
    """What it was set to, by name: every job has its own."""
    inputs: dict[str, InputFile]
    encoder: EncoderFacts
    counts: Mapping[str, object]
    """How many of what; every job has its own."""
    timings_s: dict[str, float]
    """By step."""
    peak_memory_bytes: int
    environment: Environment


class CorpusFile(TypedDict):
    """A corpus, as far as two are compared."""

    file: str
    sha256: str


class ReadInputs(TypedDict):
    """The corpus that a job read, if it read one."""

    corpus: NotRequired[CorpusFile]


class Limit(TypedDict):
    """How many documents of the corpus a job took; None is all."""

    limit: NotRequired[int | None]


class JobOfCorpus(TypedDict):
    """What of a job's section says of which corpus its results are."""

    inputs: ReadInputs
    config: Limit


def corpora_in(folder: Path) -> dict[str, tuple[CorpusFile, Limit]]:
    """Return, for each job in a folder that read a corpus file, that file and the limit.

    A section that is no job's, of another program perhaps, tells of no corpus.
    """
    corpora: dict[str, tuple[CorpusFile, Limit]] = {}
    for job, section in ArtifactFolder(folder).read_json(MANIFEST).items():
        with suppress(InputError):
            read = read_record(JobOfCorpus, section, where=folder / MANIFEST, section=job)
            if corpus := read["inputs"].get("corpus"):
                corpora[job] = corpus, read["config"]
    return corpora
