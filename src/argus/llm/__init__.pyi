from .config import (
    ChatConfig as ChatConfig,
    LocalConfig as LocalConfig,
)
from .ledger import (
    Entry as Entry,
    Ledger as Ledger,
)
from .local import TransformersModel as TransformersModel
from .open import open_model as open_model
from .openai import OpenAIModel as OpenAIModel
from .plan import (
    Estimate as Estimate,
    estimate as estimate,
)
from .protocol import (
    LanguageModel as LanguageModel,
    LanguageModelError as LanguageModelError,
    ModelConfig as ModelConfig,
    OpenedModel as OpenedModel,
    Outcome as Outcome,
    Prompt as Prompt,
    Spending as Spending,
    State as State,
    approximate_tokens as approximate_tokens,
)
