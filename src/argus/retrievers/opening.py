"""Open any retriever by its name or as an object, ask it a job's queries, and check the answers.

`argus check`, `evaluate`, `explain`, `traffic audit` and `authority audit` ask through `opened` or
`answers_of`: queries -> answers, each query answered or failed. `answers_of` reads them from a run
where the job has one that was made elsewhere (`run_answers`). The kinds of retrievers are in
`argus.retrievers.dense`, `argus.retrievers.http` and `argus.retrievers.python_retriever`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from argus.data.fields import FieldPath
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import finite_scores, read_run
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError, InputError
from argus.jobs.workspace import NO_ENCODER, Record, keep_input, require_some
from argus.progress import announce
from argus.python_file import USER_CODE_CWD, refusing_what_raises
from argus.retrievers.config import AskingConfig, check_store_settings
from argus.retrievers.names import (
    GENERATIVE,
    check_named,
    check_python_file,
    http_file,
    input_path,
    is_index,
)
from argus.retrievers.protocol import Answers
from argus.retrievers.python_retriever import PythonRetriever, named_in_file, python_retriever
from argus.retrievers.results import Known
from argus.retrievers.session import (
    ANSWERS,
    AnswerCache,
    AskingLoop,
    Blocking,
    QuerySession,
    Source,
)
from argus.stores.spec import blended_store, is_store

# Queries under way at once over HTTP, and seconds until one has failed.
AT_ONCE, TIMEOUT_S = 16, 30.0

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig

    AnyEncoder = Encoder | EncoderConfig | str


@dataclass(frozen=True)
class OpenRetriever:
    """A retriever of any kind that can be asked. It is an `argus.Retriever` itself.

    identity: key of its cached answers; "" if nothing tells it from another, so that none are
    cached. cache: the file of answers.
    """

    source: Source
    identity: str
    config: AskingConfig
    loop: AskingLoop = field(repr=False, compare=False)
    cache: Path | None = None

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.source.name

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the encoder of its queries. None without one, or if it is not known."""
        return self.source.fingerprint

    def ask(self, queries: Sequence[Query], k: int) -> Answers:
        """Ask every query: each is answered or failed. Raises ArgusError if it gives up."""
        with ExitStack() as stack:
            cache = None
            if self.cache is not None and self.identity:
                cache = stack.enter_context(closing(AnswerCache(self.cache, self.identity)))
            if isinstance(self.source, PythonRetriever) and self.identity:  # out of a file
                stack.enter_context(redirect_stdout(sys.stderr))  # its prints are no result
                stack.enter_context(USER_CODE_CWD.entered())
            answers = QuerySession(self.source, k, self.config, self.loop, cache).ask(queries)
        return replace(answers, warning=self.source.warning)

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query. Raises ArgusError if any query failed."""
        answers = self.ask(queries, k)
        if answers.warning:
            announce(f"WARNING: {answers.warning}")
        if answers.failed:
            query, reason = next(iter(answers.failed.items()))
            raise ArgusError(
                f"{self.name} failed {len(answers.failed)} of {len(queries)} queries; query "
                f"{query!r}: {reason}"
            )
        return answers.run


@contextmanager
def opened(
    retriever: Any,
    *,
    documents: Sequence[Document] = (),
    config: AskingConfig | None = None,
    cache: Path | None = None,
    encoder: AnyEncoder | None = None,
) -> Iterator[OpenRetriever]:
    """Open a retriever by its name (see `argus.retrievers.names`), an object, class or function.

    documents: the corpus, if it is at hand: its ids and texts tell which field of a result is the
    id, and a retriever that takes a corpus is given it. cache: the file of answers. encoder: of a
    store's queries, and of an index that names none. Raises InputError if it cannot be opened.
    """
    config = config or AskingConfig()
    with ExitStack() as stack:
        source, identity, asking = _open(retriever, documents, config, encoder, stack)
        loop = stack.enter_context(closing(AskingLoop()))
        yield OpenRetriever(source, identity, asking, loop, cache)


def _open(
    retriever: Any,
    documents: Sequence[Document],
    config: AskingConfig,
    encoder: AnyEncoder | None,
    stack: ExitStack,
) -> tuple[Source, str, AskingConfig]:
    """Return the source of a retriever, the key of its cached answers, and how to ask it.

    stack: closes it.
    """
    from argus.indexes.retriever import IndexRetriever

    name = str(retriever) if isinstance(retriever, str | Path) else ""
    blend, index = blended_store(name), retriever if isinstance(retriever, IndexRetriever) else None
    if name and not blend and is_index(name):
        from argus.retrievers.dense import open_index

        index = open_index(name, encoder)
    if index is not None:
        from argus.retrievers.dense import IndexSource

        source = IndexSource(index, name or index.name, Blocking(config.timeout_s is not None))
        return source, source.identity, replace(config, at_once=1)
    # an object that is a store has a method of `argus.stores.Store`, and of nothing else
    if blend or (is_store(name) if name else hasattr(retriever, "can_search_exactly")):
        from argus.retrievers.dense import open_store_source

        place, known = blend or name or retriever, Known.of(documents)
        opening = open_store_source(place, known, config, encoder, is_blend=bool(blend))
        store = stack.enter_context(opening)
        identity = content_hash(store.identity, _digest(documents)).hex()
        return store, identity, replace(config, at_once=1)
    if not name:
        return python_retriever(retriever, documents, "", config), "", config
    if name.startswith(GENERATIVE):
        ngrams = resolve_name("argus.generative.search:NgramRetriever").of(name)
        return python_retriever(ngrams, documents, name, config), ngrams.identity, config
    if endpoint := http_file(name):
        return _open_endpoint(endpoint, name, documents, config)
    check_python_file(name)
    with redirect_stdout(sys.stderr), refusing_what_raises(name):
        thing, identity = stack.enter_context(named_in_file(name))
        with USER_CODE_CWD.entered():
            python = python_retriever(thing, documents, name, config)
    identity = content_hash(identity, str(config.id_field), _digest(documents)).hex()
    return python, identity, config


def _digest(documents: Sequence[Document]) -> bytes:
    """Hash ids and texts: answers over other documents are other answers."""
    return content_hash(*(part for d in documents for part in (d.id, d.title, d.text)))


def _open_endpoint(
    file: Path, name: str, documents: Sequence[Document], config: AskingConfig
) -> tuple[Source, str, AskingConfig]:
    """Return the source of an endpoint, its key, and how it is asked."""
    from argus.encoders import load_encoder
    from argus.retrievers.dense import CORRECTED, correction_of
    from argus.retrievers.http import HttpRetriever, load_endpoint

    spec = load_endpoint(file)
    if config.id_field is not None:
        id_ = FieldPath.parse(config.id_field)
        spec = spec.model_copy(update={"answer": spec.answer.model_copy(update={"id": id_})})
    encoder = load_encoder(spec.encoder) if spec.encoder else None
    correction = correction_of(config, encoder) if encoder is not None else None
    if config.correction is not None and correction is None:
        got = f"{file} sends no vector of a query"
        fix = "Leave it out, or describe a request by vector."
        raise InputError(got, expected="{vector} in the request", fix=fix, where="--correction")
    parts = [encoder.fingerprint if encoder else ""]
    if correction is not None:
        parts.append(correction.identity)
        name += CORRECTED
    at_once, timeout_s = config.at_once or AT_ONCE, config.timeout_s or TIMEOUT_S
    asking = replace(config, at_once=at_once, timeout_s=timeout_s)
    identity = content_hash(spec.identity(), *parts, _digest(documents)).hex()
    return HttpRetriever(spec, name, Known.of(documents), encoder, correction), identity, asking


@contextmanager
def all_opened(
    retrievers: Sequence[Any],
    documents: Sequence[Document],
    asking: AskingConfig,
    cache: Path | None,
    encoder: AnyEncoder | None = None,
) -> Iterator[list[OpenRetriever]]:
    """Open every retriever. Arguments as for `opened`.

    Raises InputError for settings of a store if none is one.
    """
    check_store_settings(retrievers, asking)
    shared: dict[str, Any] = {"documents": documents, "config": asking, "cache": cache}
    with ExitStack() as stack:
        opening = (opened(one, encoder=encoder, **shared) for one in retrievers)
        yield [stack.enter_context(one) for one in opening]


@dataclass(frozen=True)
class Answerer:
    """The retriever of a job's queries, or the run that it made of them elsewhere.

    asking, encoder: as for `opened`. Raises InputError for a name of no retriever, before the job
    has worked.
    """

    retriever: Any = None
    run: Path | Run | None = None
    asking: AskingConfig | None = None
    encoder: AnyEncoder | None = None

    def __post_init__(self) -> None:
        if isinstance(self.retriever, str | Path):
            check_named(str(self.retriever))

    @property
    def is_named(self) -> bool:
        """True if there is one. Otherwise a job searches with vectors of its own."""
        return self.retriever is not None or self.run is not None


def answers_of(
    source: Answerer,
    queries: Sequence[Query],
    k: int,
    *,
    documents: Sequence[Document],
    folder: ArtifactFolder | None,
    record: Record,
    what: str = "queries",
) -> tuple[str, Answers]:
    """Return the name of a job's retriever, and its answers, which are cached in the folder.

    folder: None caches nothing. what: the queries, in words. Raises ArgusError if all failed,
    NothingMeasured if there are no queries.
    """
    require_some(len(queries), what, "There is nothing to ask: check what they are read from.")
    record.encoder["fingerprint"] = NO_ENCODER
    asking = source.asking or AskingConfig()
    if source.run is not None:
        check_store_settings((), asking)
        answers = run_answers(source.run, queries)
        if folder is not None:
            record.open(folder)
        return str(source.run) if isinstance(source.run, Path) else "a run", answers
    cache = None if folder is None else folder.path / ANSWERS
    with all_opened([source.retriever], documents, asking, cache, source.encoder) as (retriever,):
        if folder is not None:
            note_retrievers([source.retriever], [retriever], asking, folder, record)
        answers = retriever.ask(queries, k)
    if not answers.run:
        first = next(iter(answers.failed.values()))
        raise ArgusError(
            f"{retriever.name} failed all {len(answers.failed):,} {what}. The first: {first}"
        )
    return retriever.name, answers


def note_retrievers(
    retrievers: Sequence[Any],
    sources: Sequence[OpenRetriever],
    asking: AskingConfig,
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path] = (),
) -> None:
    """Record the retrievers and settings, and open the folder, which caches their answers.

    about: as for `check_folder`. Raises InputError if --fresh would delete a retriever.
    """
    record.config |= {"retrievers": [source.name for source in sources], "asking": asdict(asking)}
    if encoders := dict.fromkeys(s.fingerprint for s in sources if s.fingerprint):
        record.encoder["fingerprint"] = " | ".join(encoders)
    keep_input(folder, map(input_path, retrievers))
    record.open(folder, about=about)
    folder.own(ANSWERS, goes_on=True)


def run_answers(run: Path | Run, queries: Sequence[Query], name: str = "run") -> Answers:
    """Return the answers of a run to `queries`. A query that is not in the run has failed.

    JSON can tell a query without results from one that was never asked. A TREC file cannot. Readers
    of judged runs take both for empty, as trec_eval does. name: of a run that is no file. Raises
    InputError if the run answers none of the queries.
    """
    answers = read_run(run) if isinstance(run, Path) else finite_scores(run, name)
    ours = {query.id: answers[query.id] for query in queries if query.id in answers}
    if not ours:
        raise InputError(
            f"answers none of the {len(queries):,} queries (it has {_some(answers)})",
            expected=f"results for the queries that are asked ({_some(q.id for q in queries)})",
            fix="Check that run and queries belong together; probes are exported again with the "
            "same corpus and settings.",
            where=run if isinstance(run, Path) else name,
        )
    return Answers(ours, {q.id: "not in the run" for q in queries if q.id not in ours})


def _some(ids: Iterable[str]) -> str:
    unique = sorted(set(ids))
    return ", ".join(map(repr, unique[:3])) + (", ..." if len(unique) > 3 else "")


def require_known(run: Run, ids: Collection[str], name: str) -> None:
    """Raise InputError if results came back and none of them is a document of the corpus.

    Every document would seem lost, whatever the retriever is worth. ids: of the corpus. name: of
    the retriever.
    """
    first = next((id_ for scores in run.values() for id_ in scores), None)
    if first is None or any(id_ in ids for scores in run.values() for id_ in scores):
        return
    raise InputError(
        f"no result is a document of the corpus; the first is {first!r}",
        expected=f"ids such as {next(iter(ids), '')!r}",
        fix="Name where a result's id stands with --result-id, or the documents' field of it with "
        "--id-field, or give the corpus that was indexed (all of it: mind --limit).",
        where=name,
    )
