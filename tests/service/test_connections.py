"""Connections of clients that send without an end, or read nothing, or slowly: real sockets."""

import select
import socket
import time

import httpx
import pytest
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

from argus.service import connections
from argus.service.config import ServeConfig
from tests.service.client import run_in_a_thread

PIECE = 1 << 16
PIECES = 512
"""More than the system holds of a connection."""


@pytest.fixture(params=[AutoHTTPProtocol, H11Protocol], ids=["auto", "h11"])
def port(request, monkeypatch):
    """The port of a service of large answers, whose connections may be idle for a second."""
    monkeypatch.setattr(connections, "AutoHTTPProtocol", request.param)
    app = FastAPI()

    @app.get("/whole")
    def whole():
        return Response(bytes(PIECE * PIECES))

    @app.get("/parts")
    def parts():
        return StreamingResponse(bytes(PIECE) for _ in range(PIECES))

    with run_in_a_thread(app, ServeConfig(port=0, idle_s=1)) as port:
        yield port


def asked(port, path):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    return connection


def is_reset(connection, seconds=60):
    """Wait without reading."""
    poll = select.poll()
    poll.register(connection, 0)
    return bool(poll.poll(1000 * seconds))


@pytest.mark.parametrize("path", ["/whole", "/parts"])
def test_who_reads_nothing_of_an_answer_is_cut_off(port, path):
    with asked(port, path) as deaf:
        assert is_reset(deaf)


def test_who_reads_slowly_has_the_whole_answer(port, monkeypatch):
    looks, look = [], connections.bytes_not_taken
    monkeypatch.setattr(connections, "bytes_not_taken", lambda t: looks.append(0) or look(t))
    size = 0
    with asked(port, "/whole") as slow:
        slow.settimeout(60)
        while part := slow.recv(PIECE):
            size += len(part)
            if len(looks) < 4:  # two bounds have passed
                time.sleep(0.01)
    assert len(looks) >= 4 and size > PIECE * PIECES


@pytest.mark.parametrize(
    "start",
    [
        "GET /",
        "GET / HTTP/1.1\r\nHost: x\r\nX: ",
        "GET / HTTP/1.1\r\nX",
        "POST /whole HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    ],
    ids=["address", "header", "name", "trailer"],
)
def test_a_line_without_an_end_is_refused_before_it_is_held(port, start):
    with socket.create_connection(("127.0.0.1", port)) as endless:
        endless.settimeout(60)
        with pytest.raises(ConnectionError):
            endless.sendall(start.encode())
            for _ in range(PIECES):
                endless.sendall(b"a" * PIECE)
    assert httpx.get(f"http://127.0.0.1:{port}/docs", timeout=60).status_code == 200


def test_a_long_body_is_no_long_head(port):
    body = b"a" * PIECE * 32
    for content in (body, iter([body[:100_000], body])):  # by its length, and in chunks
        answer = httpx.post(f"http://127.0.0.1:{port}/whole", content=content, timeout=60)
        assert answer.status_code == 405
