"""Check documents, the store that serves them, and supersession, into one folder with one verdict.

Each part runs where its inputs are there: `exposure` asks for every document by its own title and
sentences, `reach` asks a store for its records by their own vectors, and `audit_authority` asks
with every superseded document for the one that controls it now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.authority.config import AuthoritySource
from argus.corpora import Corpus, StoreCorpus, named
from argus.data.fields import FieldNames
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.encoders.protocol import Encoder
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.jobs.result import Result
from argus.reachability.config import ReachConfig
from argus.retrievability.config import ExposureConfig
from argus.retrievers.config import AskingConfig
from argus.stores.spec import conditions, is_store

UNASKED = (
    "documents were not asked for by their titles: name the model that made the store's vectors "
    "with --encoder"
)


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
    corpus: Corpus | None = None,
    *,
    store: str | None = None,
    authority: AuthoritySource | None = None,
    out: Path | str,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    run: Path | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Any] = (),
    fields: FieldNames | None = None,
    exposing: ExposureConfig | None = None,
    reaching: ReachConfig | None = None,
    cache: Path | None = None,
    limit: int | None = None,
    engine: EngineConfig | Engine | None = None,
    fresh: bool = False,
) -> CheckResult:
    """Check documents, a store and supersession; write one folder of results.

    corpus: documents, asked for by title and sentence. A store as corpus is asked for its records,
    too, and for its documents only beside an `encoder`, a `retriever` or a `run`.
    store: `KIND:PLACE/COLLECTION`, asked for its own records; default: the retriever, where it is a
    store. authority: records with rules or edges of supersession. encoder: default
    all-MiniLM-L6-v2.
    The rest is as for `exposure`, `reach` and `audit_authority`. Raises InputError for bad input,
    and where there is nothing to check.
    """
    source = named(corpus) if isinstance(corpus, str | Path) else corpus
    is_searchable = not isinstance(source, StoreCorpus) or bool(encoder or retriever or run)
    if store is None and isinstance(source, StoreCorpus) and isinstance(source.store, str):
        store = source.store
    elif store is None and isinstance(retriever, str) and is_store(retriever):
        store = retriever
    asking = asking or AskingConfig()
    parts: dict[str, Result] = {}

    def is_first() -> bool:
        return fresh and not parts

    if source is not None and is_searchable:
        from argus.retrievability.exposure import exposure

        parts["exposure"] = exposure(
            source, out=out, config=exposing, queries=queries, fields=fields, limit=limit,
            encoder=encoder or DEFAULT_MODEL, store=cache, engine=engine, retriever=retriever,
            asking=asking, run=run, fresh=is_first(),
        )  # fmt: skip
    if store is not None:
        from argus.reachability.job import reach

        asked = queries if encoder is not None or "exposure" not in parts else ()
        parts["reach"] = reach(
            store, out=out, config=reaching, opening=asking.opening, queries=asked,
            matching=conditions(asking.where) or None, encoder=encoder if asked else None,
            fresh=is_first(),
        )  # fmt: skip
    if authority is not None:
        from argus.authority.audit import audit_authority

        parts["authority"] = audit_authority(
            authority, out=out, encoder=encoder or DEFAULT_MODEL, store=cache, retriever=retriever,
            asking=asking, k=(exposing or ExposureConfig()).k, fresh=is_first(),
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
    return CheckResult(folder, report, parts, () if is_searchable else (UNASKED,))
