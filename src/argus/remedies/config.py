"""How documents are expanded: the settings of an expansion, and the presets that name them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from argus.errors import InputError
from argus.settings import Doc, Ge, Interval, Setting, check_settings, settings_of

K_AUG = 2
"""Passages per entity (ARGUS §5.2)."""
COSINE = Interval(ge=-1, le=1)
Preset = Annotated[
    str,
    Doc("robust, or paper: ARGUS §5, with mentions by NER unless --mentions says otherwise."),
]
"""As expansion and synthesis declare it."""
MIN_SIMILARITY = 0.5
"""Context check: least cosine of mention and passage. Namesakes fall below it; on hotpot100 it
refuses 1% of what bears the name, and results are the same from 0.3 to 0.7."""


@dataclass(frozen=True, kw_only=True)
class ExpandConfig:
    """How documents are expanded. Options that are not given are the preset's.

    title_first: passages that bear the entity's name come before those that BM25 finds, and keep
    them out. min_similarity: the cosine is that of mention and passage, each pooled over the name;
    None takes every passage. With it, of several passages that bear the name the most similar are
    taken, not the first. max_views: best similarity first; None has no cap. fit_window: cut the
    document so that model reads the passage. skip_known: leave out passages that the document holds
    already.
    """

    preset: Preset
    k_aug: Annotated[int, Ge(1), Doc("Passages per entity at risk.")] = K_AUG
    title_first: bool = False
    min_similarity: Annotated[float | None, COSINE, Doc("Context check: least cosine.")] = None
    max_views: Annotated[int | None, Ge(1), Doc("Most expansions per document.")] = None
    fit_window: bool = False
    skip_known: bool = False

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings that a command shows: the preset, the others unset unless given."""
        named, *others = settings_of(cls)
        unset = (replace(setting, default=None, optional=True) for setting in others)
        return (replace(named, default=ROBUST.preset), *unset)

    @classmethod
    def from_options(cls, preset: str, **changes: int | float | None) -> ExpandConfig:
        """Return the preset of this name, with the settings that are given changed."""
        check_preset(preset)
        settings = {name: value for name, value in changes.items() if value is not None}
        return replace(PRESETS[preset], **settings)  # type: ignore[arg-type]


def check_preset(preset: str) -> None:
    """Raise InputError for a preset that is none."""
    if preset not in PRESETS:
        raise InputError(
            f"preset {preset!r}",
            expected=f"one of {', '.join(PRESETS)}",
            fix="Leave it out for robust.",
            where="--preset",
        )


PAPER = ExpandConfig(preset="paper")
ROBUST = ExpandConfig(
    preset="robust",
    k_aug=1,
    title_first=True,
    min_similarity=MIN_SIMILARITY,
    max_views=1,
    fit_window=True,
    skip_known=True,
)
PRESETS = {config.preset: config for config in (PAPER, ROBUST)}
preset = ExpandConfig.from_options
