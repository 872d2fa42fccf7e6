"""Propose supersessions, take a person's decisions over as edges, and learn of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.authority.domains import Domain, load_domain
from argus.authority.edges import read_edges
from argus.authority.learning.config import AcceptConfig, ProposeConfig
from argus.authority.learning.files import (
    Decision,
    Proposal,
    edge_rows,
    read_proposals,
    write_proposals,
)
from argus.authority.learning.model import ProposalModel, fit_model, read_model
from argus.authority.learning.pairs import Clues, Pair, candidate_pairs
from argus.authority.learning.quality import quality
from argus.authority.learning.summary import (
    AcceptSummary,
    LearntSummary,
    ProposalSummary,
    accept_lines,
    learnt_lines,
    proposal_lines,
)
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.data.writing import write_jsonl
from argus.errors import InputError
from argus.jobs.result import Result

SHOWN = 3
"""Pieces of evidence that are written of a pair."""


@dataclass(frozen=True, repr=False)
class ProposalResult(Result):
    """Proposals, the surest first; they are in `file`, too."""

    file: Path
    summary: ProposalSummary
    proposals: list[Proposal]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from proposal_lines(self.summary)
        yield f"proposals: {self.file}"


@dataclass(frozen=True, repr=False)
class AcceptResult(Result):
    """Edges of reviewed proposals, in `file`."""

    file: Path
    summary: AcceptSummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from accept_lines(self.summary)
        yield f"edges: {self.file}"


@dataclass(frozen=True, repr=False)
class LearntResult(Result):
    """A model of reviewed proposals, in `file`."""

    file: Path
    summary: LearntSummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from learnt_lines(self.summary)
        yield f"model: {self.file}"


def propose_supersessions(
    records: Path | str | Sequence[Record],
    *,
    out: Path | str,
    config: ProposeConfig | None = None,
    rules: Path | str | None = None,
    clue_weights: Path | str | None = None,
    known: Path | str | None = None,
    labels: Path | str | None = None,
) -> ProposalResult:
    """Write the pairs of records of which one may supersede the other, the surest first, as CSV.

    rules: a domain that reads the records. clue_weights: as `learn_supersessions` wrote them, None
    for those that ship. known: edges that are known and not proposed again. labels: all true edges;
    every candidate is then decided by them, whatever its confidence, and confidences are measured.
    Of two records at most one direction is proposed. Raises InputError for records that cannot be
    read, and labels of other records.
    """
    config = config or ProposeConfig()
    domain = load_domain(rules) if rules is not None else Domain("records", ())
    several = domain.read(Path(records)) if isinstance(records, (str, Path)) else list(records)
    before = {(e.superseder, e.superseded) for e in read_edges(Path(known))} if known else set()
    gold = _labels(Path(labels), several) if labels is not None else None
    model = read_model(Path(clue_weights) if clue_weights is not None else None)
    candidates = candidate_pairs(several, similarity=config.similarity)
    sure = _confidences(candidates, model)
    least = config.least if gold is None else 0.0
    likely = {pair: p for pair, p in sure.items() if p >= least and pair not in before}
    ordered = sorted(likely, key=lambda pair: (-likely[pair], pair))
    by_id = {record.id: record for record in several}
    proposals = [_proposal(pair, candidates[pair], likely[pair], by_id, gold) for pair in ordered]
    write_proposals(Path(out), proposals)
    summary: ProposalSummary = {
        "records": len(several),
        "candidates": len(sure),
        "proposals": len(proposals),
        "known": len(before & sure.keys()),
        "least": least,
        "kinds": dict(Counter(p.kind for p in proposals).most_common()),
        "model": "shipped" if clue_weights is None else str(clue_weights),
        "untold": [clue for clue, n in model.values["told_by"].items() if not n],
        "quality": None if gold is None else quality(sure, gold),
    }
    return ProposalResult(Path(out), summary, proposals)


def _confidences(candidates: Mapping[Pair, Clues], model: ProposalModel) -> dict[Pair, float]:
    """Return the confidence of every pair; of a pair and its reverse, the surer one's alone."""
    values = model.confidences([clues.row() for clues in candidates.values()])
    sure = dict(zip(candidates, map(float, values), strict=True))
    return {
        (newer, older): p
        for (newer, older), p in sure.items()
        if (p, newer) >= (sure.get((older, newer), -1.0), older)
    }


def _labels(file: Path, records: Sequence[Record]) -> set[Pair]:
    known = {record.id for record in records}
    edges = read_edges(file)
    strange = next((e for e in edges if not {e.superseder, e.superseded} <= known), None)
    if strange is not None:
        raise InputError(
            f"{strange.superseder!r} over {strange.superseded!r}",
            expected=f"ids of the {len(known):,} records",
            fix="Give the labels of these records.",
            where=file,
        )
    return {(edge.superseder, edge.superseded) for edge in edges}


def _proposal(
    pair: Pair, clues: Clues, p: float, records: Mapping[str, Record], gold: set[Pair] | None
) -> Proposal:
    decision = Decision.UNDECIDED
    if gold is not None:
        decision = Decision.ACCEPT if pair in gold else Decision.REJECT
    newer, older = (records[id_] for id_ in pair)
    return Proposal(
        *pair, p, clues.kind, " | ".join(clues.evidence[:SHOWN]), decision,
        (newer.title, older.title), {clue: v for clue, v in clues.values.items() if v},
    )  # fmt: skip


def accept_proposals(
    file: Path | str, *, out: Path | str, config: AcceptConfig | None = None
) -> AcceptResult:
    """Write reviewed proposals as edges: superseder, superseded, rule, confidence, evidence.

    What a person accepted has confidence 1; undecided ones, where `config` takes them, have their
    own. Raises InputError where nothing is left, and for edges that make a cycle, with the chain.
    """
    config = config or AcceptConfig()
    proposals = read_proposals(Path(file))
    bound = config.undecided_from
    taken = [
        p for p in proposals
        if p.decision is Decision.ACCEPT
        or (p.decision is Decision.UNDECIDED and bound is not None and 0 < p.confidence >= bound)
    ]  # fmt: skip
    if not taken:
        raise InputError(
            f"none of {len(proposals):,} proposals is accepted",
            expected="accept in the column `decision` of at least one",
            fix="Decide them, or take sure ones undecided by --undecided-from.",
            where=Path(file),
        )
    _refuse_cycles(taken, Path(file))
    write_jsonl(Path(out), edge_rows(taken))
    counts = Counter(p.decision for p in proposals)
    return AcceptResult(Path(out), {
        "accepted": counts[Decision.ACCEPT],
        "rejected": counts[Decision.REJECT],
        "undecided": counts[Decision.UNDECIDED],
        "edges": len(taken),
    })  # fmt: skip


def _refuse_cycles(taken: Sequence[Proposal], file: Path) -> None:
    ids = dict.fromkeys(id_ for p in taken for id_ in p.pair)
    edges = [Edge(p.superseder, p.superseded) for p in taken]
    try:
        Authority([Record(id_, "document") for id_ in ids], edges=edges)
    except InputError as error:
        raise InputError(
            error.got, expected="supersessions that end somewhere",
            fix="Reject one of the chain.", where=file,
        ) from error  # fmt: skip


def learn_supersessions(files: Sequence[Path | str], *, out: Path | str) -> LearntResult:
    """Learn weights and calibration of reviewed proposals, of one file or several.

    Undecided ones tell nothing and are left out. Raises InputError without a pair of each decision.
    """
    proposals = [p for file in files for p in read_proposals(Path(file))]
    decided = [p for p in proposals if p.decision is not Decision.UNDECIDED]
    model = fit_model(
        [p.row for p in decided],
        [p.decision is Decision.ACCEPT for p in decided],
        [p.superseded for p in decided],
    )
    model.write(Path(out))
    undecided = len(proposals) - len(decided)
    summary: LearntSummary = {
        "files": len(files), "undecided": undecided, "model": model.values,
    }  # fmt: skip
    return LearntResult(Path(out), summary)
