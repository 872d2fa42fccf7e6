"""`argus doctor`: try machine, packages, model, documents, retriever, questions before a long job.

`check_up`: the parts of a set-up -> a line each (ok, note, bad) with how to mend it, and exit code
2 where something is bad. `argus init` runs the same `Trial` on the parts that a person names.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.cores import available_cores
from argus.corpora import CorpusName, NamedCorpus, StoreCorpus, named
from argus.corpora.opening import open_corpus
from argus.data.documents import read_queries
from argus.data.fields import FieldNames, ParentField, QrelsName, parent_ids
from argus.data.runs import read_judgements
from argus.data.types import Document, Query
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig, as_config
from argus.errors import ArgusError, InputError
from argus.extras import EXTRAS
from argus.jobs.result import Result
from argus.retrievers.config import NAMES, PANEL, AskingConfig
from argus.settings import Doc, Option, Options

if TYPE_CHECKING:
    from argus.encoders import Encoder

# Bytes on disk. PyTorch and its dependencies take about 2.5 GB.
MIN_FREE = 3 << 30
CPU_BUILD = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
MAX_DOCUMENTS, MAX_RECORDS = 10_000, 200
"""Documents of a file, and records of a store, that are read at most."""
PROBES, PROBE_CHARACTERS, K = 3, 80, 10
"""Documents whose first characters are queries for the retriever, and results of each query."""


@dataclass(frozen=True, kw_only=True)
class ProjectParts:
    """The parts of a set-up. A part that is None is not there, and is not tried.

    Attributes:
        corpus: Where the documents are: a file, a folder or a store.
        queries: Questions that are known.
        qrels: Which documents answer them.
    """

    corpus: Annotated[NamedCorpus | None, CorpusName()] = None
    retriever: Annotated[
        str | None, Doc(f"What searches them, where --encoder does not: {NAMES}."),
        Option(panel=PANEL),
    ] = None  # fmt: skip
    queries: Path | None = None
    qrels: Annotated[Path | None, QrelsName()] = None
    parent_field: ParentField = None


class HealthState(StrEnum):
    """Outcome of a check. A note is worth knowing and needs no repair."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


GOOD, NOTE, BAD = HealthState
MARKS = {GOOD: "ok", NOTE: "note", BAD: "BAD"}
Finding = tuple[HealthState, str, str]
"""State, text and mend of a check."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part that was tried. mend: how to mend it, where it is not good."""

    part: str
    state: HealthState
    text: str
    mend: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the check in words, and below it how to mend it."""
        yield f"{MARKS[self.state]:4} {self.part}: {self.text}"
        if self.mend:
            yield f"     -> {self.mend}"


def _trial(
    part: str, find: Callable[[], Finding], state_of_error: HealthState = BAD
) -> HealthCheck:
    """Return the check of a part. An error that a user can cause is its finding."""
    try:
        return HealthCheck(part, *find())
    except InputError as error:
        where = f"{error.where}: " if error.where is not None else ""
        text = f"{where}{error.got}; expected {error.expected}"
        return HealthCheck(part, state_of_error, text, error.fix)
    except (ArgusError, ImportError, OSError) as error:
        text, _, packages = str(error).partition(": pip install ")
        mend = f"pip install {packages}" if packages else ""
        return HealthCheck(part, state_of_error, text, mend)


@dataclass(frozen=True, repr=False)
class HealthResult(Result):
    """Every check of a set-up."""

    checks: tuple[HealthCheck, ...]

    @property
    def summary(self) -> dict[str, Any]:
        """The checks as JSON (part, state, text and mend of each), and the number of bad ones."""
        checks = [asdict(check) | {"state": str(check.state)} for check in self.checks]
        return {"checks": checks, "bad": self.bad}

    @property
    def bad(self) -> int:
        """Number of parts to mend."""
        return sum(check.state is BAD for check in self.checks)

    @property
    def exit_code(self) -> int:
        """0 where nothing has to be mended, else 2."""
        return 2 if self.bad else 0

    def headline(self) -> Iterator[str]:
        """Yield every check, and whether a job can run."""
        for check in self.checks:
            yield from check.lines()
        yield f"{self.bad} to mend" if self.bad else "nothing to mend"


def check_up(
    parts: ProjectParts | None = None,
    *,
    columns: FieldNames | None = None,
    asking: AskingConfig | None = None,
    encoder: Annotated[EncoderConfig | str | None, Options(EncoderConfig)] = None,
    folder: Path | str = ".",
) -> HealthResult:
    """Try machine, extras, model, documents, retriever, questions: exit 0, or 2 and what to mend.

    Nothing is written. What is not named is not tried, the encoder excepted; an extra that is not
    installed is a note. With --config argus.toml it tries what `argus init` wrote down.

    folder: where results would go, for the room on its disk. A failure is a check of the result,
    never an error.
    """
    config = as_config(encoder or EncoderConfig())
    columns, asking = columns or FieldNames(), asking or AskingConfig()
    trial = Trial(parts or ProjectParts(), columns, asking, config)
    return HealthResult((*_check_machine(Path(folder)), *trial.checks()))


def _check_machine(folder: Path) -> Iterator[HealthCheck]:
    """Yield checks of Python, memory and the folder's disk, of torch if it is here, and extras."""
    text = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield HealthCheck("python", GOOD, text)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    free = shutil.disk_usage(folder).free
    text = f"{available_cores()} cores, {memory:.1f} GiB of memory, "
    text += f"{free / (1 << 30):.1f} GiB free on disk"
    mend = "" if free >= MIN_FREE else "Make room, or name another folder with --out."
    yield HealthCheck("machine", NOTE if mend else GOOD, text, mend)
    if find_spec("torch") is not None:
        import torch

        build, has_gpu = torch.version.cuda, torch.cuda.is_available()
        text = f"torch {torch.__version__} computes on "
        text += torch.cuda.get_device_name() if has_gpu else "the processor"
        is_idle = build is not None and not has_gpu
        text += f"; it is the build for CUDA {build}, which nothing uses here" if is_idle else ""
        mend = f"{CPU_BUILD}; or have the GPU's driver installed." if is_idle else ""
        yield HealthCheck("torch", NOTE if mend else GOOD, text, mend)
    lacking = {extra for package, extra in EXTRAS.items() if find_spec(package) is None}
    if here := sorted(set(EXTRAS.values()) - lacking):
        yield HealthCheck("extras", GOOD, f"here: {', '.join(here)}")
    if lacking:
        mend = f"Where you need one: pip install 'argus-retrieval[{min(lacking)}]'."
        yield HealthCheck("extras", NOTE, f"not here: {', '.join(sorted(lacking))}", mend)


@dataclass
class Trial:
    """Tries the parts in turn. A later one uses the things that an earlier one has opened."""

    parts: ProjectParts
    columns: FieldNames = field(default_factory=FieldNames)
    asking: AskingConfig = field(default_factory=AskingConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    documents: list[Document] = field(default_factory=list)
    _loaded: Encoder | None = None

    def checks(self) -> Iterator[HealthCheck]:
        """Yield a check for each part that there is."""
        parts = self.parts
        is_named = self.encoder.model != DEFAULT_MODEL  # the default may not be meant
        is_needed = is_named or (parts.corpus is not None and parts.retriever is None)
        yield _trial("model", self._model, BAD if is_needed else NOTE)
        if parts.corpus is not None:
            yield _trial("documents", self._documents)
        if parts.retriever is not None:
            yield _trial("retriever", self._retriever)
        if parts.queries or parts.qrels:
            yield _trial("questions", self._questions)

    def _model(self) -> Finding:
        from argus.encoders import load_any_encoder
        from argus.encoders.protocol import family_of

        encoder = load_any_encoder(self.encoder)
        encoder.encode_queries(["which documents does it not reach?"])
        vectors = f"{family_of(encoder)} vectors"
        if family_of(encoder) == "dense":
            self._loaded, vectors = encoder, f"{encoder.dim} dimensions"
        return GOOD, f"{self.encoder.model} embeds: {vectors}", ""

    def _documents(self) -> Finding:
        """Read documents. Of a store, compare the vectors of some records with the encoder's."""
        assert self.parts.corpus is not None
        corpus, loaded = named(self.parts.corpus), self._loaded
        limit = MAX_RECORDS if isinstance(corpus, StoreCorpus) else MAX_DOCUMENTS
        encoder = None if loaded is None else lambda: loaded
        source = open_corpus(corpus, limit=limit, asking=encoder)
        self.documents = source.documents(self.columns)
        n, titles = len(self.documents), sum(bool(one.title) for one in self.documents)
        text = f"{corpus}: {'at least ' if n == limit else ''}{n:,} documents, {titles:,} with a "
        text += f"title; the first is {self.documents[0].id!r}"
        if source.stored is not None and source.stored.facts:
            median = source.stored.facts["agreement"]
            text += f"; {self.encoder.model} made their vectors (cosine {median:.3f})"
        return GOOD, text, ""

    def _retriever(self) -> Finding:
        """Search with the beginnings of the first documents, and look at the ids of the results."""
        from argus.retrievers.opening import opened

        texts = [(d.text or d.title)[:PROBE_CHARACTERS] for d in self.documents[:PROBES]]
        texts = texts or ["what is this?"]
        queries = [Query(f"probe-{i}", text) for i, text in enumerate(texts)]
        with opened(
            self.parts.retriever, documents=self.documents, config=self.asking,
            encoder=self._loaded or self.encoder,
        ) as retriever:  # fmt: skip
            name, answers = retriever.name, retriever.ask(queries, K)
        if answers.failed:
            query, reason = next(iter(answers.failed.items()))
            text = f"{name} failed {len(answers.failed)} of {len(queries)} queries; {query}: "
            mend = "Ask it the same without Argus; --result-id names the field of ids."
            return BAD, text + reason, mend
        back = {doc for ranking in answers.run.values() for doc in ranking}
        text = f"{name} brought {len(back):,} documents for {len(queries)} queries"
        if not back:
            return BAD, text, "See what it searches: it may be another collection, or an empty one."
        ids = {document.id for document in self.documents}
        strangers = sorted(back - ids)
        named = None if back & ids else self._field_with(back)
        if named not in (None, self.parts.parent_field):
            text += f"; their ids stand in the field {named!r} of the documents"
            return BAD, text, f"Say so: --id-field {named}."
        if len(ids) in (0, MAX_DOCUMENTS, MAX_RECORDS) or not strangers:
            return GOOD, text, ""
        text += f"; {len(strangers)} of them are no documents, such as {strangers[0]!r}"
        mend = "Name the field of a result that holds the document's id: --result-id NAME."
        return BAD if len(strangers) == len(back) else NOTE, text, mend

    def _questions(self) -> Finding:
        """Read questions and judgements, and look for the judged documents."""
        if self.parts.queries is None:
            mend = "Name the questions with --queries, or leave --qrels out."
            return BAD, "judgements without their questions", mend
        queries = {query.id for query in read_queries(Path(self.parts.queries))}
        text = f"{len(queries):,} questions"
        if self.parts.qrels is None:
            return GOOD, f"{text}, not judged", ""
        qrels = read_judgements(self.parts.qrels)
        judged = queries & set(qrels)
        relevant = {doc for query in judged for doc, grade in qrels[query].items() if grade > 0}
        text += f", {len(judged):,} judged"
        if not judged:
            return BAD, text, "Ids of questions and judgements have to be the same."
        parent, n = self.parts.parent_field, len(self.documents)
        own = (document.id for document in self.documents)
        ids = set(own if parent is None else parent_ids(self.documents, parent))
        lacking = sorted(relevant - ids)
        if len(lacking) == len(relevant) and (name := self._field_with(relevant)):
            text += f"; they judge what the field {name!r} names, not the {n:,} chunks"
            return BAD, text, f"Say so: --parent-field {name}."
        if not ids or n in (MAX_DOCUMENTS, MAX_RECORDS) or not lacking:
            return GOOD, text, ""
        text += f"; {len(lacking):,} of {len(relevant):,} relevant documents are not in the corpus"
        mend = f"The first is {lacking[0]!r}: see --id-field."
        return BAD if len(lacking) == len(relevant) else NOTE, text, mend

    def _field_with(self, values: Collection[str]) -> str | None:
        """Return the first field of the documents that holds one of some values."""
        fields = ((name, v) for d in self.documents for name, v in d.metadata.items())
        return next((name for name, value in fields if str(value) in values), None)
