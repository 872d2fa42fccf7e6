from .compared_lists import (
    compare_indexes as compare_indexes,
    compare_retrievers as compare_retrievers,
)
from .compared_results import (
    compare_encoders as compare_encoders,
    compare_folders as compare_folders,
)
from .config import EvaluateConfig as EvaluateConfig
from .gate import GateBounds as GateBounds
from .history import compare_runs as compare_runs
