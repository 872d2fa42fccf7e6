"""The audits that are shown together: each is one retriever's, under a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError
from argus.retrievability.pair_table import FILE as PAIRS
from argus.retrievability.pair_table import read_pairs
from argus.retrievability.pairs import PairRanks
from argus.retrievability.probes.data import Audited, read_audit


@dataclass(frozen=True)
class AuditedRetriever:
    """What an audit measured of one retriever. Positions in `ranks` are those of its entities."""

    name: str
    folder: Path
    audited: Audited
    ranks: PairRanks


def read_retrievers(audits: Sequence[str | Path]) -> list[AuditedRetriever]:
    """Read audits, each as FOLDER or NAME=FOLDER, in their order.

    Without a name a retriever is called by its encoder, those of one encoder by their folders.
    Raises InputError where there is none, for a folder without an audit, and for a name twice.
    """
    if not audits:
        raise InputError(
            "no audit", expected="folders that argus audit wrote, one for each retriever",
            fix="For example: argus figures minilm/ BGE-M3=bge/ --out figures/.", where="AUDITS",
        )  # fmt: skip
    places = [_place(audit) for audit in audits]
    read = [read_audit(folder) for _, folder in places]
    encoders = [audited.fingerprint.split(" ")[0] for audited in read]
    uses = Counter(encoders)
    names = [
        name or (str(folder) if uses[encoder] > 1 else encoder)
        for (name, folder), encoder in zip(places, encoders, strict=True)
    ]
    if again := [name for name, n in Counter(names).items() if n > 1]:
        raise InputError(
            f"two retrievers of the name {again[0]!r}", expected="a name for each",
            fix="Give names: NAME=FOLDER.", where="AUDITS",
        )  # fmt: skip
    return [
        AuditedRetriever(name, folder, audited, _ranks(folder, audited.ids))
        for name, (_, folder), audited in zip(names, places, read, strict=True)
    ]


def _place(audit: str | Path) -> tuple[str, Path]:
    name, named, folder = str(audit).partition("=")
    if named and not Path(audit).is_dir():
        return name.strip(), Path(folder)
    return "", Path(audit)


def _ranks(folder: Path, ids: Sequence[str]) -> PairRanks:
    if not (folder / PAIRS).is_file():
        raise InputError(
            f"no {PAIRS} in it", expected="the ranks that argus audit wrote",
            fix="Run argus audit again with the same --out; what was embedded is kept.",
            where=folder,
        )  # fmt: skip
    return read_pairs(folder / PAIRS, ids)
