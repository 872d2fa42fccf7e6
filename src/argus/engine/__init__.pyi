from .local import (
    Engine as Engine,
    EngineConfig as EngineConfig,
    Work as Work,
)
from .on_ray import open_engine as open_engine, open_given as open_given
