"""Open the model that a configuration names, at an endpoint or on this machine."""

from __future__ import annotations

from argus.engine import Engine
from argus.llm.config import ChatConfig, LocalConfig
from argus.llm.ledger import Ledger
from argus.llm.local import TransformersModel
from argus.llm.model import LedgerModel
from argus.llm.openai import OpenAIModel


def open_model(
    config: ChatConfig | LocalConfig, ledger: Ledger, engine: Engine | None = None
) -> LedgerModel:
    """Return the model. Nothing is asked or loaded before its first prompt.

    engine: workers for a model that transformers runs. Endpoints are always asked from here, and
    the local engine leaves work that uses all cores to this process.
    """
    if isinstance(config, LocalConfig):
        away = engine if engine is not None and engine.name != "local" else None
        return TransformersModel(config, ledger, away)
    return OpenAIModel(config, ledger)
