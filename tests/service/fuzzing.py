"""Sends an operation of the description what fits it, and what does not."""

import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

EXAMPLES = 6


@schemathesis.serializer("application/x-ndjson")
def as_it_is(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def ask(operation):
    """Send an operation what fits its description, and what does not."""

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck),
        database=None,
    )  # fmt: skip
    @given(
        case=st.one_of(
            operation.as_strategy(),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )
    )
    def send(case):
        try:
            response = case.call(timeout=120)
        except requests.ConnectionError:  # refused by its head, with the body not yet read
            return
        case.validate_response(response, checks=[not_a_server_error])

    send()
