"""Settings of a search by n-grams and its outputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from argus.generative.decode.settings import Decoding
from argus.generative.settings import Mode, Scoring
from argus.settings import Doc, Ge, Option, check_settings

if TYPE_CHECKING:
    from argus.generative.jobs.summary import SearchSettings


class Format(StrEnum):
    """A file of results."""

    DPR = "dpr"
    KILT = "kilt"
    TREC = "trec"


@dataclass(frozen=True, kw_only=True)
class NgramSearchConfig:
    """Settings of a search and its outputs."""

    model: Annotated[
        Path | None,
        Doc("Folder of a seq2seq model, as argus research generative train writes it."),
    ] = None
    mode: Annotated[Mode, Doc("seal (titles and texts) or minder (pseudo-queries, too).")] = (
        Mode.SEAL
    )
    k: Annotated[int, Ge(1), Doc("How many passages.")] = 100
    decoding: Decoding = field(default_factory=Decoding)
    scoring: Scoring = field(default_factory=Scoring)
    formats: Annotated[
        tuple[Format, ...], Doc("Of the results: dpr, kilt, trec."), Option(("--format",))
    ] = tuple(Format)
    compact: Annotated[bool, Doc("DPR JSON with one line per question, not indented.")] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def described(self) -> SearchSettings:
        """Return all that decides an answer, as plain values, except the model."""
        return {
            "mode": str(self.mode),
            "k": self.k,
            "decoding": asdict(self.decoding),
            "scoring": asdict(self.scoring),
        }
