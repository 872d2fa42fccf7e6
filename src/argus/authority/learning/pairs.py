"""Pairs that may supersede one another, with the clues for it and the words that show them.

Clues are numbers from 0 to 1. Pairs come from four sources: what a document says of another
(statements), whom it names without a word of supersession (citations), one title in two versions,
and near-duplicate texts. Whichever of the two is certainly earlier supersedes nothing, and of two
of one time neither does the other (Def. 1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from argus.authority.learning.duplicates import near_duplicates
from argus.authority.learning.names import Naming, RecordNames
from argus.authority.learning.statements import Statement, statements
from argus.authority.learning.versions import titled
from argus.authority.records import Record

CLUES = (
    "stated", "stated_short", "stated_by_older", "strong_cue", "near_cue", "doubt", "cited",
    "cited_often", "later", "newer_version", "same_title", "similar", "same_scope",
)  # fmt: skip
"""What each clue of a pair is called; see `Clues`."""
FAMILY = 30
"""Most records of one title: more are a series, such as minutes."""
SCOPE_SHARED = 20
"""Most records of a scope value that says something of a pair."""


@dataclass
class Clues:
    """The clues for one pair.

    stated: the superseder says so, by a full name of the superseded; stated_short: by a short name;
    stated_by_older: the superseded says it of the superseder. strong_cue: by a word that hardly
    says anything else ("overruled"). near_cue: 1 / (1 + words between cue
    and name). doubt: a word of doubt or dissent in every statement. cited: the superseder names the
    superseded; cited_often: more than once.
    later: its time is certainly later. newer_version: one title but for a higher number;
    same_title: one title, a later time. similar: Jaccard of shingles. same_scope: they share a
    scope value that few have, and that is not their title.
    """

    values: dict[str, float] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)

    def raise_to(self, clue: str, value: float) -> None:
        """Let a clue be at least this."""
        self.values[clue] = max(self.values.get(clue, 0.0), value)

    def row(self) -> list[float]:
        """Return all clues in the order of CLUES."""
        return [self.values.get(clue, 0.0) for clue in CLUES]

    @property
    def kind(self) -> str:
        """What shows it first, for a person."""
        names = {
            "stated": "stated", "stated_by_older": "stated", "stated_short": "stated by short name",
            "newer_version": "newer version", "similar": "near-duplicate",
            "same_title": "same title", "cited": "cited",
        }  # fmt: skip
        return next(kind for clue, kind in names.items() if self.values.get(clue))


Pair = tuple[str, str]
"""Superseder and superseded."""


def candidate_pairs(records: Sequence[Record], *, similarity: float) -> dict[Pair, Clues]:
    """Return all pairs that some clue speaks for, in the order of their ids.

    similarity: least Jaccard similarity of near-duplicates.
    """
    by_id = {record.id: record for record in records}
    pairs: defaultdict[Pair, Clues] = defaultdict(Clues)
    _read_texts(records, pairs)
    _compare_titles(records, pairs)
    _compare_texts(records, pairs, similarity)
    shared = _shared_scopes(records)
    result: dict[Pair, Clues] = {}
    for pair in sorted(pairs):
        newer, older = (by_id[id_] for id_ in pair)
        if not (_is_before(newer, older) or _are_of_one_time(newer, older)):
            clues = pairs[pair]
            clues.raise_to("later", float(_is_before(older, newer)))
            common = newer.entities & older.entities
            if any(e in shared and e[1] not in (newer.title, older.title) for e in common):
                clues.raise_to("same_scope", 1.0)
            result[pair] = clues
    return result


def _is_before(first: Record, second: Record) -> bool:
    if first.time is None or second.time is None:
        return False
    return first.time.before(second.time)


def _are_of_one_time(first: Record, second: Record) -> bool:
    return first.time is not None and first.time == second.time


def _read_texts(records: Iterable[Record], pairs: Mapping[Pair, Clues]) -> None:
    """Add what texts say and whom they name."""
    names = RecordNames(list(records))
    for record in records:
        text = f"{record.title}\n\n{record.text}" if record.title else record.text
        namings = names.find(record, text)
        full: defaultdict[str, int] = defaultdict(int)
        for naming in namings:
            full[naming.id] += naming.is_full
        for other, n in full.items():
            if n:
                clues = pairs[record.id, other]
                clues.raise_to("cited", 1.0)
                clues.raise_to("cited_often", float(n > 1))
        for statement in statements(text, namings):
            _add_statement(record, statement, pairs)
        _quote(record, text, namings, pairs)


def _add_statement(record: Record, statement: Statement, pairs: Mapping[Pair, Clues]) -> None:
    pair = (
        (record.id, statement.other) if statement.supersedes_other else (statement.other, record.id)
    )
    clues = pairs[pair]
    if not statement.is_full:
        clue = "stated_short"
    else:
        clue = "stated" if statement.supersedes_other else "stated_by_older"
    first = not any(clues.values.get(c) for c in ("stated", "stated_short", "stated_by_older"))
    clues.raise_to(clue, 1.0)
    clues.raise_to("strong_cue", float(statement.is_strong))
    clues.raise_to("near_cue", 1 / (1 + statement.gap))
    doubt = float(statement.has_doubt)
    clues.values["doubt"] = doubt if first else min(doubt, clues.values.get("doubt", 0.0))
    if statement.sentence not in clues.evidence:
        clues.evidence.append(statement.sentence)


def _quote(
    record: Record, text: str, namings: Sequence[Naming], pairs: Mapping[Pair, Clues]
) -> None:
    """Show a citation by the words around it, where nothing better is there."""
    for naming in namings:
        clues = pairs.get((record.id, naming.id))
        if clues is not None and naming.is_full and not clues.evidence:
            around = text[max(0, naming.start - 80) : naming.end + 80]
            clues.evidence.append(f"... {' '.join(around.split())} ...")


def _compare_titles(records: Iterable[Record], pairs: Mapping[Pair, Clues]) -> None:
    families: defaultdict[tuple[str, str], list[tuple[Record, tuple[int, ...]]]] = defaultdict(list)
    for record in records:
        parts = titled(record.title)
        if parts is not None:
            families[record.type, parts.stem].append((record, parts.numbers))
    for family in families.values():
        for newer, older, clue in _ordered(family) if 1 < len(family) <= FAMILY else ():
            clues = pairs[newer.id, older.id]
            clues.raise_to(clue, 1.0)
            clues.evidence.append(f"{older.title!r}, then {newer.title!r}")


def _ordered(
    family: Sequence[tuple[Record, tuple[int, ...]]],
) -> Iterator[tuple[Record, Record, str]]:
    """Yield newer and older of one title: by numbers where they differ, else by time."""
    for newer, numbers in family:
        for older, others in family:
            if numbers and others and numbers != others:
                if numbers > others:
                    yield newer, older, "newer_version"
            elif _is_before(older, newer):
                yield newer, older, "same_title"


def _compare_texts(
    records: Sequence[Record], pairs: Mapping[Pair, Clues], similarity: float
) -> None:
    for i, j, value in near_duplicates([record.text for record in records], similarity):
        for newer, older in ((records[i], records[j]), (records[j], records[i])):
            if _is_before(older, newer) or (newer.id, older.id) in pairs:
                clues = pairs[newer.id, older.id]
                clues.raise_to("similar", value)
                clues.evidence.append(f"{value:.0%} of their runs of words are the same")


def _shared_scopes(records: Iterable[Record]) -> set[tuple[str, str]]:
    """Return the scope values that several records have, and no crowd."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for record in records:
        for entity in record.entities:
            counts[entity] += 1
    return {entity for entity, n in counts.items() if 1 < n <= SCOPE_SHARED}
