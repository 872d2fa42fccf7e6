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
    load_any_encoder as load_any_encoder,
    load_encoder as load_encoder,
    require_vectors as require_vectors,
)
from .protocol import (
    Encoder as Encoder,
    Rows as Rows,
    TokenCounter as TokenCounter,
    pools_spans as pools_spans,
)
from .store import (
    EmbeddingStore as EmbeddingStore,
    Store as Store,
    open_store as open_store,
    read_header as read_header,
)
