"""Declare the options of `argus research generative`: build, search, train, tune and analyse.

One config per command, and those that they share: `Decoding` (how n-grams are written), `Scoring`
(how they rank passages), `ExampleConfig` and `LearningConfig` (training). Defaults of the search
are the published ones of SEAL and MINDER.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.llm.config import ChatConfig, LocalConfig, ModelOptions
from argus.python_file import file_hash, file_of
from argus.settings import Choices, Ge, Gt, Le, Lt, Option, Options, Seed, check_settings
from argus.training.loop import LoopConfig, WarmupRatio, WeightDecay

_PANEL = "Scoring"
PUBLISHED_UNIGRAMS = 5_000
# Largest log-probability of a pseudo-query with the bonus (MINDER).
QUERY_CEILING = -1.0
# The name of a model that begins with no checkpoint.
SCRATCH = "scratch"


class Mode(StrEnum):
    """SEAL writes n-grams of bodies and titles, MINDER pseudo-queries, too."""

    SEAL = "seal"
    MINDER = "minder"


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Settings of key weights and passage scores. The defaults are the published ones.

    Published means: in force when SEAL's search is run with its own options (MINDER's for the
    last one). Raises InputError for a value out of range.

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

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def identity(self) -> dict[str, float | bool | str | None]:
        """All that decides a score."""
        return {**asdict(self), "unigrams": self.most_unigrams}

    @property
    def most_unigrams(self) -> int:
        """Single tokens that count. The published number by default."""
        return PUBLISHED_UNIGRAMS if self.unigrams is None else self.unigrams

    def for_model(self, *, scratch: bool) -> Scoring:
        """Return a copy with defaults filled in: as published, or without single tokens.

        scratch: for a model that was trained from scratch, of which single tokens were found to
        outvote its n-grams (docs/results/generative-retrieval.md, "Single tokens").
        """
        if self.unigrams is not None:
            return self
        return replace(self, unigrams=0 if scratch else PUBLISHED_UNIGRAMS)


_DECODING = "Decoding"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Settings of the search for keys, with the published defaults (docs/generative.md, "Keys").

    beams: hypotheses that go on at each step. Twice as many are kept as keys. body_tokens,
    title_tokens, query_tokens: the longest n-gram of each view, markers not counted but a title's
    and a pseudo-query's closing one (the published code counts the decoder's start token, too: its
    10, 15 and 30 are one less). own: see `argus.generative.decode.beams`.

    Attributes:
        beams: Width of the search.
        body_tokens: Of the longest n-gram of a text.
        title_tokens: Of the longest title.
        query_tokens: Of the longest pseudo-query (minder).
        batch: Questions at once; halved when memory runs out. Changes no score.
        own: Your own decoding in place of the beams: FILE.py:NAME.
    """

    beams: Annotated[int, Ge(1), Option(panel=_DECODING)] = 15
    body_tokens: Annotated[int, Ge(1), Option(("--tokens",), panel=_DECODING)] = 10
    title_tokens: Annotated[int, Ge(1), Option(panel=_DECODING)] = 15
    query_tokens: Annotated[int, Ge(1), Option(panel=_DECODING)] = 30
    batch: Annotated[int, Ge(1), Option(panel=_DECODING)] = 20
    own: Annotated[str | None, Option(("--decoding",), panel=_DECODING)] = None

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def identity(self) -> dict[str, int | float | bool | str]:
        """All settings that decide which keys are written, without the batch."""
        decide = {name: v for name, v in asdict(self).items() if name not in ("batch", "own")}
        return decide if self.own is None else {**decide, "own": file_hash(file_of(self.own))}


# Begins the name of a tokenizer that is trained on the corpus.
TRAINED = "bpe:"


@dataclass(frozen=True, kw_only=True)
class NgramBuildConfig:
    """Settings of the build.

    Attributes:
        tokenizer: Folder of a tokenizer, or of the model that will search; or bpe:SIZE, a
            byte-level one of so many tokens trained on the corpus.
        titles: Whether titles stand in passages.
    """

    tokenizer: str | None = None
    titles: Annotated[bool, Option(("--titles/--no-titles",))] = True

    def __post_init__(self) -> None:
        if not self.tokenizer:
            raise InputError(
                "no tokenizer",
                expected="the folder of the model that will search, or bpe:SIZE",
                fix="Without a model at hand, give bpe:8000 (small corpora) or bpe:50000: "
                "argus research generative train makes a model for it.",
                where="--tokenizer",
            )
        size = self.tokenizer.removeprefix(TRAINED)
        if self.tokenizer.startswith(TRAINED) and not size.isdecimal():
            raise InputError(
                f"{self.tokenizer!r}",
                expected=f"{TRAINED}SIZE, a whole number of tokens, or a folder",
                fix=f"For example {TRAINED}8000.",
                where="--tokenizer",
            )

    @property
    def vocabulary_size(self) -> int | None:
        """Tokens of a tokenizer that is trained on the corpus. None for one in a folder."""
        name = self.tokenizer or ""
        return int(name.removeprefix(TRAINED)) if name.startswith(TRAINED) else None


@dataclass(frozen=True, kw_only=True)
class NgramSearchConfig:
    """Settings of a search.

    Attributes:
        model: Folder of a seq2seq model, as argus research generative train writes it.
        mode: seal (titles and texts) or minder (pseudo-queries, too).
        k: How many passages.
    """

    model: Path | None = None
    mode: Mode = Mode.SEAL
    k: Annotated[int, Ge(1)] = 100
    decoding: Decoding = field(default_factory=Decoding)
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        check_settings(self)

    def described(self) -> dict[str, Any]:
        """Return all that decides an answer, as plain values, except the model."""
        return {
            "mode": str(self.mode),
            "k": self.k,
            "decoding": self.decoding.identity,
            "scoring": self.scoring.identity,
        }


# Replayed unless more are asked for. A question takes about a second.
MOST_QUESTIONS = 200
_REPLAY = "Replay"


class _JudgeOptions(ModelOptions):
    """Options that say who judges unannotated passages."""

    MODEL = replace(
        ModelOptions.MODEL,
        text="Judges passages that hold an answer but are not annotated: a model of an "
        "OpenAI-compatible endpoint, or local:FOLDER.",
        option=Option(("--llm",), panel="Language model"),
    )


PassageJudge = Annotated[ChatConfig | LocalConfig | None, Options(_JudgeOptions)]
"""Judges passages that nobody annotated."""


class Correct(StrEnum):
    """When a passage is correct."""

    ANNOTATED = "annotated"
    ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class ReplayConfig:
    """Settings of the search, to repeat it.

    Attributes:
        model: The seq2seq model that searched: shows what the beam dropped.
        mode: seal or minder; default: what the answers say, else seal.
        beams: Of the search; default: what the answers say, else 15.
        questions: At most so many questions, three quarters of them failed ones.
    """

    model: Annotated[Path | None, Option(panel=_REPLAY)] = None
    mode: Annotated[Mode | None, Option(panel=_REPLAY, default="")] = None
    beams: Annotated[int | None, Ge(1), Option(panel=_REPLAY, default="")] = None
    questions: Annotated[
        int, Ge(1), Option(("--replay",), panel=_REPLAY, default=str(MOST_QUESTIONS))
    ] = MOST_QUESTIONS

    def __post_init__(self) -> None:
        check_settings(self)
        if self.model is None:
            raise InputError(
                "--mode, --beams or --replay without --model",
                expected="--model DIR with it: a search is made again",
                fix="Give --model and --corpus-index, or leave it out.",
                where="--model",
            )


@dataclass(frozen=True, kw_only=True)
class FailureConfig:
    """Inputs besides the outputs. Without them less is measured, and the report says which.

    replay: searches again, with the index.

    Attributes:
        k: Passages that count as read.
        correct: A passage is correct when annotated, or when it holds an answer.
        tokenizer: Folder of the tokenizer that counts tokens; default: the index's, else words.
        strict: Count as the thesis does: its tokens, markers left in, and its deciles.
        index: Folder that argus research generative build wrote.
        workers: Processes; default: all cores where a file is large. Scripts then need
            `if __name__ == "__main__":`.
    """

    k: Annotated[int, Ge(1)] = 10
    correct: Correct = Correct.ANNOTATED
    tokenizer: Path | None = None
    strict: bool = False
    index: Annotated[Path | None, Option(("--corpus-index",))] = None
    replay: ReplayConfig | None = None
    seed: Seed = 0
    workers: Annotated[int | None, Ge(1)] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.strict and self.tokenizer is None and self.index is None:
            raise InputError(
                "--strict without a tokenizer",
                expected="the tokens that the thesis counts: GPT-2's, which are BART's",
                fix="Give --tokenizer DIR (of GPT-2 or BART), or --corpus-index.",
                where="--strict",
            )
        if self.replay is not None and self.index is None:
            raise InputError(
                "--model without --corpus-index",
                expected="both: a search is made again with the model over the index",
                fix="Give --corpus-index DIR, or leave --model out.",
                where="--model",
            )

    def described(self) -> dict[str, Any]:
        """Return it as plain values, for the manifest."""
        settings = {**asdict(self), **(asdict(self.replay) if self.replay else {})}
        settings["replay"] = settings.pop("questions", None)
        del settings["workers"]
        return {n: str(v) if isinstance(v, Path | StrEnum) else v for n, v in settings.items()}


_EXAMPLES = "Examples"
_TRAINING = Option(panel="Training")


@dataclass(frozen=True, kw_only=True)
class ExampleConfig:
    """Settings of the examples of an epoch. Each epoch draws new spans.

    validation_share: of titles and questions, validated with (at most 100 of either).

    Attributes:
        bodies: Spans per question and passage in an epoch.
        unsupervised: Rounds over all passages in an epoch; 0 for none.
        title_questions: Whether titles are questions, too.
        source_tokens: Longer sources are cut.
    """

    bodies: Annotated[int, Ge(1), Option(panel=_EXAMPLES)] = 2
    unsupervised: Annotated[int, Ge(0), Option(panel=_EXAMPLES)] = 1
    title_questions: Annotated[
        bool, Option(("--title-questions/--no-title-questions",), panel=_EXAMPLES)
    ] = True
    source_tokens: Annotated[int, Ge(8), Option(panel=_EXAMPLES)] = 64
    validation_share: Annotated[float, Gt(0), Lt(1)] = 0.02
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class GenerativeLoop(LoopConfig):
    """How a model learns. See `LoopConfig`. Defaults are for one that has been pretrained.

    label_smoothing: share of probability spread over the vocabulary. None if the loss is evaluated.
    dtype: of computations. Weights stay in float32.
    """

    learning_rate: float = 3e-5
    weight_decay: WeightDecay = 0.01
    warmup_ratio: WarmupRatio = 0.05
    batch_size: int = 32
    accumulation: int = 1
    label_smoothing: float = 0.1
    dtype: str = "float32"


# Default settings for a model from scratch: measured on two cores.
SCRATCH_LOOP = GenerativeLoop(
    learning_rate=1e-3, batch_size=64, label_smoothing=0.0, epochs=20, patience=10,
    evaluate_every=200, max_minutes=25.0,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LearningConfig:
    """Settings of learning. None stands for the default of the model's kind.

    checkpoint_every_s: so much is lost at most when a run is killed.

    Attributes:
        max_minutes: Time for training, all runs together; with more of it, a training goes on.
            Default 25 from scratch, else none.
        epochs: At most: 20 from scratch, else 10.
        patience: Evaluations without a lower loss that end it: 10, else 4.
        evaluate_every: Steps, besides every epoch: 200 from scratch.
        batch_size: Examples at once (64, else 32); halved for want of memory.
        accumulation: Batches per step: 1.
        learning_rate: The highest: 1e-3 from scratch, else 3e-5.
        label_smoothing: 0 from scratch, else 0.1.
        dtype: What is computed in: float32, bfloat16.
    """

    max_minutes: Annotated[float | None, Gt(0), Option(("--minutes",), panel="Training")] = None
    epochs: Annotated[int | None, Ge(1), _TRAINING] = None
    patience: Annotated[int | None, Ge(1), _TRAINING] = None
    evaluate_every: Annotated[int | None, Ge(1), _TRAINING] = None
    batch_size: Annotated[int | None, Ge(1), Option(("--batch",), panel="Training")] = None
    accumulation: Annotated[int | None, Ge(1), Option(("--accumulate",), panel="Training")] = None
    learning_rate: Annotated[float | None, Gt(0), _TRAINING] = None
    label_smoothing: Annotated[float | None, Ge(0), Lt(1), _TRAINING] = None
    dtype: Annotated[str, Choices(("float32", "bfloat16")), _TRAINING] = "float32"
    checkpoint_every_s: float | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def loop(self, model: str, seed: int) -> GenerativeLoop:
        """Return how a model of this name learns."""
        defaults = SCRATCH_LOOP if model == SCRATCH else GenerativeLoop()
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(defaults, seed=seed, **given)


_SIZE = "Model from scratch"
_MULTIPLE = 16


@dataclass(frozen=True, kw_only=True)
class ScratchSize:
    """Size of a network.

    positions: tokens of an encoder input at most. The decoder writes no more either.

    Attributes:
        d_model: Its width, a multiple of 16.
        layers: Of encoder and decoder each.
        dropout: In training.
    """

    d_model: Annotated[int, Ge(_MULTIPLE), Option(panel=_SIZE)] = 256
    layers: Annotated[int, Ge(1), Option(panel=_SIZE)] = 2
    positions: Annotated[int, Ge(16)] = 256
    dropout: Annotated[float, Ge(0), Lt(1), Option(panel=_SIZE)] = 0.1

    def __post_init__(self) -> None:
        check_settings(self)
        if self.d_model % _MULTIPLE:
            raise InputError(
                f"{self.d_model!r}",
                expected=f"a multiple of {_MULTIPLE}",
                fix="Leave it out for the default.",
                where="--d-model",
            )


@dataclass(frozen=True, kw_only=True)
class GenerativeTrainConfig:
    """Settings of the model, its training data, and how it learns.

    Attributes:
        model: Folder of a seq2seq model (BART, T5, ...), or scratch.
        hold_out: Titles to keep out of training, to test with.
    """

    model: str = SCRATCH
    size: ScratchSize = field(default_factory=ScratchSize)
    examples: ExampleConfig = field(default_factory=ExampleConfig)
    training: LearningConfig = field(default_factory=LearningConfig)
    hold_out: Annotated[int, Ge(0)] = 0

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def loop(self) -> GenerativeLoop:
        """Return how the model learns."""
        return self.training.loop(self.model, self.examples.seed)


_RANKING = "Ranking"


@dataclass(frozen=True, kw_only=True)
class GenerativeTuneConfig:
    """Settings of learning to rank. The defaults are LTRGR's, but for those of the training loop.

    search: model and settings of the search. Its k is not used.
    rank_weight: 1 / lambda of the paper, whose lambda of 1,000 weighs the loss of writing.

    Attributes:
        passages: Of a question's list: those that rank first as yet.
        keys: Of a passage, the weightiest: its score here.
        margin: By which a right passage is to lead a wrong one.
        rank_weight: Of the margins, beside the loss of writing.
    """

    search: NgramSearchConfig = field(default_factory=NgramSearchConfig)
    passages: Annotated[int, Ge(2), Option(panel=_RANKING)] = 200
    keys: Annotated[int, Ge(1), Option(panel=_RANKING)] = 40
    margin: Annotated[float, Ge(0), Option(panel=_RANKING)] = 500.0
    rank_weight: Annotated[float, Ge(0), Option(panel=_RANKING)] = 0.001
    training: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def examples(self) -> ExampleConfig:
        """Texts written for questions meanwhile: spans, titles and queries of right passages."""
        return ExampleConfig(
            unsupervised=0, title_questions=False, validation_share=0.1,
            seed=self.training.seed,
        )  # fmt: skip
