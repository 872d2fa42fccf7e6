from .settings import LoopConfig as LoopConfig
