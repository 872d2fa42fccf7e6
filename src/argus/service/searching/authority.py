"""The authority relation of the service: records that change, and the answers that rest on them."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from argus.authority.domains import Domain
from argus.authority.domains.sources import Source as Row
from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.inputs import domain_of, moment_of, open_authority
from argus.authority.jobs.stream import INSERT, Changes, StreamChange
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.authority.stream import Change, Keep, Stream
from argus.authority.times import Moment
from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.errors import ArgusError, InputError
from argus.service.searching.journal import Journal
from argus.service.searching.resolving import Resolving
from argus.service.searching.summary import RecordsChanged, Resolved

WATCHED = 10_000
"""Cached answers that are watched at most; the oldest is forgotten for a new one."""
LONGEST_ID = 2_000
"""Characters of an id that a request may name."""
TURN_S = 0.05
"""Seconds that one request holds the relation, once it has looked at a document."""
PAUSE_S = 0.001
"""Seconds that it lets it go for: a lock that is taken again at once is got by nobody else."""
REQUEST = Path("request")
"""What an error of a row of a request names as its file."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A document as the stream has it now; None once its record was deleted, or without text.

    versions: hashes of all texts that came under its id.
    """

    id: str
    document: Document | None
    versions: frozenset[bytes]

    def has_brought(self, text: str) -> bool:
        """Return whether the stream brought this text."""
        return content_hash(text) in self.versions


class ServedAuthority:
    """Reads records, rules and edges at first use, and what came since out of the journal.

    Any thread may ask: one at a time, each for a moment. warn: told of what came and stands
    otherwise than it says. Raises InputError for what cannot be read.
    """

    def __init__(
        self,
        source: AuthoritySource,
        journal: Path | None = None,
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.source, self._warn = source, warn
        self._journal = Journal(journal) if journal is not None else None
        self._lock = threading.RLock()
        self._stream: UndoableStream | None = None
        self._domain = Domain("records", ())
        self._watched: OrderedDict[str, None] = OrderedDict()
        self._changes = 0
        """How often records came: a number of the state of the relation."""

    @contextmanager
    def at(self, as_of: str | None = None, known_by: str | None = None) -> Iterator[Authority]:
        """Hold the relation as of a time; None is the time that the service was started with."""
        with self._lock:
            whole = self._opened().authority
            as_of, known_by = self.times(as_of, known_by)
            effective = moment_of(as_of, self._domain, "as_of")
            known = moment_of(known_by, self._domain, "known_by")
            is_now = effective is None and known is None
            yield whole if is_now else whole.as_of(effective, known)

    def times(self, as_of: str | None, known_by: str | None) -> tuple[str | None, str | None]:
        """Return the times that count: those of a request, else those of the service."""
        return as_of or self.source.as_of, known_by or self.source.known_by

    def resolve(
        self, ids: Iterable[str], as_of: str | None = None, known_by: str | None = None
    ) -> list[Resolved]:
        """Return what controls each document, each once; others are let in between."""
        resolving, waiting, answer = Resolving(), deque(dict.fromkeys(ids)), list[Resolved]()
        while waiting:
            with self.at(as_of, known_by) as authority:
                end = time.monotonic() + TURN_S
                while waiting:
                    answer.append(resolving.resolved(waiting.popleft(), authority, self._changes))
                    if time.monotonic() > end:
                        break
            if waiting:
                time.sleep(PAUSE_S)
        return answer

    def around(self, id_: str) -> Authority:
        """Return the part of the relation that leads on from one document, for itself."""
        with self.at() as whole:
            if id_ not in whole:
                return Authority([])
            chains = whole.reach([id_])
            records = [whole.records[one] for one in chains]
            edges = [
                Edge(link.superseder, link.superseded, link.rule, link.confidence)
                for link in chains.values()
                if link is not None
            ]
        return Authority(records, edges=edges)

    def watch(self, key: str, anchors: Sequence[str]) -> None:
        """Name this key when what controls the anchors changes; those without record are let be."""
        with self._lock:
            stream = self._opened()
            stream.watch(key, [id_ for id_ in anchors if id_ in stream.authority])
            self._watched[key] = None
            self._watched.move_to_end(key)
            while len(self._watched) > WATCHED:
                stream.unwatch(self._watched.popitem(last=False)[0])

    def stale(self) -> list[str]:
        """Return the keys of cached answers that no longer hold, until they are asked for again."""
        with self._lock:
            stream = self._opened()
            return [key for key in self._watched if stream.is_stale(key)]

    def take(self, rows: Sequence[Mapping[str, object]]) -> RecordsChanged:
        """Make the changes of some rows, in order, and keep them; all of them or none.

        rows: as in the file of `argus authority stream`. Raises InputError, naming the row, for a
        change that cannot be made, OSError where they cannot be written.
        """
        with self._lock:
            stream = self._opened()
            self._changes += 1
            with stream.all_or_none():
                made = _made(stream, self._domain, enumerate(rows, 1), REQUEST)
                changes = [_can_be_named(change) for change in made]
                if self._journal is not None:
                    self._journal.append(json.dumps(list(rows)))
            stale = dict.fromkeys(key for change in changes for key in change["stale"])
            return {
                "records": len(stream.authority),
                "changes": changes,
                "stale": list(stale),
            }

    @property
    def has_journal(self) -> bool:
        """Whether records have come, in this service or one before it."""
        return self._journal is not None and self._journal.is_there

    def brought(self) -> list[str]:
        """Return the ids of all records that ever came, deleted ones too."""
        with self._lock:
            return list(self._opened().versions)

    def streamed(self, ids: Iterable[str]) -> list[Streamed]:
        """Return what the stream says of documents; of those that never came nothing."""
        with self._lock:
            stream = self._opened()
            versions, records = stream.versions, stream.authority.records
            return [
                Streamed(id_, _document(records.get(id_)), frozenset(versions[id_]))
                for id_ in ids
                if id_ in versions
            ]

    def _opened(self) -> UndoableStream:
        if self._stream is None:
            rows = None if self._journal is None else list(self._journal.rows())
            self._domain = domain_of(self.source)  # after the journal: damage costs no reading
            now = replace(self.source, as_of=None, known_by=None)
            stream = UndoableStream(open_authority(now).authority)
            if self._journal is not None and rows:
                self._read_again(stream, rows, self._journal.file)
            self._stream = stream
        return self._stream

    def _read_again(
        self, stream: UndoableStream, rows: Iterable[tuple[int, object]], file: Path
    ) -> None:
        """Make the changes that came once more; ArgusError, no fault of a request, names a row."""
        try:
            with stream.all_or_none(), stream.forgiving():
                made = _made(stream, self._domain, rows, file, again=True)
                deque(made, maxlen=0)
        except InputError as error:
            raise ArgusError(
                f"{error} It came to this service, and cannot be made again: mend the line, or "
                "what was changed of the records since."
            ) from error
        for id_, why in stream.without_edges.items():
            self._warn(
                f"{file}: record {id_!r} came again after it was deleted, and stands "
                f"without the edges given for it, as an earlier version took it: {why}"
            )


class UndoableStream(Stream):
    """A stream whose changes can be taken back."""

    def __init__(self, authority: Authority) -> None:
        super().__init__(authority)
        self._undo: list[Callable[[], Change]] = []
        self.versions: dict[str, set[bytes]] = {}
        """Hashes of the texts that came, by id; those of changes that were taken back, too."""
        self.without_edges: dict[str, InputError] = {}
        """Records that came without the edges that waited for them, and why."""
        self._is_forgiving = False

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Within, insert a record without the edges that wait for it, where they make a cycle.

        Earlier versions forgot those edges, and took such a record.
        """
        self._is_forgiving = True
        try:
            yield
        finally:
            self._is_forgiving = False

    def insert(self, record: Record, edges: Iterable[Edge] = ()) -> Change:
        """As `Stream.insert`."""
        waiting = dict(self._waiting.get(record.id, {}))
        try:
            change = super().insert(record, edges)
        except InputError as error:
            if not (self._is_forgiving and waiting):
                raise
            del self._waiting[record.id]
            change = super().insert(record, edges)
            self.without_edges[record.id] = error
        if (document := _document(record)) is not None:
            self.versions.setdefault(record.id, set()).add(content_hash(document.content))
        self._undo.append(partial(self._uninsert, record.id, waiting))
        return change

    def delete(self, id_: str) -> Change:
        """As `Stream.delete`."""
        record = self.authority.record(id_)
        change = super().delete(id_)
        self._undo.append(partial(super().insert, record))
        return change

    def correct(
        self,
        id_: str,
        *,
        time: Moment | Keep | None = Keep.KEEP,
        published: Moment | Keep | None = Keep.KEEP,
    ) -> Change:
        """As `Stream.correct`."""
        old = self.authority.record(id_)
        change = super().correct(id_, time=time, published=published)
        self._undo.append(partial(super().correct, id_, time=old.time, published=old.published))
        return change

    def _uninsert(self, id_: str, waiting: dict[Edge, None]) -> Change:
        """Take a record out, and the edges that came with it; those that waited for it do again."""
        change = super().delete(id_)
        self._waiting[id_] = waiting
        return change

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """Take back the changes made within, where an error ends them; no answer is stale then."""
        stale = set(filter(self.is_stale, self.keys))
        try:
            yield
        except BaseException:
            while self._undo:
                self._undo.pop()()
            for key in self.keys:
                if key not in stale:
                    self.result(key)
            raise
        finally:
            self._undo.clear()


def _document(record: Record | None) -> Document | None:
    """Return what a search reads of a record; None where there is none, or no text of it."""
    if record is None:
        return None
    document = Document(record.id, record.text, record.title)
    return document if document.content.strip() else None


def _made(
    stream: Stream,
    domain: Domain,
    rows: Iterable[tuple[int, object]],
    file: Path,
    *,
    again: bool = False,
) -> Iterator[StreamChange]:
    """Make the change that each row says; InputError names its line. again: see `Changes`."""
    changes = Changes(stream, domain, again)
    for number, values in rows:
        if not isinstance(values, dict):
            raise InputError(
                f"a JSON {type(values).__name__}",
                expected="an object per line",
                fix="Mend the line.",
                where=f"{file}, line {number}",
            )
        yield from changes.of(Row(values, file, number))


def _can_be_named(change: StreamChange) -> StreamChange:
    """Return a change; InputError for a new record that no request could ask about."""
    id_ = change["record"]
    if change["op"] == INSERT and len(id_) > LONGEST_ID:
        raise InputError(
            f"an id of {len(id_):,} characters, {id_[:40]!r}...",
            expected=f"at most {LONGEST_ID:,}",
            fix="Shorten it; none of the records counts.",
            where=REQUEST,
        )
    return change
