"""Which model runs here, with which adapter, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.llm.config import PANEL, AnswerTokens, Concurrency, Model, RetryFailed, check_extra
from argus.settings import Choices, Doc, Ge, Option, check_settings

DTYPES = ("auto", "float32", "bfloat16", "float16")
OWN_SETTINGS = frozenset(
    {"max_new_tokens", "max_length", "min_length", "min_new_tokens", "do_sample", "temperature"}
    | {"eos_token_id", "pad_token_id", "num_return_sequences", "return_dict_in_generate"}
)


@dataclass(frozen=True, kw_only=True)
class LocalConfig:
    """A causal language model that `transformers` runs on this machine.

    model: a folder with weights and tokenizer, or a name on the hub. device: "cpu", "cuda", ...;
    None takes a GPU when there is one. dtype: "auto" is bfloat16 on a GPU that has it, float16 on
    others, float32 on the CPU. max_tokens: bound of an answer where its prompt names none;
    max_tokens_override: of every answer. batch_size: prompts at once; halved when the memory does
    not suffice. extra: further settings of `transformers.GenerationConfig`, such as
    {"repetition_penalty": 1.1}; what a model's own generation_config.json suggests is not taken.

    Decoding is greedy, each answer is that of its prompt alone: which others stand in its batch
    changes it only by rounding, which in float32 stays far below the gaps between tokens.
    """

    model: Model
    adapter: Annotated[
        Path | None,
        Doc("LoRA adapter for a local: model, as argus scenarios distill writes it."),
        Option(panel=PANEL),
    ] = None
    device: str | None = None
    dtype: Annotated[str, Choices(DTYPES)] = "auto"
    max_tokens: Annotated[int, Ge(1)] = 1024
    max_tokens_override: AnswerTokens = None
    batch_size: Concurrency = 8
    extra: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of transformers
    retry_failed: RetryFailed = True

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.model.strip():
            raise InputError(
                "no model",
                expected="a folder with a causal language model, or its name on the hub",
                fix="Give --model local:FOLDER.",
                where="model",
            )
        check_extra(
            self.extra, OWN_SETTINGS, kind="settings", example='{"repetition_penalty": 1.1}',
            instead="Use max_tokens for the length; decoding is greedy.",
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Names of model and adapter, without the folders that they lie in."""
        name = Path(self.model).resolve().name if Path(self.model).is_dir() else self.model
        return f"{name}+{self.adapter.resolve().name}" if self.adapter else name

    @property
    def identity(self) -> str:
        """Hash of weights, tokenizer and adapter: a folder may hold another model tomorrow."""
        from argus.data.provenance import content_hash
        from argus.llm.weights import adapter_hash, find_adapter, find_model, model_hash

        parts = [model_hash(find_model(self.model))]
        if self.adapter is not None:
            parts.append(adapter_hash(find_adapter(self.adapter)))
        return f"local:{content_hash(*parts).hex()}"

    @property
    def temperature(self) -> float:
        """0: decoding is greedy."""
        return 0.0

    @property
    def input_price(self) -> None:
        """Nothing is charged."""

    @property
    def output_price(self) -> None:
        """Nothing is charged."""

    def to_send(self) -> LocalConfig:
        """Return what loads the same model in a process that has another working directory."""
        folder = Path(self.model)
        model = str(folder.absolute()) if folder.is_dir() else self.model
        return replace(self, model=model, adapter=self.adapter and self.adapter.absolute())
