"""How every job asks: it opens what answers, keeps the answers in its folder, notes both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError, InputError
from argus.jobs.workspace import NO_ENCODER, Record, keep_input, require_some
from argus.retrievers.config import AskingConfig, check_store_settings
from argus.retrievers.kept import FILE as ANSWERS
from argus.retrievers.names import check_named, input_path
from argus.retrievers.opening import OpenRetriever, opened
from argus.retrievers.protocol import Answers
from argus.retrievers.run_file import run_answers

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig


@dataclass(frozen=True)
class Answerer:
    """What answers the queries of a job: a retriever, or the run that it made of them elsewhere.

    asking, encoder: as for `opened`. Raises InputError for a name that is none of a retriever, so
    that a job says so before it has worked.
    """

    retriever: Any = None
    run: Path | Run | None = None
    asking: AskingConfig | None = None
    encoder: Encoder | EncoderConfig | str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.retriever, str | Path):
            check_named(str(self.retriever))

    @property
    def is_named(self) -> bool:
        """Whether there is one: else a job searches with vectors of its own."""
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
    """Return what answered, and its answers: read, or asked for and kept in the folder.

    folder: None keeps nothing. what: the queries, in words. Raises ArgusError where all failed,
    NothingMeasured where there are none.
    """
    require_some(len(queries), what, "There is nothing to ask: check what they are read from.")
    record.encoder["fingerprint"] = NO_ENCODER
    if source.run is not None:
        check_store_settings((), source.asking or AskingConfig())
        answers = run_answers(source.run, queries)
        if folder is not None:
            record.open(folder)
        return str(source.run) if isinstance(source.run, Path) else "a run", answers
    asking = source.asking or AskingConfig()
    kept_in = None if folder is None else folder.path / ANSWERS
    with all_opened([source.retriever], documents, asking, kept_in, source.encoder) as (retriever,):
        if folder is not None:
            note_retrievers([source.retriever], [retriever], asking, folder, record)
        answers = retriever.ask(queries, k)
    if not answers.run:
        first = next(iter(answers.failed.values()))
        raise ArgusError(
            f"{retriever.name} failed all {len(answers.failed):,} {what}. The first: {first}"
        )
    return retriever.name, answers


def require_known(run: Run, ids: Collection[str], name: str) -> None:
    """Raise InputError where results came back, and none of them is a document of the corpus.

    ids: of the corpus. Nothing can be said of its documents then: figures would tell all of them
    for lost, whatever the retriever is worth. name: what answered.
    """
    first = next((id_ for scores in run.values() for id_ in scores), None)
    if first is None or any(id_ in ids for scores in run.values() for id_ in scores):
        return
    raise InputError(
        f"no result is a document of the corpus; the first is {first!r}",
        expected=f"ids such as {next(iter(ids), '')!r}",
        fix="Name where a result's id stands with --result-id, or give the corpus that was indexed "
        "(all of it: mind --limit).",
        where=name,
    )


@contextmanager
def all_opened(
    retrievers: Sequence[Any],
    documents: Sequence[Document],
    asking: AskingConfig,
    kept_in: Path | None,
    encoder: Encoder | EncoderConfig | str | None = None,
) -> Iterator[list[OpenRetriever]]:
    """Open every retriever; kept_in: the file that keeps what they answer.

    Raises InputError for settings of a store where none is one.
    """
    check_store_settings(retrievers, asking)
    with ExitStack() as stack:
        contexts = (
            opened(retriever, documents=documents, config=asking, kept_in=kept_in, encoder=encoder)
            for retriever in retrievers
        )
        yield [stack.enter_context(context) for context in contexts]


def note_retrievers(
    retrievers: Sequence[Any],
    sources: Sequence[OpenRetriever],
    asking: AskingConfig,
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path] = (),
) -> None:
    """Note who is asked and how, and open the folder: answers are kept in it as they come.

    about: as for `check_folder`. Raises InputError where --fresh would delete a retriever.
    """
    record.config |= {"retrievers": [source.name for source in sources], "asking": asdict(asking)}
    if encoders := dict.fromkeys(s.fingerprint for s in sources if s.fingerprint):
        record.encoder["fingerprint"] = " | ".join(encoders)
    keep_input(folder, map(input_path, retrievers))
    record.open(folder, about=about)
    folder.own(ANSWERS, goes_on=True)
