"""What a job says of itself in manifest.json, and what of that is read back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NotRequired, TypeVar

from typing_extensions import TypedDict

from argus.commands import Invocation
from argus.data.artifacts import MANIFEST as MANIFEST
from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.parts import file_hash_now, parts_of, section_hash
from argus.data.provenance import Environment, InputFile, describe_inputs
from argus.data.records import read_record
from argus.engine.protocol import EngineRecord
from argus.errors import InputError

T = TypeVar("T")


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


class ManifestSection(TypedDict):
    """A job's section of manifest.json; times are ISO 8601 in UTC."""

    argus: str
    """Version."""
    started: str
    finished: str
    config: dict[str, object]
    """What it was set to, by name: every job has its own."""
    inputs: dict[str, InputFile]
    encoder: EncoderFacts
    engine: NotRequired[EngineRecord]
    """Where there was one, as `Engine.describe` says it."""
    counts: Mapping[str, object]
    """How many of what; every job has its own."""
    invocation: NotRequired[Invocation]
    """How it was started."""
    parts: NotRequired[Mapping[str, str]]
    """SHA-256 of the summary and of each table that the job wrote, by name of the file."""
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


def read_section(kind: type[T], folder: Path, job: str, *, of: str = SUMMARY) -> T | None:
    """Return a job's section of a JSON file in a folder, as a record; None where it has none.

    of: the file, summary.json or manifest.json. Raises InputError for a damaged one.
    """
    section = ArtifactFolder(folder).read_json(of).get(job)
    return None if section is None else read_record(kind, section, where=folder / of, section=job)


def torn_jobs(folder: Path) -> dict[str, Path]:
    """Return the jobs a file of which is not of the run that their section tells of, with the file.

    A run that was stopped while it wrote leaves some of its files beside those of the run before.
    What an earlier version wrote is not told.
    """
    files = ArtifactFolder(folder)
    summary = files.read_json(SUMMARY)
    torn: dict[str, Path] = {}
    for job, section in files.read_json(MANIFEST).items():
        for name, digest in parts_of(section).items():
            path = folder / Path(name).name
            if name == SUMMARY:
                same = section_hash(summary.get(job)) == digest
            else:
                same = not path.is_file() or file_hash_now(path) == digest
            if not same:
                torn.setdefault(job, path)
    return torn


def is_current(folder: Path, job: str) -> bool:
    """Return whether a folder has what a job that ended made of its inputs as they are now.

    Inputs that are no files, such as a store's, are not looked at again: the answer is False.
    """
    section = read_section(ManifestSection, folder, job, of=MANIFEST)
    if section is None or job in torn_jobs(folder):
        return False
    read = section["inputs"]
    return describe_inputs(**{name: Path(of["file"]) for name, of in read.items()}) == read


def check_one_run(folder: Path, *jobs: str) -> None:
    """Raise InputError where one of these jobs is torn (`torn_jobs`); any, where none is named."""
    for job, path in torn_jobs(folder).items():
        if not jobs or job in jobs:
            raise InputError(
                f"is not of the run of {job} that {MANIFEST} tells of",
                expected="the results of one run",
                fix=f"Run {job} again with the same --out: a run was stopped while it wrote, or "
                "files of two runs were put together.",
                where=path,
            )
