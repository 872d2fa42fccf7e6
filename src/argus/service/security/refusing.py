"""What is sent to who is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response


def refusal(status: int, detail: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response that says why; any text can be sent, whatever is in it."""
    body = json.dumps({"detail": detail}, ensure_ascii=True)
    return Response(body, status, headers, "application/json")
