from .config import ExplainConfig as ExplainConfig, RunConfig as RunConfig
from .run import explain_failed as explain_failed
