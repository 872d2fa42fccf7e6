"""`argus authority propose`, `accept`: suggest which record supersedes which, for review.

`propose_supersessions`: records -> a CSV of pairs with their evidence: sentences that say so
("overrules X", "deprecated, use Y"), titles that differ in a version alone, titles that come again
at a later time. A person writes `accept` or `reject` beside each pair. `accept_proposals`: that CSV
-> edges, which all `argus authority` commands read.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from argus.authority.domains import Domain, load_domain
from argus.authority.opening import authority_of, read_edges
from argus.authority.rules import Edge, Record, located
from argus.data.rows import id_value, pick_field, read_rows, text_value
from argus.data.tables import as_written, harmless
from argus.data.writing import replacing, write_jsonl
from argus.errors import InputError
from argus.jobs.result import Result
from argus.knowledge.names import is_whole_word, leftmost_longest, without_surrogates
from argus.settings import Option, Writes

Pair = tuple[str, str]  # superseder and superseded
KINDS = ("stated", "stated with doubt", "newer version", "same title")
DOUBT = 1  # rank of the last kind that a text states
COLUMNS = ("decision", "superseder", "superseded", "kind", "evidence",
           "superseder_title", "superseded_title")  # fmt: skip
DECISIONS = ("", "accept", "reject")
MAX_EVIDENCE = 500  # characters of a cell
MAX_PIECES = 3  # pieces of evidence of a pair
MAX_TITLES = 30  # records of one title: more are a series, such as minutes
MIN_NAME = 4  # characters of a name
MIN_STEM = 6  # letters that identify a title without its version
MAX_GAP = 25  # words between a cue and a name that still belong together


class Proposal(NamedTuple):
    """A pair of records of which the first may supersede the second, with the evidence."""

    superseder: str
    superseded: str
    kind: str
    evidence: str
    decision: str = ""
    titles: tuple[str, str] = ("", "")


@dataclass(frozen=True, repr=False)
class ProposalResult(Result):
    """Proposals, strongest evidence first, or those a person accepted. `file` holds them, too.

    summary: of proposing, records that were read, proposals, known (pairs that were left out, as an
    edge holds them already) and kinds (proposals by their strongest kind of evidence). Of
    accepting, accepted, rejected and undecided: proposals by decision.
    """

    file: Path
    summary: dict[str, Any]
    proposals: list[Proposal]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        counts = {name: n for name, n in self.summary.items() if name != "kinds"}
        yield ", ".join(f"{n:,} {name}" for name, n in counts.items())
        if kinds := self.summary.get("kinds"):
            yield f"by their evidence: {', '.join(f'{n:,} {kind}' for kind, n in kinds.items())}"
        yield f"written: {self.file}"


def propose_supersessions(
    records: Path | str | Sequence[Record],
    *,
    out: Annotated[
        Path | str, Option(("--to",)), Writes(marks=("decision,superseder,superseded,kind,",))
    ],
    rules: Annotated[Path | str | None, Option(is_name=True)] = None,
    known: Path | None = None,
) -> ProposalResult:
    """Propose which record supersedes which, from texts, titles and dates, with the evidence.

    Evidence is a word of supersession beside a name ("overruled X", "deprecated, use X"), and one
    title in two versions or at two times. Write accept or reject into the column
    `decision`, then run argus authority accept.

    rules: a domain that reads the records. Of two records at most one direction is proposed: a
    record that is certainly earlier supersedes nothing, and neither of two records of one time
    supersedes the other (CAR Def. 1). Raises InputError for records that cannot be read.

    Args:
        records: Documents with type, time and scope: a file or a folder.
        out: CSV file for the proposals, to be reviewed.
        rules: RULES.yaml, or a domain that ships, which reads the records.
        known: Edges of supersessions that are known, and not proposed again.
    """
    domain = load_domain(rules) if rules is not None else Domain("records", ())
    corpus = domain.read(Path(records)) if isinstance(records, (str, Path)) else list(records)
    edges = {(e.superseder, e.superseded) for e in read_edges(Path(known))} if known else set()
    found = find_evidence(corpus)
    titles = {record.id: record.title for record in corpus}
    proposals = [
        Proposal(*pair, kind, " | ".join(pieces), titles=(titles[pair[0]], titles[pair[1]]))
        for pair, (kind, pieces) in found.items()
        if pair not in edges
    ]
    # No cell is a formula
    with replacing(Path(out)) as whole, whole.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for p in proposals:
            cells = (p.superseder, p.superseded, p.kind, p.evidence[:MAX_EVIDENCE], *p.titles)
            writer.writerow([p.decision, *map(harmless, cells)])
    summary = {
        "records": len(corpus),
        "proposals": len(proposals),
        "known": len(edges & found.keys()),
        "kinds": dict(Counter(p.kind for p in proposals).most_common()),
    }
    return ProposalResult(Path(out), summary, proposals)


def accept_proposals(
    file: Annotated[Path | str, Option(argument="PROPOSALS")],
    *,
    out: Annotated[
        Path | str,
        Option(("--to",)),
        Writes(marks=('"superseder": ', '"superseded": ', '"rule": ', '"evidence": ')),
    ],
) -> ProposalResult:
    """Write the accepted ones of PROPOSALS as edges with their evidence, for --edges.

    Edges that make a cycle are refused.

    Raises InputError for a bad decision, a repeated pair, where no proposal is accepted, and for
    edges that make a cycle, with the chain.

    Args:
        file: Reviewed proposals.
        out: JSONL file for the edges.
    """
    proposals: dict[Pair, Proposal] = {}
    for row in read_rows(Path(file)):
        pick_field(row, ["decision"], what="decision")
        decision = text_value(row, "decision").strip().lower()
        if decision not in DECISIONS:
            expected, fix = "accept, reject, or nothing", "Write one of them, or leave it empty."
            got, where = f"decision {decision!r}", row.at("decision")
            raise InputError(got, expected=expected, fix=fix, where=where)
        newer, older = (
            as_written(id_value(row, pick_field(row, [name], what=name), coerce=True))
            for name in ("superseder", "superseded")
        )
        if (newer, older) in proposals:
            got, fix = f"{newer!r} over {older!r} comes twice", "Remove one of the two."
            raise InputError(got, expected="one row per pair", fix=fix, where=row.at())
        kind, evidence, *titles = (as_written(text_value(row, name)) for name in COLUMNS[3:])
        proposals[newer, older] = Proposal(
            newer, older, kind, evidence, decision, (titles[0], titles[1])
        )
    accepted = [p for p in proposals.values() if p.decision == "accept"]
    if not accepted:
        got = f"none of {len(proposals):,} proposals is accepted"
        expected = "accept in the column `decision` of at least one"
        raise InputError(got, expected=expected, fix="Decide them first.", where=Path(file))
    with located(Path(file)):
        authority_of([Edge(p.superseder, p.superseded) for p in accepted])
    rows: Iterator[dict[str, object]] = (
        {"superseder": p.superseder, "superseded": p.superseded, "rule": f"{p.kind}, accepted",
         "confidence": 1.0, "evidence": p.evidence}
        for p in accepted
    )  # fmt: skip
    write_jsonl(Path(out), rows)
    counts = Counter(p.decision for p in proposals.values())
    names = {"accepted": "accept", "rejected": "reject", "undecided": ""}
    summary = {name: counts[decision] for name, decision in names.items()}
    return ProposalResult(Path(out), summary, accepted)


def find_evidence(records: Sequence[Record]) -> dict[Pair, tuple[str, list[str]]]:
    """Return the strongest kind and the pieces of evidence of each pair, strongest pair first."""
    by_id = {record.id: record for record in records}
    found: defaultdict[Pair, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    texts = [without_surrogates(f"{r.title}\n\n{r.text}" if r.title else r.text) for r in records]
    named = find_namings(records, zip(records, texts, strict=True))
    for record, text, namings in zip(records, texts, named, strict=True):
        for other, forward, doubt, sentence in find_statements(text, namings):
            pair = (record.id, other) if forward else (other, record.id)
            found[pair]["stated with doubt" if doubt else "stated"].append(sentence)
    families: defaultdict[Pair, list[tuple[Record, tuple[int, ...]]]] = defaultdict(list)
    for record in records:
        stem, numbers = split_title(record.title)
        if len(stem) >= MIN_STEM:
            families[record.type, stem].append((record, numbers))
    for family in families.values():  # one title: by version numbers where they differ, or time
        alike = permutations(family, 2) if len(family) <= MAX_TITLES else ()
        for (newer, numbers), (older, others) in alike:
            if numbers and others and numbers != others:
                kind = "newer version" if numbers > others else ""
            else:
                is_later = older.time and newer.time and older.time.before(newer.time)
                kind = "same title" if is_later else ""
            if kind:
                found[newer.id, older.id][kind].append(f"{older.title!r}, then {newer.title!r}")
    ranked = {
        pair: next(rank for rank, kind in enumerate(KINDS) if kind in kinds)
        for pair, kinds in found.items()
        if not (later := by_id[pair[0]].time)
        or not (earlier := by_id[pair[1]].time)
        or not (later == earlier or later.before(earlier))  # CAR Def. 1
    }
    above: defaultdict[str, set[str]] = defaultdict(set)  # of one title: the next alone
    for pair in (pair for pair, rank in ranked.items() if rank > DOUBT):
        above[pair[1]].add(pair[0])
    result: dict[Pair, tuple[str, list[str]]] = {}
    for pair in sorted(ranked, key=lambda pair: (ranked[pair], pair)):
        back = ranked.get((pair[1], pair[0]), len(KINDS))
        skips = ranked[pair] > DOUBT and any(pair[0] in above[one] for one in above[pair[1]])
        if not skips and (-ranked[pair], pair[0]) >= (-back, pair[1]):
            pieces = [text for kind in KINDS for text in dict.fromkeys(found[pair].get(kind, ()))]
            result[pair] = KINDS[ranked[pair]], pieces[:MAX_PIECES]
    return result


_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(
    rf"\b(?:(?:{_MONTHS})\s+)?(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b|\b(?:{_MONTHS})\b", re.I
)
_VERSION = re.compile(
    r"\b(?:version|ver|v|revision|rev|edition|release|draft|r)?[.\s_-]*(\d+(?:\.\d+)*)"
    r"(?:st|nd|rd|th)?(?:\s+(?:edition|revision|draft))?\b",
    re.I,
)


def split_title(title: str) -> tuple[str, tuple[int, ...]]:
    """Return a title without dates and versions, in lower case, and the numbers in it."""
    numbers = tuple(map(int, re.findall(r"\d{1,18}", title)))
    bare = _VERSION.sub(" ", _DATE.sub(" ", title))
    return re.sub(r"[\W_]+", " ", bare).strip().lower(), numbers


class Naming(NamedTuple):
    """A place where a text names a record. is_full: by its id, its title or a scope value."""

    id: str
    start: int
    end: int
    is_full: bool


_REMARK = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
_VERSUS = re.compile(r"^.+? v\.? \S+")
_PLAIN = re.compile(r"[a-z]+|\d+|[A-Z][a-z]+")  # a word that would be found everywhere


def find_namings(
    records: Sequence[Record], texts: Iterable[tuple[Record, str]]
) -> Iterator[list[Naming]]:
    """Yield the places where each text, of a record, names other records. None overlap.

    Case counts. Full names are the id, the title without a remark in brackets, the start of a
    case's title ("Adkins v. Children's") and the values of the scope, numbers with their key ("PEP
    8", "KEP-1872"). Short names are capitalised words of a title. A name that several other records
    share names none of them, except a short name of the one record among them that the text also
    names in full.
    """
    from ahocorasick_rs import AhoCorasick

    full: defaultdict[str, set[str]] = defaultdict(set)
    short: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        title = _REMARK.sub("", record.title).strip()
        versus = _VERSUS.match(title)
        values = [value for _, value in record.entities]
        values += [k.upper() + m + v for k, v in record.entities for m in " -" if v.isdecimal()]
        for name in (record.id, title, *values, versus[0].rstrip(",;") if versus else ""):
            if len(name) >= MIN_NAME and not _PLAIN.fullmatch(name):
                full[name].add(record.id)
        for word in re.findall(r"[^\W\d_][\w'’-]*", title):
            if len(word) >= MIN_NAME and word[0].isupper():
                short[word].add(record.id)
    owners = list((short | full).items())
    finder = AhoCorasick([name for name, _ in owners] or ["\0"])
    for record, text in texts:
        places = finder.find_matches_as_indexes(text, overlapping=True)
        namings: list[Naming] = []
        ambiguous: list[tuple[set[str], int, int]] = []
        for number, start, end in leftmost_longest(
            match for match in places if is_whole_word(text, match[1], match[2])
        ):
            name, ids = owners[number]
            others = ids - {record.id}
            if len(others) == 1:
                namings.append(Naming(next(iter(others)), start, end, name in full))
            elif name not in full:
                ambiguous.append((others, start, end))
        named = {naming.id for naming in namings if naming.is_full}
        namings += [
            Naming(next(iter(ids & named)), start, end, False)
            for ids, start, end in ambiguous
            if len(ids & named) == 1
        ]
        yield sorted(namings, key=lambda naming: naming.start)


_END = re.compile(
    r"""(?<!\bv)(?<!\bvs)(?<!\bNo)(?<!\b[A-Z])(?<!\be\.g)(?<!\bi\.e)[.!?]["'”’)\]*]*\s+"""
    r"""(?=["'“‘(\[`*]*[A-Z0-9_])|\n\s*(?:\n|[-*•#>]\s)|[*•]\s(?=[A-Z0-9*_`])"""
)  # a full stop after "v", "No" or an initial ends no sentence
_STRONG = "overrul|supersed|supersess|obsolet|repeal|rescind|abrogat|deprecat|superannuat"
_WEAK = "overturn|replac|withdr[ae]w|revok|annul|retract|invalidat|discontinu|displac"
_PHRASES = r"\bno longer (?:good|valid|in force|current)\b|\bin place of\b|\binstead\b"
_CUE = re.compile(rf"\b(?P<strong>(?:{_STRONG})[a-z]*)\b|\b(?:{_WEAK})[a-z]*\b|{_PHRASES}", re.I)
_BY = re.compile(
    r"\W{0,20}(?:in\s+)?(?:\S{1,60}\s+){0,4}?(?:by|in\s+favou?r\s+of|with|(?:please\s+)?(?:use|see)(?:\s+of)?)"
    r"\s+(?:the\s+|our\s+|its\s+)?[`'\"*]*\.?$",
    re.I,
)
_USE = re.compile(
    r"\b(?:use|using|see|prefer)\s+(?:the\s+)?(?:\S+(?:,|\s+(?:or|and|with))\s+)*[`'\"*]*\.?$", re.I
)
_PASSIVE = re.compile(r"(?:ed|n|ete)$", re.I)
_BEING = re.compile(r"\b(?:is|are|was|were|be|been|being|effectively|hereby)\W+$", re.I)
_OF = re.compile(r"(?<!\s)\s+of\s+(?:the\s+)?[`'\"*]*\.?$", re.I)
_DOUBT = re.compile(
    r"\b(?:dissent\w*|declin\w*|refus\w*|should|would|could|may|might|whether|ask\w*|argu\w*|urg\w*|"
    r"not|never|without|unless|oppos\w*|contend\w*|claim\w*|propos\w*|reconsider\w*)\b",
    re.I,
)


def find_statements(text: str, namings: Sequence[Naming]) -> Iterator[tuple[str, bool, bool, str]]:
    """Yield the supersessions that a text states, one per sentence and name.

    Each is the id of the other record, True where the speaker supersedes it and False for the
    reverse, True where a word of doubt stands before the cue, and the sentence. A short name counts
    where the text names the record in full, too, or where it directly follows a strong cue.
    """
    named = {naming.id for naming in namings if naming.is_full}
    ends = [match.end() for match in _END.finditer(text)]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        inside = [n for n in namings if start <= n.start and n.end <= end]
        cues = list(_CUE.finditer(text, start, end)) if inside else []
        cues = [cue for cue in cues if cue["strong"]] or cues
        for naming in inside if cues else ():
            apart = [cue for cue in cues if cue.end() <= naming.start or naming.end <= cue.start()]
            between = (text[c.end() : naming.start] or text[naming.end : c.start()] for c in apart)
            gaps = [len(words.split()) for words in between]
            gap = min(gaps, default=MAX_GAP)
            if gap >= MAX_GAP:
                continue
            cue = apart[gaps.index(gap)]
            if naming.id not in named and not (cue["strong"] and not gap):
                continue
            forward = _read_direction(text, start, cue, naming)
            if forward is not None:
                doubt = _DOUBT.search(text, start, cue.start()) is not None
                yield naming.id, forward, doubt, " ".join(text[start:end].split())


def _read_direction(text: str, start: int, cue: re.Match[str], naming: Naming) -> bool | None:
    """Return True where the speaker supersedes the named record, and False for the reverse.

    None where the sentence is about something else: "instead of raising X", "X, which overruled Y".
    """
    word = cue[0].lower()
    if cue.end() <= naming.start:
        between = text[cue.end() : naming.start]
        if word in ("instead", "in place of"):
            if word == "in place of" or _OF.fullmatch(between):
                return True
            return False if _USE.search(between) else None
        by = _BY.fullmatch(between) or _USE.search(between)
        return not (by and _PASSIVE.search(word))
    if word == "instead":
        return False if _USE.search(text[start : naming.start]) else None
    if word == "in place of":
        return None
    is_passive = word.startswith("no longer") or _BEING.search(text[naming.end : cue.start()])
    return True if is_passive else None
