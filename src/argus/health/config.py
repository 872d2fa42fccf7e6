"""The parts of a set-up: the documents, their search, and facts about both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import ParentField, QrelsName
from argus.retrievers.config import NAMES, PANEL
from argus.settings import Doc, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class ProjectParts:
    """The parts of a set-up. A part that is None is not there, and is not tried."""

    corpus: Annotated[
        NamedCorpus | None, Doc("Where the documents are: a file, a folder or a store."),
        CorpusName(),
    ] = None  # fmt: skip
    retriever: Annotated[
        str | None, Doc(f"What searches them, where --encoder does not: {NAMES}."),
        Option(panel=PANEL),
    ] = None  # fmt: skip
    queries: Annotated[Path | None, Doc("Questions that are known.")] = None
    qrels: Annotated[Path | None, Doc("Which documents answer them."), QrelsName()] = None
    parent_field: ParentField = None

    def __post_init__(self) -> None:
        check_settings(self)
