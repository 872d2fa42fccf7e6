from .lost import (
    Lost as Lost,
    Pruned as Pruned,
)
from .replay import (
    Replay as Replay,
    Replayed as Replayed,
)
