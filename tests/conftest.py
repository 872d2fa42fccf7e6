"""What the whole suite shares: no network, MiniLM, collections, a repairable index, an endpoint."""

from __future__ import annotations

import dataclasses
import gc
import json
import logging
import os
import resource
import shutil
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from tests.support import vectors
from tests.support.draws import IS_CAMPAIGN, examples

if TYPE_CHECKING:
    from argus.encoders.models import OnnxEncoder

# the same examples in every run, and the same verdict on a machine that is slow or busy
settings.register_profile(
    "argus",
    derandomize=True,
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("argus")

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# of Milvus: a process that forks to start another, as PostgreSQL, would abort
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray keeps to loopback
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a5" * 32}  # not the user's own

gc.disable()  # until all is imported: `pytest_collection_finish`

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# Rooms and files that load the same large libraries, or serve the same: one process runs each.
TOGETHER = {
    "transformers": (
        "examples", "encoders", "generative", "suite", "scenarios/distill", "training",
        "knowledge/test_ner", "llm/test_local", "tuning/test_arms", "retrievability/test_families",
        "explanation/test_corpus", "indexes/test_dot", "truth/test_encoders", "cli/test_folders",
        "cli/test_refusals", "test_api", "test_your_own",
    ),
    "stores": (
        "corpora", "stores", "remedies/writing", "retrievers/test_blend_records", "reach",
        "retrievers/test_dense", "tuning/test_native", "indexes/test_fusion", "truth/test_commands",
        "truth/test_fields", "truth/test_local_qdrant", "truth/test_serve_own_store",
        "retrievers/test_python_retrievers", "retrievers/test_blended", "authority/test_wrappers",
    ),
    "pages": ("service/page",),
}  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave campaigns out, and put files with slow tests first: no worker has one at the end."""
    campaigns = [item for item in items if "campaign" in item.keywords and not IS_CAMPAIGN]
    if campaigns:
        items[:] = [item for item in items if item not in campaigns]
        config.hook.pytest_deselected(items=campaigns)
    slow = {item.path for item in items if "slow" in item.keywords}
    items.sort(key=lambda item: (_together(item.nodeid) not in TOGETHER, item.path not in slow))


def _together(nodeid: str) -> str:
    """Return what a test runs together with: a name of TOGETHER, or its file."""
    file = nodeid.partition("::")[0]
    return next((name for name, parts in TOGETHER.items() if file[6:].startswith(parts)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(nodeid)

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Have the collector leave alone what imports made, and look less often: a tenth of all time.

    A test that asks what is collected calls `gc.collect`.
    """
    gc.freeze()
    given(none())(lambda _: None)()  # Hypothesis looks through all objects once: there are few now
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Look once for what was not closed: pytest looks ten times."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[Callable[..., OnnxEncoder]]:
    """Read the default encoder once for all who name it in the same words; `cache_clear` forgets.

    Each has an encoder of its own over the same model. Certificates are read once, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield vectors.read_once(patch)


# Rooms whose tests are about the embedding itself, or about what it takes.
EMBED_ANEW = {"encoders", "engine", "health", "jobs"}


@pytest.fixture(scope="session")
def kept_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of vectors that all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "vectors"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module", autouse=True)
def embed_once(request: pytest.FixtureRequest, kept_vectors: Path) -> Iterator[None]:
    """Have a text that many tests embed embedded once."""
    room = request.path.relative_to(Path(__file__).parent).parts[0]
    with pytest.MonkeyPatch.context() as patch:
        if room not in EMBED_ANEW:
            vectors.make_once(patch, kept_vectors)
        yield


@pytest.fixture(scope="session")
def minilm():
    """The default encoder, loaded once."""
    from argus.encoders import EncoderConfig, load_encoder

    return load_encoder(EncoderConfig())


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


KNOWN = {
    "Bern": "Bern is the capital city of Switzerland. It lies in a bend of the Aare.",
    "Aare": "The Aare is a river of Switzerland that flows into the Rhine.",
    "Basel": "Basel is a Swiss city on the Rhine, known for its chemical industry.",
    "Lake Thun": "Lake Thun is an Alpine lake in the Bernese Oberland of Switzerland.",
    "Ada Lovelace": "Ada Lovelace was an English mathematician who wrote the first program.",
    "Charles Babbage": "Charles Babbage was an English inventor of mechanical computers.",
    "Analytical Engine": "The Analytical Engine was a mechanical computer of Charles Babbage.",
    "Royal Society": "The Royal Society is a learned society for the sciences in London.",
    "The Skatalites": "The Skatalites are a ska band from Jamaica.",
    "Kingston": "Kingston is the capital of Jamaica.",
    "Season of Mist": "Season of Mist is an independent record label in France.",
}
TEXTS = {
    "old-town": "The old town of Bern was rebuilt in sandstone after the fire.",
    "bridge": "A bridge over the Aare collapsed in the flood, and Bern was cut off for a week.",
    "swim": "In summer many people swim down the Aare to work.",
    "factory": "Basel closed its last dye factory after the accident.",
    "steamer": "A paddle steamer crosses Lake Thun every morning.",
    "notes": "The notes of Ada Lovelace are longer than the article that she translated.",
    "engine": "Only a part of the Analytical Engine was ever built by Charles Babbage.",
    "medal": "The Royal Society gave Charles Babbage a medal.",
    "letters": "Letters of Charles Babbage were sold to a collector in Basel.",
    "concert": "The Skatalites played in Kingston for the first time in ten years.",
    "vinyl": "Season of Mist pressed the album on vinyl.",
    "rain": "It rained on most days of the week.",
    "bread": "Bread is baked from flour, water and yeast.",
}
QUESTIONS = {
    "Which Swiss capital was built anew in stone?": "old-town",
    "Where do people take a river to the office?": "swim",
    "Jamaican ska on stage": "concert",
    "What did the first programmer write?": "notes",
    "French metal records": "vinyl",
    "What became of the inventor's correspondence?": "letters",
}
# 16 entities of 11 documents of TEXTS have a lower RPS, as the probe for MiniLM predicts it.
TAU = 0.6


class Repairable:
    """A small index, what is known of its entities, and judged questions that do not name them."""

    def __init__(self, folder: Path, encoder):
        from argus.data.types import Document, Query
        from argus.encoders import EncoderConfig
        from argus.indexes.job import build_index
        from argus.remedies.config import ReferenceConfig

        self.encoder, self.texts, self.tau = encoder, TEXTS, TAU
        self.passages = [
            {"_id": f"k{i}", "title": name, "text": text}
            for i, (name, text) in enumerate(KNOWN.items())
        ]
        self.kb = folder / "kb.jsonl"
        self.kb.write_text("".join(json.dumps(passage) + "\n" for passage in self.passages))
        self.reference = ReferenceConfig(kb=(self.kb,), mentions="gazetteer")
        self.queries = [Query(f"q{i}", text) for i, text in enumerate(QUESTIONS)]
        self.qrels = {f"q{i}": {doc: 1} for i, doc in enumerate(QUESTIONS.values())}
        self.documents = [Document(id_, text) for id_, text in TEXTS.items()]
        self.built = folder / "built"
        build_index(self.documents, out=self.built, encoder=EncoderConfig())
        self.asked = encoder.encode_queries([*KNOWN, *QUESTIONS, *TEXTS.values()])
        self._keep_vectors(folder / "once")

    def _keep_vectors(self, path: Path) -> None:
        """Leave the vectors of the usual repairs in the store, so that each is made once."""
        from argus.remedies.config import PAPER

        index = self.copy(path)
        self.expand(index), self.expand(index, config=PAPER), self.synthesize(index)
        shutil.copytree(index / "embeddings", self.built / "embeddings", dirs_exist_ok=True)

    def copy(self, path: Path) -> Path:
        """An index of its own for a test to change."""
        return shutil.copytree(self.built, path)

    def expand(self, index: Path, **options):
        """Expand with up to four views per document, so that some have several."""
        from argus.remedies.config import ROBUST
        from argus.remedies.expansion import expand_index

        several = dataclasses.replace(ROBUST, max_views=4)
        return expand_index(index, **{"config": several} | self._given(options))

    def synthesize(self, index: Path, **options):
        from argus.remedies.synthesis import synthesize_index

        return synthesize_index(index, **self._given(options))

    def _given(self, options):
        return {"reference": self.reference, "encoder": self.encoder, "tau": self.tau} | options

    def answers(self, index: Path, as_of: str | None = None) -> str:
        """A hash of what all questions, names and texts find: documents, scores, views."""
        from argus.data.provenance import content_hash
        from argus.indexes.views import ViewIndex

        found = ViewIndex.open(index).search(self.asked, 100, as_of)
        parts = (found.doc_ids, found.scores, found.view_ids)
        return content_hash(json.dumps(parts)).hex()


@pytest.fixture(scope="session")
def repairable(minilm, tmp_path_factory) -> Repairable:
    return Repairable(tmp_path_factory.mktemp("repairable"), minilm)


@pytest.fixture
def index(repairable, tmp_path) -> Path:
    """The folder of a small index that can be repaired."""
    return repairable.copy(tmp_path / "index")


@pytest.fixture
def full_disk(monkeypatch):
    """Make `owner.name` write to a disk that takes no file of more than `limit` bytes."""

    def fill(owner, name, limit, when=lambda *_: True):
        real = getattr(owner, name)

        def limited(*args, **options):
            if not when(*args):
                return real(*args, **options)
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            try:
                return real(*args, **options)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        monkeypatch.setattr(owner, name, limited)

    return fill


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
        # Called with the user's text and the number of the request; None answers as it should.
        #
        # Else it says what is different: `text` and `finish` of the answer, or the whole `content`;
        # `status`, `headers`; `drop`, `half` (of the body), `drip` (a byte at a time).
        self.behave = lambda text, n: None
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
                said = chat(answer.get("text", f"{text}!"), answer.get("finish", "stop"))
                self.answer(answer, answer.get("content", said))
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


@pytest.fixture
def logged():
    """The messages of Argus' loggers. Pytest's own plugin goes through all loggers each time."""
    messages, logger = [], logging.getLogger("argus")
    handler, level = logging.Handler(), logger.level
    handler.emit = lambda record: messages.append(record.getMessage())
    logger.addHandler(handler), logger.setLevel(logging.INFO)
    yield messages
    logger.removeHandler(handler), logger.setLevel(level)


@contextmanager
def serving(endpoint):
    server = Server(("127.0.0.1", 0), handler_of(endpoint))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def stop():
        server.shutdown()
        server.server_close()

    endpoint.stop = stop
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        endpoint.released.set()
        stop()
        thread.join()


@pytest.fixture
def endpoint():
    """A chat endpoint on loopback that behaves as a test tells it to."""
    endpoint = Endpoint()
    with serving(endpoint) as endpoint.url:
        yield endpoint


@pytest.fixture
def second_endpoint():
    """Another one, at another address."""
    endpoint = Endpoint()
    with serving(endpoint) as endpoint.url:
        yield endpoint


@pytest.fixture
def ledger(tmp_path):
    from argus.llm import Ledger

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def model(endpoint, ledger):
    """Makes models of the endpoint that share one ledger."""
    from argus.llm import ChatConfig, OpenAIModel

    def make(**options):
        options = {"backoff_s": 0.001, "base_url": endpoint.url, "model": "m"} | options
        return OpenAIModel(ChatConfig(**options), ledger)

    return make
