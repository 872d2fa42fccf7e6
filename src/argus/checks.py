"""`argus check`: find documents that searches never bring back, or bring back although outdated.

`check`: documents, a vector database, records with rules -> one folder with one verdict. Each part
runs where its inputs are given: `exposure` searches with each document's own title and sentences,
`reach` searches a database with its records' own vectors, `find_drift` compares documents with
their sources, `audit_authority` searches with every superseded document for the one that controls
it now, and `audit_traffic` reads what people asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.authority.config import AuthoritySource
from argus.corpora import Corpus as AnyCorpus
from argus.corpora import StoreCorpus, named, named_once
from argus.data.fields import FieldNames
from argus.drift.config import DriftConfig
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.reachability.config import ReachConfig
from argus.retrievability.config import ExposureConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.retrievers.names import input_path, is_index
from argus.settings import CORPUS, Option, Options, Without
from argus.stores.spec import StoreConfig, asks_store, conditions, is_store

if TYPE_CHECKING:
    from argus.encoders.protocol import Encoder as AnyEncoder
else:  # which loads NumPy, and is nothing that a command line could give
    AnyEncoder = Any

SHARED = ("k", "sample", "seed", "by")  # settings of a reach that an exposure has, too
PROBED = 200  # records of a store that tell whether the default model made its vectors
ASKED = 150  # documents of a store to ask for where nothing is named: some 15 seconds on two cores


@dataclass(frozen=True, repr=False)
class CheckResult(Result):
    """Result of `check`.

    parts: the result of each part that ran, by its name in summary.json. notes: parts that did not
    run although something of theirs was named.
    """

    folder: Path
    report: Path
    parts: dict[str, Result]
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of each part, by its name."""
        return {name: getattr(part, "summary") for name, part in self.parts.items()}  # noqa: B009

    def _table(self, name: str | None) -> Any:
        """Return the main table of a part, the first one without a name."""
        name = name or next(iter(self.parts))
        if name not in self.parts:
            expected, fix = f"one of {', '.join(self.parts)}", "Leave it out for the first part."
            raise InputError(f"{name!r}", expected=expected, fix=fix, where="table")
        return self.parts[name]._table(None)

    def headline(self) -> Iterator[str]:
        """Yield the figures of each part that matter."""
        from argus.corpora.stored import remarks

        for part in self.parts.values():
            yield from part.headline()
            summary = getattr(part, "summary")  # noqa: B009
            if "stored_vectors" in summary:
                yield from remarks(summary["stored_vectors"])
        yield from self.notes


def check(
    source: Annotated[AnyCorpus | None, Option(argument="SOURCE", is_name=True), CORPUS] = None,
    *,
    corpus: Annotated[AnyCorpus | None, Option(is_name=True), CORPUS] = None,
    store: Annotated[str | None, Option(("--store",))] = None,
    retriever: NamedRetriever = None,
    encoder: Annotated[
        AnyEncoder | EncoderConfig | str | None, Options(EncoderConfig, optional=True)
    ] = None,
    authority: Annotated[AuthoritySource | None, Options(AuthoritySource, optional=True)] = None,
    out: o.Out = o.OUT,
    queries: Path | str | Sequence[Any] = (),
    log: Path | None = None,
    profiles: Path | None = None,
    exposing: ExposureConfig | None = None,
    reaching: Annotated[ReachConfig | None, Without(*SHARED, "batch")] = None,
    asking: AskingConfig | None = None,
    sources: Annotated[AnyCorpus | None, Option(is_name=True)] = None,
    drifting: Annotated[DriftConfig | None, Without("k")] = None,
    run: Annotated[Path | None, Option(panel=RETRIEVER)] = None,
    engine: o.Engine = None,
    cache: o.Store = None,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> CheckResult:
    """Check what is never found, what a store loses, and what is superseded but still served.

    Documents are asked for by their title and by sentences taken out of them, a store for its own
    records by their own vectors, and superseded documents (--records with --rules or --edges) for
    what controls now. With --sources, what is indexed is compared with what it was made of; with
    --log, what people asked with what came for it; with --profiles documents are asked for by what
    they are needed for. Each part runs where its inputs are there. No label and no language model
    is needed. It measures reachability; which real questions fail it does not tell. A run that was
    stopped goes on where it was.

    encoder: default all-MiniLM-L6-v2. Without one, a retriever or a run, documents of a store are
    asked for where that model made its vectors, 150 of them unless `exposing` says how many. Else a
    note says why they are not measured. reaching: its k, sample, seed and by are those of
    `exposing`. The rest is as for `exposure`, `reach` and `audit_authority`. Raises InputError for
    bad input, and where there is nothing to check.

    Args:
        source: Documents or a store, as --corpus names them, or the folder of an index.
        corpus: BEIR folder, a JSONL, CSV, TSV or Parquet file, or a store (KIND:PLACE/COLLECTION).
        store: Store that serves them: it is asked for its own records (KIND:PLACE/COLLECTION).
        queries: Real questions (JSONL, CSV, TSV, Parquet), or a log of them: what they bring back.
        log: Log of what people asked and what came (see argus traffic); its questions ask, too.
        profiles: What documents are needed for (argus research scenarios write).
        sources: What the documents were made of, to tell which are stale: a folder, or a file.
        run: What it answered elsewhere to exported probes (argus research export): TREC or JSON.
    """
    source, retriever, store = _asked_for(named_once(source, corpus), retriever, store)
    exposing, reaching = exposing or ExposureConfig(), reaching or ReachConfig()
    reaching = replace(reaching, **{name: getattr(exposing, name) for name in SHARED})
    is_named = not isinstance(source, StoreCorpus) or bool(encoder or retriever or run)
    asking = asking or AskingConfig()
    opening = asking.opening
    alone = isinstance(retriever, str) and not asks_store(retriever)  # it is said of the corpus
    asking = replace(asking, opening=StoreConfig()) if alone else asking
    made, indexed = _compared(sources, source if source is not None else store, retriever, asking)
    queries = _asked(queries, log)
    parts: dict[str, Result] = {}

    def is_first() -> bool:
        return fresh and not parts

    notes: tuple[str, ...] = ()
    if source is not None:
        from argus.jobs.workspace import read_documents
        from argus.retrievability.exposure import exposure

        try:
            if not is_named:  # whether the default model made the vectors, a few of them tell
                some = min(limit or PROBED, PROBED)
                read_documents(source, fields or FieldNames(), some, DEFAULT_MODEL)
                encoder, sample = DEFAULT_MODEL, exposing.sample or ASKED
                exposing = replace(exposing, sample=sample)
            parts["exposure"] = exposure(
                source, out=out, config=exposing, queries=queries, fields=fields, limit=limit,
                encoder=encoder or DEFAULT_MODEL, store=cache, engine=engine, retriever=retriever,
                asking=asking, run=run, fresh=is_first(),
            )  # fmt: skip
        except (ArgusError, ImportError) as error:
            has_others = any(part is not None for part in (store, made, authority))
            if is_named and not (has_others and isinstance(error, NothingMeasured)):
                raise
            notes = (f"not measured, how its texts find them: {error}",)
    if store is not None:
        from argus.reachability.job import reach

        asked = queries if encoder is not None or "exposure" not in parts else ()
        parts["reach"] = reach(
            store, out=out, config=reaching, opening=opening, queries=asked,
            matching=conditions(asking.where) or None, encoder=encoder if asked else None,
            fresh=is_first(),
        )  # fmt: skip
    if made is not None:
        from argus.drift.job import find_drift

        parts["drift"] = find_drift(
            indexed, made, out=out, config=replace(drifting or DriftConfig(), k=exposing.k),
            encoder=encoder if is_named or "exposure" in parts else None, retriever=retriever,
            asking=asking, queries=queries, fields=fields, cache=cache, fresh=is_first(),
        )  # fmt: skip
    if authority is not None:
        from argus.authority.audit import audit_authority

        parts["authority"] = audit_authority(
            authority, out=out, encoder=encoder or DEFAULT_MODEL, store=cache, retriever=retriever,
            asking=asking, k=exposing.k, fresh=is_first(),
        )  # fmt: skip
    if log is not None:
        parts["traffic"] = _read_log(
            log, authority, out=out, k=exposing.k, retriever=retriever, asking=asking,
            corpus=source, encoder=encoder or DEFAULT_MODEL, fields=fields, limit=limit,
            fresh=is_first(),
        )  # fmt: skip
    if profiles is not None:
        parts["needs"] = _ask_needs(
            source, profiles, exposing.k, out=out, encoder=encoder or DEFAULT_MODEL, store=cache,
            limit=limit, asking=asking, retriever=retriever, fields=fields, fresh=is_first(),
        )  # fmt: skip
    if not parts:
        raise InputError(
            "nothing to check",
            expected="documents, a store, or records with rules of supersession",
            fix="Name one: argus check docs.jsonl, or --store, or --records with --rules.",
            where="argus check",
        )
    *_, last = parts.values()
    folder, report = Path(out), getattr(last, "report")  # noqa: B009
    return CheckResult(folder, report, parts, notes)


def _asked_for(corpus: AnyCorpus | None, retriever: Any, store: Any) -> tuple[Any, Any, Any]:
    """Return the documents to ask for, the retriever, and the store that holds or is asked.

    An index is asked for its own documents.
    """
    source: Any = named(corpus) if isinstance(corpus, str | Path) else corpus
    if isinstance(source, Path) and is_index(str(source)):
        from argus.indexes.views import ViewIndex, originals

        retriever = retriever or str(source)
        source = originals(ViewIndex.open(input_path(source) or source))
    holders = (source.store if isinstance(source, StoreCorpus) else None, retriever)
    held = (name for name in holders if isinstance(name, str) and is_store(name))
    return source, retriever, store or next(held, None)


def _asked(queries: Path | str | Sequence[Any], log: Path | None) -> Sequence[Any]:
    """Return the questions that were named, else those of the log."""
    if log is None and not isinstance(queries, str | Path):
        return queries
    from argus.tuning.judge import any_questions

    return any_questions(queries) or any_questions(log or ())


def _read_log(log: Path, authority: AuthoritySource | None, *, k: int, **more: Any) -> Result:
    """Tell what people asked, and how often what came for it was superseded."""
    from argus.traffic.config import TrafficConfig
    from argus.traffic.job import audit_traffic

    names = () if authority is None else ("records", "rules", "edges")
    config = TrafficConfig(k=k, **{name: getattr(authority, name) for name in names})
    return audit_traffic(log, config=config, **more)


def _ask_needs(source: Any, profiles: Path, k: int, **more: Any) -> Result:
    """Ask for documents by what they are needed for."""
    from argus.scenarios.config import NeedsConfig
    from argus.scenarios.needs.audit import audit_needs

    if source is None:
        expected, fix = "those that the profiles are of", "Name them: argus check docs.jsonl."
        raise InputError("no documents", expected=expected, fix=fix, where="--profiles")
    return audit_needs(source, profiles, config=NeedsConfig(k=k), **more)


def _compared(sources: Any, indexed: Any, retriever: Any, asking: AskingConfig) -> tuple[Any, Any]:
    """Read sources. Return them, and what was made of them: documents, a store or an index."""
    if sources is None:
        return None, None
    from argus.drift.sources import read_sources

    if indexed is None and isinstance(retriever, str) and is_index(retriever):
        indexed = Path(retriever)
    if indexed is None:
        raise InputError(
            "sources, and nothing that was made of them",
            expected="what is indexed: its documents, a store, or an index as --retriever",
            fix="Name it: argus check chunks.jsonl --sources docs/",
            where="--sources",
        )
    if isinstance(indexed, str) and is_store(indexed):
        indexed = StoreCorpus(indexed, asking.opening)
    return read_sources(sources, FieldNames()), indexed
