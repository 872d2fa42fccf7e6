from .config import EngineConfig as EngineConfig
from .local import (
    Engine as Engine,
    Work as Work,
    open_engine as open_engine,
)
