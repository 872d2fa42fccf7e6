"""Chroma: what a server is told of who asks."""

from __future__ import annotations

import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from argus.errors import ArgusError
from argus.stores.spec import open_store


def test_user_and_password_of_an_address_are_sent_and_not_shown() -> None:
    heard: list[str | None] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers["authorization"])
            self.send_error(401)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://ada:se%40cret@127.0.0.1:{server.server_port}"
    with pytest.raises(ArgusError) as refused, open_store(f"chroma:{address}/docs"):
        pass
    server.shutdown()
    thread.join()
    server.server_close()
    assert heard and set(heard) == {f"Basic {b64encode(b'ada:se@cret').decode()}"}
    assert "cret" not in str(refused.value)
