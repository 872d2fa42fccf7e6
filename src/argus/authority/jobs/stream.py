"""A stream of changes over records, and which cached answers each of them makes stale (Def. 11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from argus.authority.domains import Domain
from argus.authority.domains.domain import records_of
from argus.authority.domains.sources import Source, read_sources
from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.inputs import domain_of, open_authority, require_records
from argus.authority.stream import Change, Keep, Stream
from argus.authority.times import Moment, parse_moment
from argus.data.documents import ID_FIELDS
from argus.data.runs import ranking, read_run
from argus.data.types import Run
from argus.errors import InputError
from argus.settings import TOP_K

OPERATION = "op"
INSERT, DELETE, CORRECT = "insert", "delete", "correct"
TIMES = ("timestamp", "published")
"""What a correction may say: when a record takes effect, and when it became known."""
OTHERWISE = (
    "To change anything else, delete the record and insert it again as it should be: its given "
    "edges hold again."
)
"""What to do where a correction cannot."""


class StreamChange(TypedDict):
    """One change, what it superseded or freed, and the queries whose answers no longer hold.

    op: insert, delete or correct.
    record: id of the record.
    superseded: ids of the documents that were active and no longer are.
    reactivated: ids of the documents that are active again.
    stale: keys of cached answers that no longer hold.
    """

    op: str
    record: str
    superseded: list[str]
    reactivated: list[str]
    stale: list[str]


class StreamAnswer(TypedDict):
    """A cached answer that went stale, and what controls its documents after all changes."""

    query_id: str
    controlling: list[str]


class StreamSummary(TypedDict):
    """All changes, and the answers that went stale."""

    records: int
    cached: int
    """Answers that were watched."""
    changes: list[StreamChange]
    stale: list[StreamAnswer]


@dataclass(frozen=True)
class Changes:
    """How changes are read and made.

    again: they were made before, by an earlier version, maybe, which passed over what else a
    correction says.
    """

    stream: Stream
    domain: Domain
    again: bool = False

    def of(self, source: Source) -> Iterator[StreamChange]:
        """Make the change that one row says; InputError names the row."""
        operation = source.values.get(OPERATION, INSERT)
        try:
            if operation == INSERT:
                for record in records_of(self.domain, _without_operation(source)):
                    yield _change(INSERT, self.stream.insert(record))
            elif operation == DELETE:
                yield _change(DELETE, self.stream.delete(_id(source)))
            elif operation == CORRECT:
                yield _change(CORRECT, self._correct(source))
            else:
                raise InputError(
                    f"{operation!r}",
                    expected=f"{INSERT}, {DELETE} or {CORRECT}",
                    fix="Leave it out to insert the record.",
                    where=source.at(OPERATION),
                )
        except InputError as error:
            if error.where is not None:
                raise
            raise InputError(
                error.got, expected=error.expected, fix=error.fix, where=source.at()
            ) from error

    def _correct(self, source: Source) -> Change:
        if not self.again:
            _require_times_alone(source)
        if not any(name in source.values for name in TIMES):
            raise InputError(
                "a correction of nothing",
                expected=f"{' or '.join(TIMES)}: the time as it should be",
                fix=f"Name it. {OTHERWISE}",
                where=source.at(OPERATION),
            )
        time, published = (self._time(source, name) for name in TIMES)
        return self.stream.correct(_id(source), time=time, published=published)

    def _time(self, source: Source, name: str) -> Moment | Keep | None:
        if name not in source.values:
            return Keep.KEEP
        zone, forms = self.domain.zone, self.domain.dates
        return parse_moment(source.values[name], zone=zone, where=source.at(name), forms=forms)


def stream_authority(
    changes: Path, source: AuthoritySource, run: Run | Path | str, *, k: int = TOP_K
) -> StreamSummary:
    """Make the changes of a file in their order, and name the answers of a run that go stale.

    changes: rows of records to insert, in the form of the records; with `op: delete` or
    `op: correct`, an id, and of a correction `timestamp` or `published`. run: the cached answers;
    of each the first k documents that have a record are watched. Raises InputError, naming the row,
    for a change that cannot be made, and for an earlier time, which does not change.
    """
    if source.as_of is not None or source.known_by is not None:
        raise InputError(
            "a stream into an earlier time",
            expected="the relation as it is",
            fix="Leave --as-of and --known-by out.",
            where="--as-of" if source.as_of is not None else "--known-by",
        )
    authority = open_authority(source).authority
    answers = read_run(Path(run)) if isinstance(run, (str, Path)) else run
    require_records({i for scores in answers.values() for i in scores}, authority, "--run")
    stream = Stream(authority)
    watched = {}
    for query, scores in answers.items():
        watched[query] = [id_ for id_ in ranking(scores)[:k] if id_ in authority]
        stream.watch(query, watched[query])
    domain = domain_of(source)
    maker = Changes(stream, domain)
    log = [change for one in read_sources(changes, domain.results) for change in maker.of(one)]
    stale = dict.fromkeys(query for change in log for query in change["stale"])
    return {
        "records": len(authority),
        "cached": len(watched),
        "changes": log,
        "stale": [
            {"query_id": query, "controlling": list(stream.result(query).frontier)}
            for query in stale
        ],
    }


def _change(operation: str, change: Change) -> StreamChange:
    return {
        "op": operation,
        "record": change.record_id,
        "superseded": list(change.superseded),
        "reactivated": list(change.reactivated),
        "stale": list(change.invalidated),
    }


def _without_operation(source: Source) -> Source:
    rest = {name: value for name, value in source.values.items() if name != OPERATION}
    return Source(rest, source.file, source.line, source.place)


def _require_times_alone(source: Source) -> None:
    """Raise InputError for a correction that says anything but times; empty cells say nothing."""
    known = {OPERATION, _id_field(source), *TIMES}
    for name, value in source.values.items():
        if name not in known and value is not None and value != "":
            raise InputError(
                f"a correction of {name!r}",
                expected=f"{' or '.join(TIMES)}, and nothing else",
                fix=OTHERWISE,
                where=source.at(name),
            )


def _id_field(source: Source) -> str:
    return next((name for name in ID_FIELDS if name in source.values), ID_FIELDS[0])


def _id(source: Source) -> str:
    name = _id_field(source)
    value = source.values.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(
            f"{value!r} is no id",
            expected="the id of a record, as text",
            fix="Name the record that is deleted or corrected.",
            where=source.at(name),
        )
    return value
