"""What a repair is told: where entities are found, and how descriptions are written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from argus.errors import InputError
from argus.knowledge.config import GazetteerConfig
from argus.llm.config import AcceptUnanswered, ChatConfig
from argus.llm.local_config import LocalConfig
from argus.remedies.config import COSINE, MIN_SIMILARITY, PAPER, ROBUST, ExpandConfig
from argus.settings import Doc, Option, check_settings

if TYPE_CHECKING:
    from argus.remedies.repair.summary import ReferenceSettings, SynthesisSettings

GAZETTEER, CAPITALS, NER = "gazetteer", "capitals", "ner"


@dataclass(frozen=True, kw_only=True)
class ReferenceConfig:
    """Where entities are found and what is known of them.

    kb: files or folders, read as a corpus is. mentions: MODEL is a token-classification model or
    folder; "ner" alone takes the paper's, dslim/bert-base-NER.
    """

    kb: Annotated[
        tuple[Path, ...],
        Doc(
            "Knowledge base (argus kb build), or passages with titles that say what entities "
            "are; may be given again."
        ),
        Option(repeated=True),
    ] = ()
    mentions: Annotated[
        str,
        Doc("gazetteer (names of the knowledge base), capitals, or ner:MODEL."),
        Option(panel="Mentions"),
    ] = GAZETTEER
    names: GazetteerConfig = field(default_factory=GazetteerConfig)

    def __post_init__(self) -> None:
        kind, colon, model = self.mentions.partition(":")
        if not (kind == NER and model.strip() if colon else kind in (GAZETTEER, CAPITALS, NER)):
            raise InputError(
                f"{self.mentions!r}",
                expected="gazetteer, capitals, ner, or ner:MODEL",
                fix="Leave it out for gazetteer.",
                where="--mentions",
            )
        if self.mentions == GAZETTEER and not self.kb:
            raise InputError(
                "no knowledge base for the gazetteer to take names from",
                expected="--kb FILE, passages with titles",
                fix="Give one, or find names without: --mentions capitals, or ner:MODEL.",
                where="--kb",
            )

    def described(self) -> ReferenceSettings:
        """Return the configuration for a manifest."""
        return {
            "kb": [str(path) for path in self.kb],
            "mentions": self.mentions,
            "ignore_case": self.names.ignore_case,
            "min_length": self.names.min_length,
            "common_words": self.names.common_words,
        }

    def inputs(self) -> dict[str, Path | None]:
        """Return the files of the knowledge bases, named for a manifest."""
        from argus.corpora.opening import corpus_file

        return {f"kb {i}": corpus_file(path) for i, path in enumerate(self.kb, 1)}


@dataclass(frozen=True, kw_only=True)
class SynthesizeSettings:
    """How descriptions are written, whoever writes them.

    accept_unanswered: documents without an answer count as failed and are not asked for again;
    without it nothing is added until all are answered.
    """

    accept_unanswered: AcceptUnanswered = False
    min_similarity: Annotated[
        float | None, COSINE, Doc("Context check without a model: least cosine.")
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)

    def by(self, model: ChatConfig | LocalConfig | None) -> SynthesizeConfig:
        """Return how this model writes descriptions, or the knowledge base does without one."""
        config = SynthesizeConfig(model=model, accept_unanswered=self.accept_unanswered)
        if self.min_similarity is None:
            return config
        return replace(config, min_similarity=self.min_similarity)


@dataclass(frozen=True, kw_only=True)
class SynthesizeConfig(SynthesizeSettings):
    """How descriptions are written, and who writes them.

    model: a language model, at an endpoint or on this machine; None takes the knowledge base's own
    short descriptions. title_first: as for expansions. min_similarity: never None here.
    """

    model: ChatConfig | LocalConfig | None = None
    min_similarity: Annotated[float, COSINE] = MIN_SIMILARITY
    title_first: bool = True

    @property
    def lookup(self) -> ExpandConfig:
        """How passages are looked up: as ARGUS §5.2 does, or by title first."""
        return ROBUST if self.title_first else PAPER

    def described(self) -> SynthesisSettings:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        model = self.model
        if model is None:
            return {
                "model": None,
                "title_first": self.title_first,
                "min_similarity": self.min_similarity,
            }
        settings: SynthesisSettings = {
            "model": model.identity,
            "title_first": self.title_first,
            "temperature": model.temperature,
            "extra": dict(model.extra),
        }
        if self.accept_unanswered:
            settings["accept_unanswered"] = True
        return settings
