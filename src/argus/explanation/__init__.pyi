from .config import ExplainConfig as ExplainConfig, RunConfig as RunConfig
