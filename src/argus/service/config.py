"""What can be set of the service."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated

from argus.settings import Doc, Ge, Gt, Le, check_settings

LISTENING = "Listening"
"""Heading of the options that say where it listens."""
LIMITS = "Limits"
"""Heading of the options that bound a request."""


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """Where the service listens, and what a request may cost."""

    host: Annotated[
        str, Doc("Address to listen on. Beyond loopback every request needs a token.")
    ] = "127.0.0.1"
    port: Annotated[int, Ge(0), Le(65535), Doc("Port; 0 takes a free one.")] = 8765
    per_minute: Annotated[int, Ge(1), Doc("Requests that one address may send in a minute.")] = (
        60_000
    )
    max_body_mb: Annotated[float, Gt(0), Doc("Size of a request at most, in megabytes.")] = 10.0
    timeout_s: Annotated[float, Gt(0), Doc("Seconds that a request may take.")] = 60.0
    jobs_at_once: Annotated[int, Ge(1), Doc("Jobs that run at the same time.")] = 2
    log_texts: Annotated[bool, Doc("Keep texts of questions and documents in the log.")] = False

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def needs_token(self) -> bool:
        """Whether it listens beyond this machine."""
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"
