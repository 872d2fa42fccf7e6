"""Clients of the service in this process, and a server of it."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient

from argus.service.app import open_listener, uvicorn_config

ADDRESS = "http://127.0.0.1:8765"


class Client(TestClient):
    """Calls the service by an address that it answers to."""

    def __init__(self, app, **options):
        super().__init__(app, base_url=ADDRESS, **options)


@contextmanager
def run_in_a_thread(app, config):
    """Yield the port of an application that uvicorn serves as the command does."""
    listener = open_listener(config)
    assert listener.proto == socket.IPPROTO_TCP, "asyncio sends at once only then"
    server = uvicorn.Server(uvicorn_config(app))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(120)
        assert not thread.is_alive()


def wait_until_ready(client):
    """Wait until what a service searches is open."""
    end = time.monotonic() + 120
    while not client.get("/readyz").json()["ready"]:
        assert time.monotonic() < end
        time.sleep(0.02)
