"""`argus research scenarios distill`: fine-tune a small language model with LoRA to write profiles.

A profile lists the needs that a document serves. The student learns from the profiles that a large
model wrote (SPIKE §3.2). An example is the student's prompt for a document and the answer that it
should give. The loss is that of the answers alone. Out: an adapter for `research scenarios write`.
`argus.training.loop` trains.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.tables import read_table
from argus.data.types import Document
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input, read_documents
from argus.llm import weights
from argus.llm.model import schema_hash
from argus.scenarios.config import ProfileSettings, Role
from argus.scenarios.files import ProfileAnswer, given_profiles, profile_fields
from argus.scenarios.profile import Profiled, ProfileState, ScenarioProfile
from argus.scenarios.profiles import scenario_prompt
from argus.settings import Choices, Ge, Gt, Lt, Option, check_settings
from argus.training import loop
from argus.training.loop import Fixed, LoopConfig, Task, Trained, replacing_folder, training_lines
from argus.version import __version__

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SECTION = "scenarios_distill"
ADAPTER, STATE, LOSSES = "adapter", "training", "losses"
LEAST = 2
STUDENT = ProfileSettings(role=Role.STUDENT)
# Why a document or a profile makes no example, as it is counted.
LEFT_OUT = {
    "documents_without_profile": "documents without profile",
    "without_document": "profiles without document",
    "failed": "failed profiles",
    "documents_without_text": "documents without text",
    "too_long": "too long",
}
MAX_LENGTH = 4_096  # Tokens of prompt and answer. The released training data was cut to as many.
VALIDATION_SHARE = 0.1
_PANEL = "Training"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(LoopConfig):
    """How an adapter is trained, beside the settings of every training (see `LoopConfig`).

    LoRA is on all linear layers but the output. The paper names a linear warm-up and no ratio, and
    no bound of gradients. 0.1 and 1 are usual.

    Attributes:
        rank: Of LoRA.
        alpha: Of LoRA.
        dropout: Of LoRA.
        gradient_checkpointing: A sixth of the memory, half more time (measured).
    """

    rank: Annotated[int, Ge(1), Option(panel=_PANEL)] = 32
    alpha: Annotated[float, Gt(0), Option(panel=_PANEL)] = 64
    dropout: Annotated[float, Ge(0), Lt(1), Option(panel=_PANEL)] = 0.1
    gradient_checkpointing: Annotated[bool, Option(panel=_PANEL)] = False

    PACE: ClassVar[frozenset[str]] = LoopConfig.PACE | {"gradient_checkpointing"}


@dataclass(frozen=True, kw_only=True)
class DistillConfig:
    """Settings of a distillation.

    max_length: no example may pass the model's window either. dtype: of the base model's weights.
    "auto" is bfloat16 on a GPU that has it, float32 on the CPU.

    Attributes:
        base: Causal language model with tokenizer: a folder, or a name.
        max_length: Longer examples (in tokens) are left out.
        validation_share: Documents kept for evaluation.
        dtype: auto, float32, bfloat16, float16.
    """

    base: str
    max_length: Annotated[int, Ge(1)] = MAX_LENGTH
    validation_share: Annotated[float, Gt(0), Lt(1)] = VALIDATION_SHARE
    dtype: Annotated[str, Choices(("auto", "float32", "bfloat16", "float16"))] = "auto"
    training: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.base.strip():
            raise InputError(
                repr(self.base),
                expected="the folder of a language model",
                fix="See argus research scenarios distill --help.",
                where="--base",
            )


@dataclass(frozen=True, repr=False)
class DistillResult(Result):
    """Result of a training. The figures are also in `folder`.

    Keys of `summary`:

    evaluations: losses in validation, in their order.
    best: evaluation whose weights are kept.
    dtype: type of the numbers that were computed with.
    device: device that it ran on.
    stopped: why it ended.
    seconds: seconds of training, without validating.
    tokens_per_s: tokens per second, of training alone.
    peak_memory_bytes: peak memory of the process, in bytes.
    device_memory_bytes: peak memory of the device, in bytes. None on the CPU.
    base: model that was trained.
    examples.profiles: profiles that were read.
    examples.train: documents to train on.
    examples.validation: documents to validate with.
    examples.noise: of these, documents that are noise.
    examples.failed: profiles that failed.
    examples.too_long: documents that are longer than an example may be.
    examples.without_document: profiles without a document.
    examples.documents_without_profile: documents without a profile.
    examples.documents_without_text: documents without a text.
    tokens.longest: tokens of the longest example.
    tokens.bound: most tokens that an example may have.
    """

    TABLES = ("losses",)
    folder: Path
    adapter: Path
    summary: dict[str, Any]

    @property
    def losses(self) -> pa.Table:
        """One row per step."""
        return read_table(self.folder / f"{LOSSES}.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts = summary["examples"]
        noise = f", {counts['noise']:,} of them noise" if counts["noise"] else ""
        parts = ", ".join(
            f"{counts[key]:,} {kind}" for key, kind in LEFT_OUT.items() if counts[key]
        )
        yield (
            f"{counts['train']:,} documents to train on, {counts['validation']:,} to validate "
            f"with{noise}; {f'left out: {parts}' if parts else 'none left out'}"
        )
        yield from training_lines(summary, "epoch")
        yield f"adapter: {self.adapter} (--model local:{self.summary['base']} --adapter ...)"


@one_writer
def distill(
    corpus: o.Corpus,
    *,
    profiles: Path | str | Mapping[str, Profiled],
    config: DistillConfig,
    out: o.Out = o.OUT,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    device: Device = None,
    fresh: o.Fresh = False,
) -> DistillResult:
    """Fine-tune a small language model with LoRA on the scenarios that a large one wrote.

    Writes OUT/adapter, losses.parquet, summary.json and manifest.json. The adapter generates with
    --model local:BASE --adapter OUT/adapter, or from any endpoint that serves it.

    profiles: a file, or a folder that holds profiles.jsonl. A run that was killed goes on from its
    last checkpoint. Raises InputError for bad input: nothing or too little to train on, a model
    without tokenizer, another training in OUT.

    Args:
        profiles: Teacher's profiles: a file, or a folder that holds them.
    """
    weights.need_peft()
    documents, path = read_documents(corpus, fields or FieldNames(), limit, None)
    coerce_ids = fields.coerce_ids if fields else False
    profiles, source = given_profiles(profiles, coerce_ids=coerce_ids)
    device, base = check_device(device), weights.find_model(config.base)
    dtype = weights.choose_dtype(config.dtype, device)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [base, source])
    record = Record(
        SECTION,
        {"base": config.base, "dtype": dtype, "limit": limit, **config.training.described()},
        {"corpus": path, "profiles": source},
    )
    with record.timed("loading the base model"):
        network, tokenizer = weights.load_base(base, dtype)
    longest = min(config.max_length, weights.window_of(network) or config.max_length)
    with record.timed("building the training set"):
        stops, share = weights.stop_tokens(network, tokenizer), config.validation_share
        examples = build_examples(
            documents, profiles, tokenizer, stops, max_length=longest, validation_share=share
        )
    counts = examples.counts
    if (usable := counts["train"] + counts["validation"]) < LEAST:
        why = ", ".join(f"{counts[key]:,} {kind}" for key, kind in LEFT_OUT.items() if counts[key])
        raise InputError(
            f"{usable} of {counts['profiles']:,} profiles can be learnt from ({why or 'no more'})",
            expected=f"at least {LEAST}, one to train on and one to validate with; some hundred "
            "teach",
            fix="Check that --corpus and --profiles belong together, or raise --max-length "
            "(bounded by the model's window).",
            where="--profiles",
        )
    record.open(folder)
    base_hash = weights.base_hash(base)
    model = with_lora(network, config.training, config.base).to(device)
    with record.timed("training"):
        trained = train(
            model, examples.train, examples.validation, config.training,
            folder=folder.own(STATE), base=f"{base_hash} {dtype}", device=device,
        )  # fmt: skip
    lengths = [len(e.tokens) for e in (*examples.train, *examples.validation)]
    summary: dict[str, Any] = {
        "base": config.base,
        "examples": counts,
        "tokens": {"longest": max(lengths), "bound": longest},
        **trained.figures(dtype, device),
    }
    names = ("examples", "dtype", "steps", "stopped", "evaluations", "best")
    note = {  # see weights.read_note
        "argus": __version__,
        "base": {"name": config.base, "weights": base_hash},
        "trained_for": [schema_hash(ProfileAnswer)],
        "settings": config.training.described(),
        **{name: summary[name] for name in names},
    }
    adapter = save_adapter(model, folder.own(ADAPTER), note)
    folder.write_table(LOSSES, pa.Table.from_pylist(trained.progress.steps))
    folder.write_results(SECTION, summary, record.manifest(summary["examples"]))
    return DistillResult(folder.path, adapter, summary)


@dataclass(frozen=True, slots=True)
class Example:
    """One document: the tokens of prompt and answer, of which the last `completion` are learnt."""

    doc_id: str
    tokens: tuple[int, ...]
    completion: int


@dataclass(frozen=True)
class TrainingSet:
    """Examples by use. counts: profiles by outcome."""

    train: list[Example]
    validation: list[Example]
    counts: dict[str, int]


def build_examples(
    documents: Sequence[Document],
    profiles: Mapping[str, Profiled],
    tokenizer: PreTrainedTokenizerBase,
    stops: frozenset[int],
    *,
    max_length: int = MAX_LENGTH,
    validation_share: float = VALIDATION_SHARE,
) -> TrainingSet:
    """Return an example per document with a profile, noise included. Failed ones teach nothing.

    stops: tokens that end an answer (see `chat_format.stop_tokens`). Examples of more than
    `max_length` tokens are left out: a cut answer would teach to stop in its middle.
    """
    left_out = Counter[str]()
    examples: list[Example] = []
    noise = 0
    for document in documents:
        profiled = profiles.get(document.id)
        if profiled is None:
            left_out["documents_without_profile"] += 1
        elif profiled.state is ProfileState.FAILED:
            left_out["failed"] += 1
        elif not document.content.strip():
            left_out["documents_without_text"] += 1
        else:
            example = make_example(document, profiled, tokenizer, stops)
            if len(example.tokens) > max_length:
                left_out["too_long"] += 1
                continue
            noise += profiled.state is ProfileState.NOISE
            examples.append(example)
    left_out["without_document"] = len(profiles.keys() - {document.id for document in documents})
    train, validation = split(examples, validation_share)
    counts = {
        "profiles": len(profiles), "train": len(train), "validation": len(validation),
        "noise": noise, **{why: left_out[why] for why in LEFT_OUT},
    }  # fmt: skip
    return TrainingSet(train, validation, counts)


def make_example(
    document: Document,
    profiled: Profiled,
    tokenizer: PreTrainedTokenizerBase,
    stops: frozenset[int],
) -> Example:
    """Return the example of a document whose profile is ok or noise."""
    prompt = scenario_prompt(document.content, STUDENT)
    question = weights.prompt_tokens(tokenizer, prompt.system, prompt.text)
    answer = weights.answer_tokens(tokenizer, completion_of(profiled), stops)
    return Example(document.id, (*question, *answer), len(answer))


def completion_of(profiled: Profiled) -> str:
    """Return the answer that a student should give: JSON, fields in the order of the schema."""
    profile = profiled.profile
    fields = profile_fields(profile or ScenarioProfile("", (), ()))
    return json.dumps({"noise": profile is None, **fields}, ensure_ascii=False)


def split(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Return examples to train on and to validate with, in their order.

    The ids' hashes decide, so that the order of a corpus does not. At least one is on either side
    where there are two.
    """
    ranked = sorted(examples, key=lambda e: content_hash("distill-validation", e.doc_id))
    n = min(max(1, round(share * len(ranked))), max(len(ranked) - 1, 0))
    held_out = {e.doc_id for e in ranked[:n]}
    train = [e for e in examples if e.doc_id not in held_out]
    return train, [e for e in examples if e.doc_id in held_out]


def with_lora(network: PreTrainedModel, config: TrainConfig, name: str) -> PeftModel:
    """Return the model with new LoRA weights, the only ones that want gradients.

    On all linear layers but the output (peft's "all-linear"). In float32, whatever the model is in.
    name: the adapter's name for its base model.
    """
    weights.need_peft()
    import torch
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        task_type="CAUSAL_LM", target_modules="all-linear", r=config.rank,
        lora_dropout=config.dropout, lora_alpha=config.alpha,
    )  # fmt: skip
    # peft warns of names in transformers
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(action="ignore"):
        torch.manual_seed(config.seed)
        model = get_peft_model(network, settings)
        if config.gradient_checkpointing:
            network.gradient_checkpointing_enable({"use_reentrant": False})
            network.enable_input_require_grads()
    model.peft_config["default"].base_model_name_or_path = name  # peft puts the path there
    return model


def save_adapter(model: PeftModel, folder: Path, note: Mapping[str, object]) -> Path:
    """Write adapter and note, whole or not at all. Return the folder."""
    with replacing_folder(folder) as temporary:
        model.save_pretrained(str(temporary), save_embedding_layers=False)  # not trained
        text = json.dumps(note, indent=2, ensure_ascii=False, allow_nan=False)
        (temporary / weights.NOTE).write_text(f"{text}\n", encoding="utf-8")
    return folder


def summed_loss(network: torch.nn.Module, batch: Sequence[Example], device: str) -> torch.Tensor:
    """Return the negative log-likelihood of the answers of a batch, summed over their tokens.

    Eq. (1) of SPIKE: -Σ log p(answer token | instruction, document, answer so far). Only places
    that predict a token of an answer count, its terminator included. Prompts and padding do not.
    Scalar, float32.
    """
    import torch

    length = max(len(e.tokens) for e in batch)
    tokens = torch.zeros(len(batch), length, dtype=torch.long)
    mask = torch.zeros_like(tokens)
    learnt = torch.zeros(len(batch), length, dtype=torch.bool)
    for row, example in enumerate(batch):
        n = len(example.tokens)
        tokens[row, :n] = torch.tensor(example.tokens)
        mask[row, :n] = 1
        learnt[row, n - example.completion : n] = True
    tokens, learnt = tokens.to(device), learnt.to(device)
    output = network(input_ids=tokens, attention_mask=mask.to(device), use_cache=False)
    before = learnt[:, 1:]  # the place before each token of an answer predicts it
    logits = output.logits[:, :-1][before].float()  # (answer tokens, vocabulary)
    return torch.nn.functional.cross_entropy(logits, tokens[:, 1:][before], reduction="sum")


# Examples to learn: answers, of prompts and answers that are read.
ANSWERS = Task[Example](
    summed_loss=summed_loss, read=lambda e: len(e.tokens), learnt=lambda e: e.completion
)


def train(
    network: Any,
    train_examples: Sequence[Example],
    validation: Sequence[Example],
    config: TrainConfig,
    *,
    folder: Path,
    base: str,
    device: str,
) -> Trained:
    """Train the weights of `network` that want gradients. It is left in evaluation mode.

    network: a model with an adapter (see `with_lora`) on `device`. folder: where the state
    is kept (see `argus.training.loop.train`). base: hash of the model below.
    """
    described = [f"{name}={value}" for name, value in sorted(config.described().items())]
    texts = [f"{e.doc_id} {e.completion} {e.tokens}" for e in (*train_examples, *validation)]
    key = content_hash(str(len(train_examples)), base, *described, *texts).hex()
    return loop.train(
        network, ANSWERS, Fixed(train_examples), validation, config,
        folder=folder, key=key, device=device,
    )  # fmt: skip
