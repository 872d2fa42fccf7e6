from .config import EngineConfig as EngineConfig
from .local import (
    Engine as Engine,
    Work as Work,
)
from .opening import open_engine as open_engine
