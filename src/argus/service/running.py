"""Run the service until it is told to stop."""

from __future__ import annotations

import uvicorn

from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.jobs.declared import Commands
from argus.service.workplace import Workplace

GRACE_S = 5
"""Seconds that requests under way have when the service ends."""


def run_service(workplace: Workplace, config: ServeConfig, commands: Commands) -> None:
    """Listen, and serve until a signal comes; commands: what may be started as jobs.

    Raises ArgusError where another service keeps the jobs of the first folder.
    """
    app = create_app(workplace, config, commands)
    app.state.service.jobs.open()
    uvicorn.run(app, host=config.host, port=config.port, timeout_graceful_shutdown=GRACE_S)
