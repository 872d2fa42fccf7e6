"""Groups of options that several commands share, each a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from argus.cli.model_options import LanguageModel, needs_model
from argus.settings import Doc, Ge, Option

if TYPE_CHECKING:
    from argus.remedies.repair.reference import ReferenceConfig

__all__ = ["Entities", "LanguageModel", "needs_model"]


@dataclass(frozen=True, kw_only=True)
class Entities:
    """Options that say where entities are found and what is known of them."""

    kb: Annotated[
        list[Path] | None,
        Doc(
            "Knowledge base (argus kb build), or passages with titles that say what entities "
            "are; may be given again."
        ),
    ] = None
    mentions: Annotated[
        str,
        Doc("gazetteer (names of the knowledge base), capitals, or ner:MODEL."),
        Option(panel="Mentions"),
    ] = "gazetteer"
    ignore_case: Annotated[
        bool,
        Doc("Names in any case."),
        Option(panel="Mentions"),
    ] = False
    common_words: Annotated[
        bool,
        Doc("Also one-word names that occur in lower case."),
        Option(panel="Mentions"),
    ] = False
    min_length: Annotated[
        int,
        Ge(1),
        Doc("Shorter names are left out."),
        Option(panel="Mentions"),
    ] = 3

    def reference(self) -> ReferenceConfig:
        """Return what a diagnosis or a remedy is told by."""
        from argus.knowledge.config import GazetteerConfig
        from argus.remedies.repair.reference import ReferenceConfig

        names = GazetteerConfig(
            ignore_case=self.ignore_case,
            min_length=self.min_length,
            common_words=self.common_words,
        )
        return ReferenceConfig(kb=tuple(self.kb or ()), mentions=self.mentions, names=names)
