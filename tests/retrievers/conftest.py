"""Documents, an HTTP server on the loopback, an index with a blend."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from argus.data.types import Document
from tests.cli.conftest import argus  # noqa: F401
from tests.stores.conftest import postgres  # noqa: F401
from tests.support.blended import blended_index

DOCUMENTS = [
    Document("tea", "Tea is made of leaves and hot water.", "Tea"),
    Document("coffee", "Coffee is made of roasted beans and hot water.", "Coffee"),
    Document("ska", "Ska came from Jamaica, before reggae.", "Ska"),
]


def by_words(query: str, k: int) -> list[tuple[str, float]]:
    """Return ids with the number of words that they share with a query, best first."""
    words = set(query.lower().split())
    counts = [(d.id, float(len(words & set(d.content.lower().split())))) for d in DOCUMENTS]
    return sorted(counts, key=lambda pair: -pair[1])[:k]


def langchain(find: Callable[[str], list[tuple[str, float]]]) -> Any:
    """A retriever of LangChain over ids and scores."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Pages(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(f"page {i}", metadata={"source": i}) for i, _ in find(query)]

    return Pages()


def llama_index(find: Callable[[str], list[tuple[str, float]]]) -> Any:
    """A retriever of LlamaIndex over ids and scores."""
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Nodes(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            found = find(query_bundle.query_str)
            return [NodeWithScore(node=TextNode(text=f"node {i}", id_=i), score=s)
                    for i, s in found]  # fmt: skip

    return Nodes()


@pytest.fixture
def documents() -> list[Document]:
    return list(DOCUMENTS)


Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]]


class Server:
    """Answers requests by `reply(path, parameters, body, headers)`; counts those under way."""

    def __init__(self) -> None:
        self.reply: Callable[..., Reply] = lambda *_: (500, {})
        self.requests: list[tuple[str, dict[str, str], Any, dict[str, str]]] = []
        self.delay_s = 0.0
        self.under_way = self.most_under_way = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a head waits 40 ms for its body

            def do_POST(self) -> None:
                parts = urlsplit(self.path)
                parameters = {k: v[0] for k, v in parse_qs(parts.query).items()}
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                headers = {k.lower(): v for k, v in self.headers.items()}
                outer.requests.append((parts.path, parameters, body, headers))
                with lock:
                    outer.under_way += 1
                    outer.most_under_way = max(outer.most_under_way, outer.under_way)
                time.sleep(outer.delay_s)
                with lock:
                    outer.under_way -= 1
                status, content, *rest = outer.reply(parts.path, parameters, body, headers)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in (rest[0] if rest else {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                """Say nothing of a client that went away: tests make some."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """An index with a blend and a correction of queries, as a retriever."""
    return blended_index(tmp_path_factory.mktemp("blended") / "index", corrects=True)
