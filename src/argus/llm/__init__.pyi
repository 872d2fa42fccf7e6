from .budget import (
    Spending as Spending,
    approximate_tokens as approximate_tokens,
)
from .config import ChatConfig as ChatConfig
from .ledger import (
    Entry as Entry,
    Ledger as Ledger,
)
from .local import TransformersModel as TransformersModel
from .local_config import LocalConfig as LocalConfig
from .open import (
    OpenedModel as OpenedModel,
    open_model as open_model,
)
from .openai import OpenAIModel as OpenAIModel
from .plan import (
    Estimate as Estimate,
    estimate as estimate,
)
from .protocol import (
    LanguageModel as LanguageModel,
    LanguageModelError as LanguageModelError,
    ModelConfig as ModelConfig,
    Outcome as Outcome,
    Prompt as Prompt,
    State as State,
)
