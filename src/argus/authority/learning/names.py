"""By what names records are called in texts, and where a text calls them.

Full names: a record's id, its title without a remark in brackets ("Brown v. Board (1)"), and the
values of its scope. Of a case's title ("Adkins v. Children's Hospital of D. C.") also the start
that tells it apart ("Adkins v. Children's"). Of a dotted id ("smtpd.MailmanProxy.run") also what
stands for it inside its containers ("run()" in smtpd). Short names: capitalised words of a title
("Bowers"); they count only beside words of supersession. A name that several other records share
is nobody's, but a short name is that of the one record among them that the text names in full.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argus.authority.records import Record
from argus.knowledge.names import is_whole_word, leftmost_longest, without_surrogates

LEAST = 4
"""Characters of a name."""
SHARED = 3
"""Most records that may have a name: one that says it, and one that is meant, may be among them."""
_REMARK = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
_VERSUS = re.compile(r"^.+? v\.? \S+")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_DOTTED = re.compile(r"[A-Za-z_]\w{0,99}(?:\.[A-Za-z_]\w{0,99})+")
_PLAIN = re.compile(r"[a-z]+|\d+|[A-Z][a-z]+")
"""What a word or a number alone looks like: as a full name it would stand everywhere."""
_INNER = re.compile(
    r"(?<![\w.])(?:(?<=`)|(?<=use )|(?<=Use )|(?<=by )|(?<=of ))?[A-Za-z_][\w.]*\w(?:\(\))?"
)
_CODE = re.compile(r"[._]|[a-z][A-Z]|\(\)$")


@dataclass(frozen=True, slots=True)
class Naming:
    """A place where a text calls a record. id: of that record; is_full: by a full name."""

    id: str
    start: int
    end: int
    is_full: bool


class RecordNames:
    """Finds the names of records in texts; case counts."""

    def __init__(self, records: Sequence[Record]) -> None:
        from ahocorasick_rs import AhoCorasick

        self._ids = {record.id for record in records}
        short = _owners((name, r.id) for r in records for name in _short_names(r))
        full = _owners((name, r.id) for r in records for name in full_names(r))
        self._owners = {name: (ids, name in full) for name, ids in (short | full).items()}
        self._names = list(self._owners)
        self._finder = AhoCorasick(self._names or ["\0"])

    def find(self, record: Record, text: str) -> list[Naming]:
        """Return where a text of a record calls others, in its order, none overlapping another."""
        text = without_surrogates(text)
        places = self._finder.find_matches_as_indexes(text, overlapping=True)
        matches = (m for m in places if is_whole_word(text, m[1], m[2]))
        namings = [*self._inner(record, text)]
        taken = {place for naming in namings for place in range(naming.start, naming.end)}
        unsure: list[tuple[set[str], int, int]] = []
        for number, start, end in leftmost_longest(matches):
            owners, is_full = self._owners[self._names[number]]
            others = owners - {record.id}
            if start in taken:
                continue
            if len(others) == 1 and len(owners) <= SHARED:
                namings.append(Naming(next(iter(others)), start, end, is_full))
            elif not is_full:
                unsure.append((others, start, end))
        named = {naming.id for naming in namings if naming.is_full}
        namings += [
            Naming(next(iter(owners & named)), start, end, False)
            for owners, start, end in unsure
            if len(owners & named) == 1
        ]
        return sorted(namings, key=lambda naming: naming.start)

    def _inner(self, record: Record, text: str) -> Iterator[Naming]:
        """Yield names that only count inside a container of a dotted id: its parent first."""
        if not _DOTTED.fullmatch(record.id):
            return
        parts = record.id.split(".")
        scopes = [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
        for match in _INNER.finditer(text):
            before = text[max(0, match.start() - 4) : match.start()].lower()
            if not (_CODE.search(match[0]) or before == "use " or before.endswith(("`", "'"))):
                continue
            name = match[0].removesuffix("()")
            places = [*(f"{scope}.{name}" for scope in scopes), name]
            place = next((place for place in places if place in self._ids), None)
            if place is not None and place != record.id:
                yield Naming(place, match.start(), match.end(), True)


def full_names(record: Record) -> Iterator[str]:
    """Yield the full names of a record."""
    title = _REMARK.sub("", record.title).strip()
    versus = _VERSUS.match(title)
    names = [record.id, title, *(value for key in record.scope for value in record.values(key))]
    names += [versus[0].rstrip(",;")] if versus else []
    yield from dict.fromkeys(n for n in names if len(n) >= LEAST and not _PLAIN.fullmatch(n))


def _short_names(record: Record) -> Iterator[str]:
    """Yield capitalised words of a title."""
    if not _DOTTED.fullmatch(record.id):
        words = _WORD.findall(_REMARK.sub("", record.title))
        yield from dict.fromkeys(w for w in words if len(w) >= LEAST and w[0].isupper())


def _owners(pairs: Iterator[tuple[str, str]]) -> dict[str, set[str]]:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name, id_ in pairs:
        owners[name].add(id_)
    return dict(owners)
