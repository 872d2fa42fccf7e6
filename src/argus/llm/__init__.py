"""Language models: prompts to answers, each kept in a ledger, within a budget."""

from argus.llm.budget import Spending, approximate_tokens
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.local import TransformersModel
from argus.llm.local_config import LocalConfig
from argus.llm.open import OpenedModel, open_model
from argus.llm.openai import OpenAIModel
from argus.llm.plan import Estimate, estimate
from argus.llm.protocol import (
    LanguageModel,
    LanguageModelError,
    ModelConfig,
    Outcome,
    Prompt,
    State,
)

__all__ = [
    "ChatConfig",
    "Entry",
    "Estimate",
    "LanguageModel",
    "LanguageModelError",
    "Ledger",
    "LocalConfig",
    "ModelConfig",
    "OpenAIModel",
    "OpenedModel",
    "Outcome",
    "Prompt",
    "Spending",
    "State",
    "TransformersModel",
    "approximate_tokens",
    "estimate",
    "open_model",
]
