from .config import (
    DEFAULT_MODEL as DEFAULT_MODEL,
    EncoderConfig as EncoderConfig,
    as_config as as_config,
)
from .embed import (
    Embedded as Embedded,
    Item as Item,
    Role as Role,
    documents as documents,
    embed as embed,
    queries as queries,
)
from .load import (
    LoadedEncoder as LoadedEncoder,
    load_encoder as load_encoder,
    loaded_encoder as loaded_encoder,
)
from .protocol import (
    Encoder as Encoder,
    TokenCounter as TokenCounter,
)
from .scoring import (
    Scoring as Scoring,
)
from .store import (
    EmbeddingStore as EmbeddingStore,
    stored_fingerprint as stored_fingerprint,
)
