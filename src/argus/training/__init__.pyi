from .loop import LoopConfig as LoopConfig
