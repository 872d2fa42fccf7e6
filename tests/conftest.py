"""Fixtures that the whole suite shares: no network, the real MiniLM, the shared collections."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
os.environ["TOKENIZERS_PARALLELISM"] = "false"

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs offline: only loopback may be connected to."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else "unix"
        if self.family != socket.AF_UNIX and host not in LOOPBACK:
            raise AssertionError(f"a test tried to connect to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def minilm():
    """The default encoder, in float32, loaded once."""
    from argus.encoders import EncoderConfig, load_encoder

    return load_encoder(EncoderConfig(precision="float32")).encoder


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return the path of a shared collection; skip where there is none, fail in CI."""
    root = Path(os.environ.get("ARGUS_SHARED", Path(__file__).parents[2] / "shared"))

    def collection(name: str) -> Path:
        path = root / "data" / name
        if not path.exists():
            reason = f"{path} is missing (set ARGUS_SHARED to the folder that holds data/{name})"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return collection
