"""A chat endpoint on loopback that behaves as a test tells it to."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from argus.llm import ChatConfig, Ledger, OpenAIModel


def chat(content, finish="stop", usage=(3, 2), **message):
    """The body of a chat completion."""
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
    choice = {"message": {"role": "assistant", "content": content} | message}
    return json.dumps({"choices": [choice | {"finish_reason": finish}], "usage": counts})


class Endpoint:
    """Answers "<text>!"; counts 3 tokens in and 2 out."""

    chat = staticmethod(chat)

    def __init__(self):
        self.requests = []
        self.headers = []
        self.behave = lambda text, n: None
        """Called with the user's text and the number of the request; None answers as it should."""
        self.released = threading.Event()
        self.under_way = self.most_under_way = 0
        self.lock = threading.Lock()

    @property
    def texts(self):
        return [body["messages"][-1]["content"] for body in self.requests]


def handler_of(endpoint):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with endpoint.lock:
                endpoint.requests.append(body)
                endpoint.headers.append(dict(self.headers) | {"path": self.path})
                n = len(endpoint.requests)
                endpoint.under_way += 1
                endpoint.most_under_way = max(endpoint.most_under_way, endpoint.under_way)
            text = body["messages"][-1]["content"]
            try:
                answer = endpoint.behave(text, n) or {}
                with endpoint.lock:
                    endpoint.under_way -= 1
                self.answer(answer, answer.get("content", chat(f"{text}!")))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def answer(self, answer, content):
            if answer.get("drop"):
                self.close_connection = True
                return
            data = content if isinstance(content, bytes) else content.encode()
            self.send_response(answer.get("status", 200))
            for name, value in answer.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if answer.get("half"):
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
            elif answer.get("drip"):
                for i in range(len(data)):
                    self.wfile.write(data[i : i + 1])
                    if endpoint.released.wait(0.05):
                        return
            else:
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # clients that went away are what some tests are about


@contextmanager
def serving(endpoint):
    server = Server(("127.0.0.1", 0), handler_of(endpoint))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        endpoint.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def endpoint():
    endpoint = Endpoint()
    with serving(endpoint) as endpoint.url:
        yield endpoint


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def model(endpoint, ledger):
    """Makes models of the endpoint that share one ledger."""

    def make(**options):
        options = {"backoff_s": 0.001, "base_url": endpoint.url, "model": "m"} | options
        return OpenAIModel(ChatConfig(**options), ledger)

    return make
