from .config import EvaluateConfig as EvaluateConfig
from .gate import GateBounds as GateBounds
from .history import compare_runs as compare_runs
