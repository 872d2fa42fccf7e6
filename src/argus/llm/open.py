"""From a configuration to the model it names, at an endpoint or on this machine."""

from __future__ import annotations

from typing import Protocol

from argus.engine import Engine
from argus.llm.budget import Spending
from argus.llm.config import ChatConfig
from argus.llm.ledger import Ledger
from argus.llm.local import TransformersModel
from argus.llm.local_config import LocalConfig
from argus.llm.openai import OpenAIModel
from argus.llm.protocol import LanguageModel, ModelConfig


class OpenedModel(LanguageModel, Protocol):
    """A language model that says what it was told and what it took."""

    @property
    def config(self) -> ModelConfig:
        """What it was opened with."""

    @property
    def spent(self) -> Spending:
        """What all its calls took."""


def open_model(
    config: ChatConfig | LocalConfig, ledger: Ledger, engine: Engine | None = None
) -> OpenedModel:
    """Return the model; nothing is asked or loaded before its first prompt.

    engine: where a model that transformers runs answers; endpoints are asked from here anyway. The
    local engine leaves work that uses all cores to this process.
    """
    if isinstance(config, LocalConfig):
        away = engine if engine is not None and engine.name != "local" else None
        return TransformersModel(config, ledger, away)
    return OpenAIModel(config, ledger)
