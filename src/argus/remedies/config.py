"""Declare the settings of remedies: risk threshold, knowledge base, mentions, sentences.

They are the options of `argus research diagnose` and `tune apply expand`, `synthesize` and `blend`.
A document is at risk if an entity in it has a predicted reachability (RPS) below the threshold τ.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from argus.errors import InputError
from argus.knowledge.gazetteer import GazetteerConfig
from argus.llm.config import AcceptUnanswered, ChatConfig, LocalConfig, needs_model
from argus.settings import Doc, Ge, Interval, Option, Setting, check_settings, settings_of

TAU = 0.3  # predicted RPS below which an entity is at risk (ARGUS §5.1)
K_AUG = 2  # passages per entity (ARGUS §5.2)
NER = "ner"  # finds mentions in the paper (§D.1), as --mentions names it
NER_MODEL = "dslim/bert-base-NER"  # the model behind it
GAZETTEER, CAPITALS = "gazetteer", "capitals"
# Context check: least cosine of mention and passage. Namesakes fall below it. On hotpot100 it
# refuses 1% of the passages that bear the name, and results are the same from 0.3 to 0.7.
MIN_SIMILARITY = 0.5
COSINE = Interval(ge=-1, le=1)
Tau = Annotated[
    float, Interval(ge=0, le=1), Doc("Predicted RPS below this is at risk."), Option(("--tau",))
]
Preset = Annotated[
    Literal["paper", "robust"],
    Doc("robust, or paper: ARGUS §5, with mentions by NER unless --mentions says otherwise."),
]


@dataclass(frozen=True, kw_only=True)
class ExpandConfig:
    """Settings of an expansion. Options that are not given are the preset's.

    title_first: passages that bear the entity's name replace those that BM25 finds. min_similarity:
    cosine of mention and passage, each pooled over the name. None accepts every passage. With it,
    the most similar of several passages that bear the name are used, not the first. max_views: best
    similarity first. None has no cap. fit_window: cut the document so that the model reads the
    passage. skip_known: leave out passages that the document already contains.

    Attributes:
        k_aug: Passages per entity at risk.
        min_similarity: Context check: least cosine.
        max_views: Most expansions per document.
    """

    preset: Preset
    k_aug: Annotated[int, Ge(1)] = K_AUG
    title_first: bool = False
    min_similarity: Annotated[float | None, COSINE] = None
    max_views: Annotated[int | None, Ge(1)] = None
    fit_window: bool = False
    skip_known: bool = False

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings of a command: the preset, and the others unset."""
        named, *others = settings_of(cls)
        unset = (replace(setting, default=None, optional=True) for setting in others)
        return (replace(named, default=ROBUST.preset), *unset)

    @classmethod
    def from_options(cls, preset: Preset, **changes: int | float | None) -> ExpandConfig:
        """Return the preset of this name with the given settings changed."""
        settings: dict[str, Any] = {name: n for name, n in changes.items() if n is not None}
        return replace(PAPER if preset == PAPER.preset else ROBUST, preset=preset, **settings)


PAPER = ExpandConfig(preset="paper")
ROBUST = ExpandConfig(
    preset="robust", k_aug=1, title_first=True, min_similarity=MIN_SIMILARITY, max_views=1,
    fit_window=True, skip_known=True,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReferenceConfig:
    """The way to find entities, and the knowledge bases that describe them.

    kb: files or folders, read like a corpus. mentions: MODEL is a token-classification model or
    folder. "ner" uses the paper's, dslim/bert-base-NER. None is the gazetteer, or ner under the
    preset `paper`.

    Attributes:
        kb: Knowledge base (argus research kb build), or passages with titles that say what entities
            are; may be given again.
        mentions: gazetteer (default: names of the knowledge base), capitals, or ner:MODEL.
    """

    kb: Annotated[tuple[Path, ...], Option(repeated=True)] = ()
    mentions: Annotated[str | None, Option(panel="Mentions")] = None
    names: GazetteerConfig = field(default_factory=GazetteerConfig)

    def __post_init__(self) -> None:
        kind, colon, model = self.finder.partition(":")
        if not (kind == NER and model.strip() if colon else kind in (GAZETTEER, CAPITALS, NER)):
            raise InputError(
                f"{self.mentions!r}", expected="gazetteer, capitals, ner, or ner:MODEL",
                fix="Leave it out for gazetteer.", where="--mentions",
            )  # fmt: skip
        if self.finder == GAZETTEER and not self.kb:
            got = "no knowledge base for the gazetteer to take names from"
            expected = "--kb FILE, passages with titles"
            fix = "Give one, or find names without: --mentions capitals, or ner:MODEL."
            raise InputError(got, expected=expected, fix=fix, where="--kb")

    @property
    def finder(self) -> str:
        """The mention finder: `mentions`, or the gazetteer."""
        return GAZETTEER if self.mentions is None else self.mentions

    def under(self, preset: str) -> ReferenceConfig:
        """Return the configuration under a preset: `paper` finds mentions by NER by default."""
        if self.mentions is None and preset == PAPER.preset:
            return replace(self, mentions=NER)
        return self

    def described(self) -> dict[str, object]:
        """Return the configuration for a manifest."""
        paths = [str(path) for path in self.kb]
        return {"kb": paths, "mentions": self.finder, **asdict(self.names)}

    def inputs(self) -> dict[str, Path | None]:
        """Return the files of the knowledge bases, named for a manifest."""
        from argus.corpora.opening import open_corpus

        return {f"kb {i}": open_corpus(path).file or path for i, path in enumerate(self.kb, 1)}


@dataclass(frozen=True, kw_only=True)
class SynthesizeSettings:
    """Settings of a synthesis, with or without a language model.

    accept_unanswered: count documents without an answer as failed and do not ask again. Without it
    nothing is added until all are answered.

    Attributes:
        min_similarity: Context check without a model: least cosine.
    """

    preset: Preset = ROBUST.preset
    accept_unanswered: AcceptUnanswered = False
    min_similarity: Annotated[float | None, COSINE] = None

    def __post_init__(self) -> None:
        check_settings(self)

    def by(self, model: ChatConfig | LocalConfig | None) -> SynthesizeConfig:
        """Return the settings with the model that writes, or None for the knowledge base.

        Raises InputError for a setting that would change nothing.
        """
        if model is None and self.accept_unanswered:
            raise needs_model(["--accept-unanswered"])
        if model is not None and self.min_similarity is not None:
            raise InputError(
                "--min-similarity with --model",
                expected="one of them: a model is shown the passages and told to check the context",
                fix="Leave --min-similarity out.", where="--min-similarity",
            )  # fmt: skip
        config = SynthesizeConfig(
            model=model, accept_unanswered=self.accept_unanswered, preset=self.preset
        )
        least = self.min_similarity
        return config if least is None else replace(config, min_similarity=least)


@dataclass(frozen=True, kw_only=True)
class SynthesizeConfig(SynthesizeSettings):
    """Settings of a synthesis and the model that writes it.

    model: a language model, at an endpoint or on this machine. None inserts the knowledge base's
    own short descriptions. title_first: as for expansions. min_similarity: never None here.
    """

    model: ChatConfig | LocalConfig | None = None
    min_similarity: Annotated[float, COSINE] = MIN_SIMILARITY
    title_first: bool = True

    @property
    def lookup(self) -> ExpandConfig:
        """The preset by which passages are looked up: as in ARGUS §5.2, or by title first."""
        return ROBUST if self.title_first and self.preset != PAPER.preset else PAPER

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome, without secrets, pace and budget."""
        model = self.model
        settings: dict[str, object] = {
            "model": None if model is None else model.identity,
            "title_first": self.lookup.title_first,
        }
        if self.preset == PAPER.preset:
            settings["preset"] = self.preset
        if model is None:
            return settings | {"min_similarity": self.min_similarity}
        settings |= {"temperature": model.temperature, "extra": dict(model.extra)}
        return settings | ({"accept_unanswered": True} if self.accept_unanswered else {})


@dataclass(frozen=True, kw_only=True)
class SentenceSettings:
    """The limit of sentences that become views.

    Attributes:
        max_views: Most sentence views of a document; of more sentences, neighbours are joined.
    """

    max_views: Annotated[int, Ge(2)] = 100

    def __post_init__(self) -> None:
        check_settings(self)
