from .config import ChatConfig as ChatConfig, LocalConfig as LocalConfig
from .ledger import Entry as Entry, Ledger as Ledger, State as State
from .local import TransformersModel as TransformersModel, open_model as open_model
from .model import (
    Estimate as Estimate,
    LanguageModel as LanguageModel,
    LanguageModelError as LanguageModelError,
    LedgerModel as LedgerModel,
    ModelConfig as ModelConfig,
    Outcome as Outcome,
    Prompt as Prompt,
    Spending as Spending,
    approximate_tokens as approximate_tokens,
    estimate as estimate,
)
from .openai import OpenAIModel as OpenAIModel
