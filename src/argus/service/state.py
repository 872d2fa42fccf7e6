"""What the handlers of one service share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from argus.service.config import ServeConfig
from argus.service.jobs.queue import Jobs
from argus.service.workplace import Workplace


@dataclass
class Service:
    """The service: its workplace, its settings, and what it keeps warm."""

    workplace: Workplace
    config: ServeConfig
    jobs: Jobs | None = None
    """Commands that were started; None where none can be."""


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)


ServiceOf = Annotated[Service, Depends(service_of)]
"""A handler's parameter: the service."""
