"""Run the service until it is told to stop."""

from __future__ import annotations

import uvicorn

from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import Workplace


def run_service(workplace: Workplace, config: ServeConfig) -> None:
    """Listen, and serve until a signal comes."""
    uvicorn.run(create_app(workplace, config), host=config.host, port=config.port)
