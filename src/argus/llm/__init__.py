"""Language models: prompts to answers, each kept in a ledger, within a budget."""

from argus.llm.budget import Spending, approximate_tokens
from argus.llm.config import ChatConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.openai import OpenAIModel
from argus.llm.plan import Estimate, estimate
from argus.llm.protocol import LanguageModel, LanguageModelError, Outcome, Prompt, State

__all__ = [
    "ChatConfig",
    "Entry",
    "Estimate",
    "LanguageModel",
    "LanguageModelError",
    "Ledger",
    "OpenAIModel",
    "Outcome",
    "Prompt",
    "Spending",
    "State",
    "approximate_tokens",
    "estimate",
]
