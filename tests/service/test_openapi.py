"""What the description of the service says can be asked: no answer is a fault of ours."""

import schemathesis

from argus.service.app import create_app
from argus.service.config import ServeConfig
from tests.service.client import run_in_a_thread
from tests.service.fuzzing import ask

SEARCHES = ("/search", "/search/batch", "/explain", "/retrieve/langchain", "/retrieve/llamaindex")


def test_the_description_names_what_is_answered(client):
    described = client.get("/openapi.json").json()
    assert {*SEARCHES, "/resolve", "/healthz", "/readyz", "/metrics"} <= set(described["paths"])
    assert not [path for path in described["paths"] if path.startswith(("/page", "/login"))]
    schemas = described["components"]["schemas"]
    assert {"SearchResults", "ServedHit", "ChainLink", "Explanation"} <= set(schemas)
    assert schemas["Search"]["additionalProperties"] is False


def test_no_request_is_answered_by_a_fault(served):
    config = ServeConfig(port=0)
    app = create_app(served.service.workplace, config)
    app.state.service.searcher._source = served.service.searcher.source()  # warm already
    with run_in_a_thread(app, config) as port:
        url = f"http://127.0.0.1:{port}"
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=120)
        for operation in schema.get_all_operations():
            ask(operation.ok())
