"""The code for an application, run on real stores and retrievers: it ranks as Argus does."""

import json
from pathlib import Path

import numpy as np
import pytest

from argus.errors import InputError
from argus.indexes.blend import FUSIONS
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex
from argus.tuning.arms import FUSION_ARMS
from argus.tuning.native import NATIVE, NEAREST, TARGETS, application_code
from tests.support.word_encoder import WordEncoder

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "examples/data/chunks.jsonl").read_text(encoding="utf-8").strip().split("\n")
CHUNKS = [json.loads(line) for line in LINES]
IDS, TEXTS = [chunk["id"] for chunk in CHUNKS], [chunk["text"] for chunk in CHUNKS]
QUERIES = (
    "how to read a file line by line and close it",
    "sort a list of numbers with a key",
    "parse the arguments of the command line of a script",
)
DEPTH, K = 100, 10


def unit(texts):
    rows = WordEncoder().encode_queries([text.lower() for text in texts]).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


VECTORS = unit(TEXTS)
WORDS = LexicalIndex.build(IDS, TEXTS)

NAMED = {arm: (of.fusion, of.bm25) for arm, of in FUSION_ARMS.items()}


def code(arm, target, **place):
    method, weight = NAMED[arm]
    return application_code(arm, method=method, weight=weight, target=target, place=place)


def run(text, **names):
    exec(compile(text, "<application>", "exec", dont_inherit=True), names)  # it is the product
    return names


def arms_of(target):
    return [arm for arm, of in NAMED.items() if of[0] in NATIVE[target]]


def same(arm, got, near, words):
    """Assert that `got` is the ranking of Argus on both lists, ties apart.

    All are (id, score) pairs. None is the score of a retriever that tells none.
    """
    method, weight = NAMED[arm]
    if method.startswith("rrf"):  # ranks are those of the store, where it has ties
        near, words = ([(id_, -n) for n, (id_, _) in enumerate(hits)] for hits in (near, words))
    fused = fuse_with_bm25({"q": dict(near)}, {"q": dict(words)}, 2 * DEPTH, method, weight)["q"]
    ids = [id_ for id_, _ in got]
    assert len(words) > K and len(ids) == len(set(ids)) == K
    assert ids != [id_ for id_, _ in near][:K] or weight < 0.2
    best = list(fused.values())[:K]
    np.testing.assert_allclose([fused[id_] for id_ in ids], best, atol=2e-6)
    told = [score for _, score in got if score is not None]
    np.testing.assert_allclose(told, best[: len(told)], atol=2e-6)


# Stores.


@pytest.fixture(scope="module")
def qdrant(tmp_path_factory):
    """A collection with the counts of words as a sparse vector, weighed by IDF in the store."""
    from qdrant_client import QdrantClient, models

    folder = str(tmp_path_factory.mktemp("native") / "qdrant")
    vocabulary = {word: n for n, word in enumerate(sorted({w for t in TEXTS for w in t.split()}))}

    def sparse(text):
        known, counts = np.unique(
            [vocabulary[w] for w in text.split() if w in vocabulary], return_counts=True
        )
        return models.SparseVector(indices=known.tolist(), values=(counts / (counts + 1)).tolist())

    client = QdrantClient(path=folder)
    client.create_collection(
        "chunks",
        vectors_config={
            "dense": models.VectorParams(
                size=VECTORS.shape[1], distance=models.Distance.COSINE, on_disk=False
            )
        },
        sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    client.upsert(
        "chunks",
        [
            models.PointStruct(id=n, vector={"dense": v.tolist(), "bm25": sparse(text)})
            for n, (v, text) in enumerate(zip(VECTORS, TEXTS, strict=True))
        ],
    )
    client.close()
    return {"url": folder, "collection": "chunks", "text_field": "bm25", "k": str(K)}, sparse


@pytest.mark.parametrize("arm", arms_of("qdrant"))
def test_qdrant_ranks_as_argus(qdrant, arm):
    place, sparse = qdrant
    names = run(code(arm, "qdrant", **place))
    client = names["client"]
    try:
        for text, vector in zip(QUERIES, unit(QUERIES).tolist(), strict=True):
            near, words = (
                client.query_points("chunks", query=query, using=using, limit=DEPTH).points
                for query, using in ((vector, "dense"), (sparse(text), "bm25"))
            )
            got = [(p.id, p.score) for p in names["search"](vector, sparse(text))]
            same(arm, got, *([(p.id, p.score) for p in hits] for hits in (near, words)))
    finally:
        client.close()


@pytest.fixture(scope="module")
def lancedb(tmp_path_factory):
    import lancedb as lance
    import pyarrow as pa

    folder = str(tmp_path_factory.mktemp("native") / "lance")
    near = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), VECTORS.shape[1])
    table = lance.connect(folder).create_table(
        "chunks", pa.table({"id": IDS, "embedding": near, "body": TEXTS})
    )
    table.create_fts_index("body")
    return {
        "url": folder, "collection": "chunks", "vector_field": "embedding", "text_field": "body",
    }  # fmt: skip


@pytest.mark.parametrize("arm", arms_of("lancedb"))
def test_lancedb_ranks_as_argus(lancedb, arm):
    names = run(code(arm, "lancedb", **lancedb))
    table = names["table"]
    for text, vector in zip(QUERIES, unit(QUERIES).tolist(), strict=True):
        near = table.search(vector, vector_column_name="embedding").distance_type("cosine")
        words = table.search(text, query_type="fts", fts_columns="body")
        same(
            arm,
            [(row["id"], row["_relevance_score"]) for row in names["search"](vector, text)],
            [(row["id"], -row["_distance"]) for row in near.limit(DEPTH).to_list()],
            [(row["id"], row["_score"]) for row in words.limit(DEPTH).to_list()],
        )


@pytest.fixture(scope="module")
def milvus(tmp_path_factory):
    """A collection whose BM25 the store makes of the texts."""
    from pymilvus import DataType, Function, FunctionType, MilvusClient

    url = str(tmp_path_factory.mktemp("native") / "milvus.db")
    client = MilvusClient(url)
    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=200)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=VECTORS.shape[1])
    schema.add_field("text", DataType.VARCHAR, max_length=60_000, enable_analyzer=True)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=["text"],
            output_field_names=["sparse"],
        )
    )
    params = client.prepare_index_params()
    params.add_index("dense", index_type="FLAT", metric_type="COSINE")
    params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    client.create_collection("chunks", schema=schema, index_params=params)
    rows = zip(IDS, VECTORS.tolist(), TEXTS, strict=True)
    client.insert("chunks", [{"id": i, "dense": v, "text": t} for i, v, t in rows])
    client.close()
    return {"url": url, "collection": "chunks"}


@pytest.mark.parametrize("arm", arms_of("milvus"))
def test_milvus_ranks_as_argus(milvus, arm):
    names = run(code(arm, "milvus", **milvus))
    client = names["client"]
    try:
        for text, vector in zip(QUERIES, unit(QUERIES).tolist(), strict=True):
            near, words = (
                client.search("chunks", [query], limit=DEPTH, anns_field=field)[0]
                for query, field in ((vector, "dense"), (text, "sparse"))
            )
            got = [(h["id"], h["distance"]) for h in names["search"](vector, text)]
            same(arm, got, *([(h["id"], h["distance"]) for h in hits] for hits in (near, words)))
    finally:
        client.close()


# Retrievers of an application.


def by_vectors(text, n):
    scores = VECTORS @ unit([text])[0]
    return {IDS[row]: float(scores[row]) for row in np.argsort(-scores)[:n]}


def by_words(text, n):
    return WORDS.search([text], n).run(["q"])["q"]


def test_python_ranks_as_argus():
    for arm, (method, weight) in NAMED.items():
        names = run(code(arm, "python"), search_vectors=by_vectors, search_bm25=by_words)
        for text in QUERIES:
            lists = {"q": by_vectors(text, DEPTH)}, {"q": by_words(text, DEPTH)}
            assert names["search"](text) == fuse_with_bm25(*lists, K, method, weight)["q"]


@pytest.mark.parametrize("id_field", ["", "chunk"])
def test_langchain_ranks_as_argus(id_field):
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Words(Embeddings):
        def embed_documents(self, texts):
            return unit(texts).tolist()

        def embed_query(self, text):
            return unit([text])[0].tolist()

    pages = {
        id_: Document(text, id=None if id_field else id_, metadata={"chunk": id_})
        for id_, text in zip(IDS, TEXTS, strict=True)
    }
    store = InMemoryVectorStore(Words())
    store.add_documents(list(pages.values()))

    def search_bm25(text, n):
        return [(pages[id_], score) for id_, score in by_words(text, n).items()]

    for arm in NAMED:
        names = run(
            code(arm, "langchain", id_field=id_field),
            search_vectors=store.similarity_search_with_score,
            search_bm25=search_bm25,
        )
        for text in QUERIES:
            near = store.similarity_search_with_score(text, DEPTH)
            same(
                arm,
                [(page.metadata["chunk"], None) for page in names["retriever"].invoke(text)],
                [(page.metadata["chunk"], score) for page, score in near],
                list(by_words(text, DEPTH).items()),
            )


@pytest.mark.parametrize("id_field", ["", "chunk"])
def test_llamaindex_ranks_as_argus(id_field):
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Mine(BaseRetriever):
        def __init__(self, search):
            self.search = search
            super().__init__()

        def _retrieve(self, query):
            return [
                NodeWithScore(
                    node=TextNode(id_=("" if id_field else "n-") + id_, metadata={"chunk": id_}),
                    score=score,
                )
                for id_, score in self.search(query.query_str, DEPTH).items()
            ]

    for arm in NAMED:
        text = code(arm, "llamaindex", id_field=id_field)
        names = run(text, vectors=Mine(by_vectors), bm25=Mine(by_words))
        for text in QUERIES:
            got = names["retriever"].retrieve(text)
            same(
                arm,
                [(hit.node.metadata["chunk"], hit.score) for hit in got],
                list(by_vectors(text, DEPTH).items()),
                list(by_words(text, DEPTH).items()),
            )


# Stores that need a server: the requests.

PLACE = {"collection": "chunks", "vector_field": "embedding", "text_field": "body", "k": "7"}


class Client:
    """Takes down a search."""

    def search(self, **asked):
        self.asked = asked
        return {"hits": {"hits": [{"_id": "1"}]}}


def test_the_request_of_elasticsearch():
    near = {"knn": {"field": "embedding", "query_vector": [0.5], "k": 100, "num_candidates": 200}}
    words = {"standard": {"query": {"match": {"body": "a"}}}}
    client = Client()
    names = run(code("min-max 0.3", "elasticsearch", **PLACE))
    assert names["search"](client, [0.5], "a") == [{"_id": "1"}]
    assert json.loads(json.dumps(client.asked)) == {
        "index": "chunks",
        "size": 7,
        "retriever": {
            "linear": {
                "rank_window_size": 100,
                "retrievers": [
                    {"retriever": near, "weight": 0.7, "normalizer": "minmax"},
                    {"retriever": words, "weight": 0.3, "normalizer": "minmax"},
                ],
            }
        },
    }
    for arm, constant in (("RRF (60)", 60), ("RRF (2)", 2)):
        retriever = run(code(arm, "elasticsearch", **PLACE))["body"]([0.5], "a")["retriever"]
        assert retriever["rrf"] == {
            "rank_window_size": 100, "rank_constant": constant, "retrievers": [near, words],
        }  # fmt: skip


def test_the_request_of_opensearch():
    client = Client()
    names = run(code("min-max 0.1", "opensearch", **PLACE))
    assert names["search"](client, [0.5], "a") == [{"_id": "1"}]
    assert json.loads(json.dumps(client.asked)) == {
        "index": "chunks",
        "params": {"search_pipeline": "argus"},
        "body": {
            "size": 7,
            "query": {
                "hybrid": {
                    "pagination_depth": 100,
                    "queries": [
                        {"knn": {"embedding": {"vector": [0.5], "k": 100}}},
                        {"match": {"body": "a"}},
                    ],
                }
            },
        },
    }
    (processor,) = names["PIPELINE"]["phase_results_processors"]
    assert processor["normalization-processor"] == {
        "normalization": {"technique": "min_max"},
        "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [0.9, 0.1]}},
    }
    (processor,) = run(code("RRF (2)", "opensearch"))["PIPELINE"]["phase_results_processors"]
    assert processor["score-ranker-processor"]["combination"] == {
        "technique": "rrf", "rank_constant": 2,
    }  # fmt: skip


def test_the_call_of_weaviate():
    text = code("min-max 0.3", "weaviate", **PLACE)
    compile(text, "<application>", "exec")
    assert "fusion_type=HybridFusion.RELATIVE_SCORE, alpha=0.7," in text
    assert 'COLLECTION, VECTOR, TEXT = "chunks", "embedding", "body"\nK = 7 ' in text


# What is refused, and the page.


def test_each_fusion_is_written_or_refused_with_a_way_out():
    for target in TARGETS:
        for arm, (method, _) in NAMED.items():
            if method in NATIVE[target]:
                text = code(arm, target)
                compile(text, "<application>", "exec")
                assert text.startswith(f"# {arm} of `argus tune try`") and "$" not in text
                continue
            with pytest.raises(
                InputError, match=f"The nearest is {NEAREST[target][:4]}"
            ) as refused:
                code(arm, target)
            assert "The target python fuses" in str(refused.value)
            nearest = NEAREST[target].partition(":")[0]
            assert NAMED[nearest][0] in NATIVE[target]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"target": "pinecone"}, "target 'pinecone'; expected one of python, langchain"),
        ({"place": {"index": "x"}}, "field 'index'; expected only url, collection"),
        ({"place": {"k": "ten"}}, "k='ten'; expected a whole number from 1"),
        ({"weight": 1.5}, "weight 1.5; expected 0 to 1"),
        ({"method": "sum"}, "fusion 'sum'; expected one of min-max"),
    ],
)
def test_a_wrong_argument_is_refused(changed, words):
    given = {"method": "min-max", "weight": 0.3, "target": "python", "place": {}} | changed
    with pytest.raises(InputError) as refused:
        application_code("min-max 0.3", **given)
    assert words in str(refused.value)


def test_the_page_says_which_target_has_which_fusion():
    rows = [
        f"| {target} | {' | '.join('yes' if method in own else '' for method in FUSIONS)} |"
        for target, own in NATIVE.items()
    ]
    whole = (ROOT / "docs/tune.md").read_text(encoding="utf-8")
    page = whole.partition("## A fusion in your application")[2]
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert table == ["| target | min-max | RRF (60) | RRF (2) | DBSF |", *rows]
    example = page.partition("```python\n")[2].partition("```")[0]
    assert example == code("min-max 0.3", "lancedb", collection="chunks")
