"""Settings of the `argus authority` commands."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from argus.errors import InputError
from argus.llm.config import ChatConfig, LocalConfig
from argus.settings import Doc, Ge, Gt, Le, Option, Seed, check_settings

ANCHORS = 20  # retrieved documents that are looked at (CAR section 5: "the initial top-20")

Records = Annotated[Path, Doc("Documents with type, time and scope: a file or a folder.")]
Served = Annotated[int, Ge(1), Doc("Documents that a system may serve.")]
NamedBenchmark = Annotated[
    str,
    Doc(
        "finsuperqa, cvepatchqa, legalprecedentqa, a benchmark's folder, or a released file of CAR "
        "(car:FILE,split=test,distractors=FILE)."
    ),
]
OtherQueries = Annotated[
    Path | None, Doc("Another file of questions in the benchmark's folder."), Option(("--queries",))
]
AnyModel = ChatConfig | LocalConfig
Share = Annotated[float, Ge(0), Le(1)]


class Places(StrEnum):
    """Rank of the documents that supersede an anchor."""

    ANCHOR = "anchor"  # In the anchor's place
    # Before every anchor that is active itself, in the order of the anchors (section 6.6).
    FIRST = "first"


class Chains(StrEnum):
    """Chains that are served where anchors of one scope lead to different documents."""

    ALL = "all"  # Every chain: no retrieved document that is in force is held back
    # The chain of the best anchor. Where a scope is ambiguous (phi < 1), the most relevant chain is
    # taken for the right one (Proposition 1, middle factor).
    FIRST = "first"


PLACES, CHAINS = Places.ANCHOR, Chains.ALL


class Settings:
    """Settings that are checked when they are made."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class AuthoritySource(Settings):
    """Files that an authority relation is made of, and the time at which it holds.

    You must give rules, edges or both. as_of: only records that had certainly taken effect by then.
    known_by: only records that had certainly been published by then. theta: least confidence of
    rules and edges (Def. 9).
    """

    records: Records
    rules: Annotated[
        str | None,
        Doc("RULES.yaml, a domain that ships (docs/domains.md), or your own rule: FILE.py:NAME."),
    ] = None
    edges: Annotated[
        Path | None, Doc("File of superseder, superseded; beside or instead of rules.")
    ] = None
    as_of: Annotated[str | None, Doc("Only what had taken effect by this date.")] = None
    known_by: Annotated[str | None, Doc("Only what had been published by this date.")] = None
    theta: Annotated[Share, Doc("Least confidence of a supersession that counts.")] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "records", Path(self.records))


@dataclass(frozen=True, kw_only=True)
class LatentConfig(Settings):
    """Weights of the two linkers of a latent scope (CAR Def. 8).

    names: weight of the names in the query, where it has any. The anchors have the rest.
    temperature: divisor of the first stage's scores before the softmax. Use about 1 for BM25 and
    0.05 for cosines.
    """

    names: Annotated[
        Share,
        Doc("Weight of the scopes that the question names; the rest is that of what is found."),
        Option(("--scope-names",)),
    ] = 0.5
    temperature: Annotated[
        float,
        Gt(0),
        Doc("Scores are divided by it: about 1 for BM25, 0.05 for cosines."),
        Option(("--scope-temperature",)),
    ] = 1.0


class LatentScope(StrEnum):
    """Answer to a question whose scope is uncertain (CAR Def. 8)."""

    EXPECTATION = "expectation"  # Weigh every scope by its probability
    MAP = "map"  # Take the likeliest scope alone


@dataclass(frozen=True, kw_only=True)
class VariantConfig(Settings):
    """Variant of CAR that answers: a safe frontier (alpha), a latent scope, or neither."""

    alpha: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Doc("Serve what is not superseded with at least this probability (confidences of edges)."),
    ] = None
    scope: Annotated[
        LatentScope | None,
        Doc("The question's scope is uncertain: weigh all (expectation), or take the likeliest."),
    ] = None
    latent: LatentConfig = field(default_factory=LatentConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha is not None and self.scope is not None:
            got, expected = f"alpha {self.alpha} and scope {self.scope}", "at most one of the two"
            raise InputError(got, expected=expected, fix="Leave one out.", where="--alpha")


@dataclass(frozen=True, kw_only=True)
class LintBounds(Settings):
    """Bounds that a linted run must keep.

    violations: of Theorem 4. stale_hits: None for no bound. false_retirements: queries that lost an
    active document. nothing_superseded: pass a run under a relation that supersedes nothing. By
    default it counts as not measured, because such rules are usually a typo.
    """

    violations: Annotated[
        Share, Doc("Share of queries against Theorem 4."), Option(("--max-violations",))
    ] = 0.0
    stale_hits: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Doc("Mean superseded share of the top k."),
        Option(("--max-stale-hits",)),
    ] = None
    false_retirements: Annotated[
        Share, Doc("Share of queries."), Option(("--max-false-retirements",))
    ] = 0.0
    nothing_superseded: Annotated[
        bool,
        Doc("Pass though nothing is superseded; else exit 2."),
        Option(("--allow-nothing-superseded",)),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ProposeConfig(Settings):
    """Evidence that makes a proposal."""

    similarity: Annotated[
        Share, Doc("Least share of runs of words that near-duplicates have in common.")
    ] = 0.5
    citations: Annotated[
        bool, Doc("Propose also records that name another without a word of supersession.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class ScoreConfig(Settings):
    """Built-in systems to score. seed, contaminated: of a benchmark that is made."""

    k: Served = 5
    systems: Annotated[
        tuple[str, ...],
        Doc("A built-in system; may be given again. Default: all."),
        Option(("--system",), repeated=True),
    ] = ()
    seed: Seed = 0
    contaminated: Annotated[bool, Doc("The variant with distractors in the asked scopes.")] = False


@dataclass(frozen=True, kw_only=True)
class HarmSettings(Settings):
    """Contexts to compare, whoever answers. seed: of a benchmark that is made."""

    k: Served = 5
    systems: Annotated[
        tuple[str, ...],
        Doc("Answer also from what this system serves; may be given again."),
        Option(("--system",), repeated=True),
    ] = ()
    ask: Annotated[
        str, Doc("What is asked; {question} stands for the benchmark's own question.")
    ] = "{question}"
    max_chars: Annotated[
        int, Ge(1_000), Doc("Characters of all documents of a context, shared alike.")
    ] = 24_000
    first: Annotated[int | None, Ge(1), Doc("Only the first so many questions.")] = None
    seed: Seed = 0

    def by(self, model: AnyModel, judge: AnyModel | None) -> HarmConfig:
        """Return these settings with a model that answers and one that judges."""
        values = {f.name: getattr(self, f.name) for f in fields(HarmSettings)}
        return HarmConfig(model=model, judge=judge, **values)


@dataclass(frozen=True, kw_only=True)
class HarmConfig(HarmSettings):
    """Contexts to compare, the model that answers, and the judge. None judges by the model."""

    model: AnyModel
    judge: AnyModel | None = None

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome: no secret, no pace, no budget."""
        values: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(HarmSettings)}
        models = {"model": self.model.identity, "judge": (self.judge or self.model).identity}
        return values | {"systems": list(self.systems)} | models
