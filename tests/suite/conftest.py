"""Suites embed the same texts again and again."""

from __future__ import annotations

import pytest

from tests.support import vectors


@pytest.fixture(autouse=True)
def texts_are_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors.make_once(monkeypatch)
