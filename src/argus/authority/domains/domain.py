"""Domains: a file that says how records are read and what supersedes what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path

from argus.authority.domains.columns import record_of_columns
from argus.authority.domains.shapes import make_record, matches
from argus.authority.domains.sources import Source, read_sources
from argus.authority.domains.spec import ShapeSpec
from argus.authority.records import Record
from argus.authority.rules import Rule
from argus.data.fields import FieldPath
from argus.errors import InputError


@dataclass(frozen=True)
class Domain:
    """How the records of a domain are read, and its rules.

    shapes: what records are made of a source object, each where it matches; None reads the usual
    columns. zone: of times that name none. results: where JSON files hold the objects. skip: pass
    over objects that no shape matches. dates: further forms of dates, as `strptime` has them.
    """

    name: str
    rules: tuple[Rule, ...]
    shapes: tuple[ShapeSpec, ...] | None = None
    zone: tzinfo = UTC
    results: FieldPath | None = None
    skip: bool = False
    dates: tuple[str, ...] = ()

    def read(self, path: Path, *, limit: int | None = None) -> list[Record]:
        """Read the first `limit` records of a file or folder, in the order of the files.

        Records without a time or a scope key are let in; rules that need it pass them over. Raises
        InputError naming file, line or place, and field for missing and broken files, an object
        that matches no shape, fields of the wrong kind, two records of one id, and no record.
        """
        first: dict[str, Source] = {}
        records = []
        for source, record in islice(self._records(path), limit):
            if record.id in first:
                raise InputError(
                    f"id {record.id!r} was already given at {first[record.id].at()}",
                    expected="one record per id",
                    fix="Remove or rename one of the two.",
                    where=source.at(),
                )
            first[record.id] = source
            records.append(record)
        if not records:
            raise InputError(
                "no record in it",
                expected=f"at least one record of the domain {self.name!r}",
                fix="Check that this is the right file and the right domain.",
                where=path,
            )
        return records

    def _records(self, path: Path) -> Iterator[tuple[Source, Record]]:
        for source in read_sources(path, self.results):
            yield from ((source, record) for record in records_of(self, source))


def records_of(domain: Domain, source: Source) -> Iterator[Record]:
    """Yield the records of one source object; InputError as `Domain.read`."""
    if domain.shapes is None:
        typed = bool(domain.rules)
        yield record_of_columns(source, domain.zone, typed=typed, forms=domain.dates)
        return
    matching = [shape for shape in domain.shapes if matches(shape, source)]
    if not matching and not domain.skip:
        raise _unmatched(domain, source, domain.shapes)
    for shape in matching:
        yield make_record(shape, source, domain.zone, domain.dates)


def _unmatched(domain: Domain, source: Source, shapes: tuple[ShapeSpec, ...]) -> InputError:
    tests = dict.fromkeys(", ".join(map(repr, shape.when)) for shape in shapes)
    return InputError(
        f"no record shape of {domain.name!r} matches an object with "
        f"{', '.join(map(repr, source.values)) or 'no fields'}",
        expected=f"what `when` asks for: {'; or '.join(tests)}",
        fix="Give another domain or file, or write `unmatched: skip` in the domain file.",
        where=source.at(),
    )
