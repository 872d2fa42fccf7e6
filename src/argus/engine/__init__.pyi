from .config import EngineConfig as EngineConfig
from .opening import open_engine as open_engine
from .protocol import (
    Engine as Engine,
    Work as Work,
)
