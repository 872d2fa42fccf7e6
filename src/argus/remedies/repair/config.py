"""What a repair is told: where entities are found, and how descriptions are written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from argus.errors import InputError
from argus.knowledge.config import GazetteerConfig
from argus.llm.config import AcceptUnanswered, ChatConfig, LocalConfig
from argus.remedies.config import (
    COSINE,
    MIN_SIMILARITY,
    PAPER,
    ROBUST,
    ExpandConfig,
    Preset,
    check_preset,
)
from argus.remedies.paper import NER, is_paper
from argus.settings import Doc, Option, check_settings

if TYPE_CHECKING:
    from argus.remedies.repair.summary import ReferenceSettings, SynthesisSettings

GAZETTEER, CAPITALS = "gazetteer", "capitals"


@dataclass(frozen=True, kw_only=True)
class ReferenceConfig:
    """Where entities are found and what is known of them.

    kb: files or folders, read as a corpus is. mentions: MODEL is a token-classification model or
    folder; "ner" alone takes the paper's, dslim/bert-base-NER. None is the gazetteer, and under the
    preset `paper` ner.
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
        str | None,
        Doc("gazetteer (default: names of the knowledge base), capitals, or ner:MODEL."),
        Option(panel="Mentions"),
    ] = None
    names: GazetteerConfig = field(default_factory=GazetteerConfig)

    def __post_init__(self) -> None:
        kind, colon, model = self.finder.partition(":")
        if not (kind == NER and model.strip() if colon else kind in (GAZETTEER, CAPITALS, NER)):
            raise InputError(
                f"{self.mentions!r}",
                expected="gazetteer, capitals, ner, or ner:MODEL",
                fix="Leave it out for gazetteer.",
                where="--mentions",
            )
        if self.finder == GAZETTEER and not self.kb:
            raise InputError(
                "no knowledge base for the gazetteer to take names from",
                expected="--kb FILE, passages with titles",
                fix="Give one, or find names without: --mentions capitals, or ner:MODEL.",
                where="--kb",
            )

    @property
    def finder(self) -> str:
        """What finds mentions: as `mentions` says, else the gazetteer."""
        return GAZETTEER if self.mentions is None else self.mentions

    def under(self, preset: str) -> ReferenceConfig:
        """Return what a preset takes where nothing else is said: the paper's finds by NER."""
        if self.mentions is None and is_paper(preset):
            return replace(self, mentions=NER)
        return self

    def described(self) -> ReferenceSettings:
        """Return the configuration for a manifest."""
        return {
            "kb": [str(path) for path in self.kb],
            "mentions": self.finder,
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

    preset: Preset = ROBUST.preset
    accept_unanswered: AcceptUnanswered = False
    min_similarity: Annotated[
        float | None, COSINE, Doc("Context check without a model: least cosine.")
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)
        check_preset(self.preset)

    def by(self, model: ChatConfig | LocalConfig | None) -> SynthesizeConfig:
        """Return how this model writes descriptions, or the knowledge base does without one."""
        config = SynthesizeConfig(
            model=model, accept_unanswered=self.accept_unanswered, preset=self.preset
        )
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
    def label(self) -> str:
        """Who writes, as the id of the remedy says it."""
        return "descriptions" if self.model is None else "llm"

    @property
    def lookup(self) -> ExpandConfig:
        """How passages are looked up: as ARGUS §5.2 does, or by title first."""
        return ROBUST if self.title_first and not is_paper(self.preset) else PAPER

    def described(self) -> SynthesisSettings:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        model = self.model
        settings: SynthesisSettings = {
            "model": None if model is None else model.identity,
            "title_first": self.lookup.title_first,
        }
        if is_paper(self.preset):
            settings["preset"] = self.preset
        if model is None:
            return settings | {"min_similarity": self.min_similarity}
        settings |= {"temperature": model.temperature, "extra": dict(model.extra)}
        if self.accept_unanswered:
            settings["accept_unanswered"] = True
        return settings
