"""Settings of an n-gram index, of the search in it, and of the weights that rank passages."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.python_file import file_hash, file_of
from argus.settings import Ge, Le, Lt, Option, check_settings, settings_of

_PANEL = "Scoring"
PUBLISHED_UNIGRAMS = 5_000


class Mode(StrEnum):
    """SEAL writes n-grams of bodies and titles, MINDER pseudo-queries, too."""

    SEAL = "seal"
    MINDER = "minder"


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Settings of key weights and passage scores. The defaults are the published ones.

    Published means: in force when SEAL's search is run with its own options (MINDER's for the
    last two). Raises InputError for a value out of range.

    Attributes:
        smoothing: Added to an n-gram's occurrences.
        exponent: Of a weight: above 1, few strong n-grams count more than many weak ones.
        repetition_penalty: How much an n-gram loses whose tokens stronger ones hold; 0: nothing.
        length_penalty: Above 0, long n-grams lose less; below 1.
        max_occurrences: An n-gram that comes more often brings no passage in.
        full_documents: Passages that are read in full.
        unigrams: So many single tokens count, too; 0: none.
        shortest: Tokens of the shortest n-gram that counts; shorter ones weigh nothing.
        query_bonus: MINDER's: added to the log-probability of a pseudo-query.
    """

    smoothing: Annotated[float, Ge(0), Option(panel=_PANEL)] = 5.0
    """The smoothing s, also added to the corpus' tokens (SEAL: 5)."""
    exponent: Annotated[float, Ge(0), Le(100), Option(panel=_PANEL)] = 2.0
    """alpha of eq. 3 (SEAL: 2)."""
    repetition_penalty: Annotated[
        float, Ge(0), Le(1), Option(("--repetition-penalty", "--coverage-weight"), panel=_PANEL)
    ] = 0.8
    """beta, the coverage weight of eq. 3: a key whose share r of distinct tokens is in stronger
    keys of the passage counts 1 - beta * r (SEAL: 0.8)."""
    length_penalty: Annotated[float, Ge(0), Lt(1), Option(panel=_PANEL)] = 0.0
    """A log-probability of n tokens is multiplied by (1 - length_penalty) ** (n - 1) (SEAL: 0)."""
    max_occurrences: Annotated[int, Ge(1), Option(panel=_PANEL)] = 1_500
    """A more frequent key counts only in passages found by others (SEAL: 1,500)."""
    full_documents: Annotated[int, Ge(1), Option(("--documents",), panel=_PANEL)] = 1_500
    """A ranking holds no more (SEAL: 1,500)."""

    unigrams: Annotated[
        int | None, Ge(0), Option(panel=_PANEL, default="5,000; with a model from scratch 0")
    ] = None
    """The most probable ones, where no key covers them (SEAL: 5,000). See `for_model`."""
    shortest: Annotated[int, Ge(1), Option(panel=_PANEL)] = 1
    """Length of keys. `unigrams` decides on single tokens (SEAL: 1)."""

    query_bonus: Annotated[float, Ge(0), Option(panel=_PANEL)] = 14.0
    """A pseudo-query is a key that begins with ` ||` (MINDER: 14). With 0, the ceiling does not
    count either."""
    query_ceiling: Annotated[float, Le(0)] = -1.0
    """Largest log-probability with the bonus (MINDER: -1)."""

    def __post_init__(self) -> None:
        check_settings(self)
        check_numbers(self)

    @property
    def identity(self) -> dict[str, float | bool | str | None]:
        """All that decides a score. Later settings appear where they are set."""
        plain = {**asdict(self), "unigrams": self.most_unigrams}
        if self.shortest == 1:
            del plain["shortest"]
        return plain

    @property
    def most_unigrams(self) -> int:
        """Single tokens that count. The published number by default."""
        return PUBLISHED_UNIGRAMS if self.unigrams is None else self.unigrams

    def for_model(self, *, scratch: bool) -> Scoring:
        """Return a copy with defaults filled in: as published, or without single tokens.

        scratch: for a model that was trained from scratch, of which single tokens were found to
        outvote its n-grams (docs/results.md, "Single tokens").
        """
        if self.unigrams is not None:
            return self
        return replace(self, unigrams=0 if scratch else PUBLISHED_UNIGRAMS)


def check_numbers(config: Any) -> None:
    """Check that whole numbers of a config are whole and the others finite, none a truth value.

    The default of a field gives its type. Raises InputError, whose `where` is the option, or
    the field where there is none.
    """
    declared = {setting.name: setting for setting in settings_of(type(config))}
    options = {name: setting.where for name, setting in declared.items()}
    for f in fields(config):
        value, kind = getattr(config, f.name), type(f.default)
        if f.name in declared and declared[f.name].optional:
            if value is None:
                continue
            kind = declared[f.name].kind
        kinds = {int: (int,), float: (int, float)}.get(kind)
        if kinds is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            raise InputError(
                f"{value!r}",
                expected="a whole number" if kind is int else "a finite number",
                fix=f"Leave it out for {f.default}.",
                where=options.get(f.name, f.name),
            )


_DECODING = "Decoding"


class Cure(StrEnum):
    """Cures for n-grams of the right passage that the beam drops (docs/ngrams.md)."""

    NONE = "none"
    BACKTRACKING = "backtracking"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Settings of the search for keys, with the published defaults (docs/ngrams.md, "Keys").

    beams: hypotheses that go on at each step. Twice as many are kept as keys. body_tokens,
    title_tokens, query_tokens: the longest n-gram of each view, markers not counted but a title's
    and a pseudo-query's closing one (the published code counts the decoder's start token, too: its
    10, 15 and 30 are one less). rescore: each key by its view's input. cure: of false pruning.
    Rounds are those of backtracking. own: see `argus.generative.decode.own`.

    Attributes:
        beams: Width of the search.
        body_tokens: Of the longest n-gram of a text.
        title_tokens: Of the longest title.
        query_tokens: Of the longest pseudo-query (minder).
        batch: Questions at once; halved when memory runs out. Changes no score.
        question_ngrams: Look up the question's own words, too.
        rescore: Score n-grams anew, or keep what the beam search gave them.
        partial_titles: Keep titles that were not written to their end.
        cure: Of false pruning: none, or backtracking.
        rounds: Of backtracking: how often it goes back; each costs as much as the first search.
        own: Your own decoding in place of the beams: FILE.py:NAME.
    """

    beams: Annotated[int, Ge(1), Option(panel=_DECODING)] = 15
    body_tokens: Annotated[int, Ge(1), Option(("--tokens",), panel=_DECODING)] = 10
    title_tokens: Annotated[int, Ge(1), Option(panel=_DECODING)] = 15
    query_tokens: Annotated[int, Ge(1), Option(panel=_DECODING)] = 30
    batch: Annotated[int, Ge(1), Option(panel=_DECODING)] = 20
    question_ngrams: Annotated[
        bool, Option(("--question-ngrams/--no-question-ngrams",), panel=_DECODING)
    ] = True
    rescore: Annotated[bool, Option(("--rescore/--no-rescore",), panel=_DECODING)] = True
    partial_titles: Annotated[bool, Option(panel=_DECODING)] = False
    cure: Annotated[Cure, Option(panel=_DECODING)] = Cure.NONE
    rounds: Annotated[int, Ge(1), Option(panel=_DECODING)] = 1
    own: Annotated[str | None, Option(("--decoding",), panel=_DECODING)] = None

    def __post_init__(self) -> None:
        check_settings(self)
        check_numbers(self)

    @property
    def identity(self) -> dict[str, int | float | bool | str]:
        """All settings that decide which keys are written, without the batch and unused rounds."""
        unused = {"batch"} if self.cure == Cure.BACKTRACKING else {"batch", "cure", "rounds"}
        decide = {name: v for name, v in asdict(self).items() if name not in {*unused, "own"}}
        return decide if self.own is None else {**decide, "own": file_hash(file_of(self.own))}


TRAINED = "bpe:"
"""Begins the name of a tokenizer that is trained on the corpus."""


@dataclass(frozen=True, kw_only=True)
class NgramBuildConfig:
    """Settings of the build. titles: None means yes, or as in the index that you append to.

    Attributes:
        tokenizer: Folder of a tokenizer, or of the model that will search; or bpe:SIZE, a
            byte-level one of so many tokens trained on the corpus.
        titles: Whether titles stand in passages (the default, or as the index has them).
        append: Add what is new in the corpus to the index in OUT, as a segment.
    """

    tokenizer: str | None = None
    titles: Annotated[bool | None, Option(("--titles/--no-titles",), default="")] = None
    append: bool = False

    def __post_init__(self) -> None:
        if self.append and self.tokenizer is not None:
            raise InputError(
                f"{self.tokenizer!r} with --append",
                expected="none: an index keeps the tokenizer that it was built with",
                fix="Leave --tokenizer out.",
                where="--tokenizer",
            )
        if not self.append and not self.tokenizer:
            raise InputError(
                "no tokenizer",
                expected="the folder of the model that will search, or bpe:SIZE",
                fix="Without a model at hand, give bpe:8000 (small corpora) or bpe:50000: "
                "argus research generative train makes a model for it.",
                where="--tokenizer",
            )


class Format(StrEnum):
    """A file of results."""

    DPR = "dpr"
    KILT = "kilt"
    TREC = "trec"


@dataclass(frozen=True, kw_only=True)
class NgramSearchConfig:
    """Settings of a search and its outputs.

    Attributes:
        model: Folder of a seq2seq model, as argus research generative train writes it.
        mode: seal (titles and texts) or minder (pseudo-queries, too).
        k: How many passages.
        formats: Of the results: dpr, kilt, trec.
        compact: DPR JSON with one line per question, not indented.
    """

    model: Path | None = None
    mode: Mode = Mode.SEAL
    k: Annotated[int, Ge(1)] = 100
    decoding: Decoding = field(default_factory=Decoding)
    scoring: Scoring = field(default_factory=Scoring)
    formats: Annotated[tuple[Format, ...], Option(("--format",))] = tuple(Format)
    compact: bool = False

    def __post_init__(self) -> None:
        check_settings(self)

    def described(self) -> dict[str, Any]:
        """Return all that decides an answer, as plain values, except the model."""
        return {
            "mode": str(self.mode),
            "k": self.k,
            "decoding": asdict(self.decoding),
            "scoring": asdict(self.scoring),
        }
