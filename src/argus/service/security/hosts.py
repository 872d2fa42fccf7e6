"""The Host header: a page of elsewhere that points its name at this machine is refused."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from argus.service.config import ServeConfig
from argus.service.security.refusing import refusal

_HOST = re.compile(r"(\[(?P<address>[^\[\]]*)\]|(?P<name>[^:\[\]]+))(:[0-9]*)?")
"""An address in brackets or a name, and a port."""


class HostCheck:
    """ASGI middleware that answers under known names alone.

    A numeric address cannot be rebound by a name server; beyond loopback any of them will do, and
    this machine's own name. On loopback none but loopback's.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig) -> None:
        self.app, self._beyond = app, config.needs_token
        own: Iterable[str] = (socket.gethostname(), socket.getfqdn()) if self._beyond else ()
        self._names = {
            name.lower() for name in ("localhost", config.host, *own, *config.host_names)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] in ("http", "websocket"):
            host = Headers(scope=scope).get("host", "")
            if not self._is_own(host_name(host)):
                response = refusal(
                    400,
                    f"this service is not called {host!r}; expected localhost, an address of it, "
                    "or a name given with --host-name",
                )
                await response(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _is_own(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self._beyond or address.is_loopback


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port and brackets; all of it where it has none.

    What follows a bracket or a colon is a port: else it is a part of the name, as a browser has it.
    """
    host = host.strip().lower()
    if (parts := _HOST.fullmatch(host)) is None:
        return host
    return parts["address"] or parts["name"]
