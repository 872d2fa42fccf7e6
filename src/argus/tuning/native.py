"""Write the code that gives an application a fusion of `argus tune try`.

From a fusion and the names in a store -> a short Python text, to be put into the application: the
store's own fusion where it ranks as `argus.indexes.fusion` does (`NATIVE`), or Argus's, over two
searches of the application. Constants of reciprocal ranks follow each store's own count: Qdrant
adds k to ranks from 0, so its k = 61 is the 60 of all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from string import Template
from typing import Any

from argus.errors import InputError
from argus.indexes.blend import FUSIONS, Fusion
from argus.indexes.fusion import check_fusion
from argus.indexes.retriever import FUSED_DEPTH
from argus.indexes.snapshot import check_k
from argus.settings import TOP_K
from argus.stores.spec import parse_store
from argus.tuning.arms import FUSION_ARMS

# Fields of `place`, and what stands for one that is not given. url: an address or a path.
# text_field: what BM25 searches, a sparse vector in Qdrant and Milvus. id_field: of a document's
# metadata, in LangChain and LlamaIndex, where its own id is not the one to fuse by.
PLACE = {
    "url": "",
    "collection": "docs",
    "vector_field": "vector",
    "text_field": "text",
    "id_field": "",
    "k": str(TOP_K),
}
_NAMED = {"vector_field": "dense", "text_field": "sparse"}
_OWN = {
    "qdrant": {"url": "http://127.0.0.1:6333", **_NAMED},
    "lancedb": {"url": "lancedb/"},
    "milvus": {"url": "http://127.0.0.1:19530", **_NAMED},
}

_CALL = "fuse_with_bm25(near, words, K, $method, $weight)"
_CALLS = dict.fromkeys(FUSIONS, _CALL)
_ES_LINEAR = """{"linear": {"rank_window_size": DEPTH, "retrievers": [
        {"retriever": near, "weight": $rest, "normalizer": "minmax"},
        {"retriever": words, "weight": $weight, "normalizer": "minmax"},
    ]}}"""
_ES_RRF = '{"rrf": {"rank_window_size": DEPTH, "rank_constant": %d, "retrievers": [near, words]}}'
_OS_MIN_MAX = """"normalization-processor": {
    "normalization": {"technique": "min_max"},
    "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [$rest, $weight]}},
}"""
_OS_RRF = '"score-ranker-processor": {"combination": {"technique": "rrf", "rank_constant": %d}}'

# The expression of each fusion that a target ranks by as Argus does.
NATIVE: dict[str, dict[Fusion, str]] = {
    "python": _CALLS,
    "langchain": _CALLS,
    "llamaindex": _CALLS,
    "qdrant": {
        "rrf": "models.RrfQuery(rrf=models.Rrf(k=61))",
        "rrf-2": "models.RrfQuery(rrf=models.Rrf(k=3))",
        "dbsf": "models.FusionQuery(fusion=models.Fusion.DBSF)",
    },
    "lancedb": {
        "min-max": "rerankers.LinearCombinationReranker(weight=$rest)  # of 0.40; 0.30 inverts it",
        "rrf": "rerankers.RRFReranker(K=60)",
        "rrf-2": "rerankers.RRFReranker(K=2)",
    },
    "milvus": {"rrf": "RRFRanker(60)", "rrf-2": "RRFRanker(2)"},
    "elasticsearch": {"min-max": _ES_LINEAR, "rrf": _ES_RRF % 60, "rrf-2": _ES_RRF % 2},
    "opensearch": {"min-max": _OS_MIN_MAX, "rrf": _OS_RRF % 60, "rrf-2": _OS_RRF % 2},
    "weaviate": {"min-max": "fusion_type=HybridFusion.RELATIVE_SCORE, alpha=$rest"},
}
TARGETS = tuple(NATIVE)

# The nearest fusion to those that a store lacks, and why it lacks them.
NEAREST: dict[str, str] = {
    "qdrant": "DBSF: Qdrant does not scale scores to 0..1",
    "lancedb": "min-max 0.5: LanceDB does not scale scores by their deviation",
    "milvus": "RRF (60): WeightedRanker scales a score by a fixed curve, not within its list",
    "elasticsearch": "min-max 0.5: Elasticsearch does not scale scores by their deviation",
    "opensearch": "min-max 0.5: z_score gives the mean score to what a list lacks, not the least",
    "weaviate": "min-max 0.5: the constant of RANKED is fixed, at 59 or 60 by version",
}

_HEAD = """# $arm of `argus tune try`: the best $depth of the vectors and of BM25, fused$by.
# It was measured over Argus' BM25 (argus.open_retriever(INDEX)). Measure it anew over another.
"""
_SIZES = "K, DEPTH = $k, $depth  # results, and those of each search that are fused\n"
_TEMPLATES = {
    "python": """from argus.indexes.fusion import fuse_with_bm25

$sizes

# search_vectors, search_bm25: yours. A text, a number -> document id -> score, more is better.
def search(text: str) -> dict[str, float]:
    near, words = {"q": search_vectors(text, DEPTH)}, {"q": search_bm25(text, DEPTH)}
    return $fusion["q"]
""",
    "langchain": """from argus.indexes.fusion import fuse_with_bm25
from langchain_core.documents import Document
from langchain_core.runnables import chain

$sizes

# search_vectors, search_bm25: yours. A text, a number -> (document, score) pairs, more is better,
# as of `store.similarity_search_with_relevance_scores`. Of retrievers without scores, RRF takes
# the ranks: (document, -rank).
@chain
def retriever(text: str) -> list[Document]:
    found = search_vectors(text, DEPTH), search_bm25(text, DEPTH)
    pages = {page.$id: page for pairs in found for page, _ in pairs}
    near, words = ({"q": {page.$id: score for page, score in pairs}} for pairs in found)
    return [pages[id_] for id_ in $fusion["q"]]
""",
    "llamaindex": """from argus.indexes.fusion import fuse_with_bm25
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

$sizes

# vectors, bm25: your retrievers, each made with similarity_top_k=DEPTH.
class FusedRetriever(BaseRetriever):
    def _retrieve(self, query: QueryBundle) -> list[NodeWithScore]:
        found = vectors.retrieve(query), bm25.retrieve(query)
        nodes = {hit.node.$id: hit.node for hits in found for hit in hits}
        near, words = ({"q": {hit.node.$id: hit.score for hit in hits}} for hits in found)
        fused = $fusion["q"]
        return [NodeWithScore(node=nodes[id_], score=score) for id_, score in fused.items()]


retriever = FusedRetriever()
""",
    "qdrant": """from qdrant_client import QdrantClient, models

URL, COLLECTION, VECTOR, BM25 = $url, $collection, $vector_field, $text_field
$sizes
client = QdrantClient($location)


def search(vector: list[float], words: models.SparseVector) -> list[models.ScoredPoint]:
    near = models.Prefetch(query=vector, using=VECTOR or None, limit=DEPTH)
    bm25 = models.Prefetch(query=words, using=BM25, limit=DEPTH)
    fusion = $fusion
    return client.query_points(COLLECTION, prefetch=[near, bm25], query=fusion, limit=K).points
""",
    "lancedb": """import lancedb
from lancedb import rerankers

URL, TABLE, VECTOR, TEXT = $url, $collection, $vector_field, $text_field
$sizes
table = lancedb.connect(URL).open_table(TABLE)  # with a full-text index: create_fts_index(TEXT)


def search(vector: list[float], text: str) -> list[dict]:
    query = table.search(query_type="hybrid", vector_column_name=VECTOR, fts_columns=TEXT)
    query = query.vector(vector).text(text).distance_type("cosine")
    fusion = $fusion
    return query.rerank(fusion).limit(DEPTH).to_list()[:K]  # `limit` is that of each search
""",
    "milvus": """from pymilvus import AnnSearchRequest, MilvusClient, RRFRanker

URL, COLLECTION, VECTOR, BM25 = $url, $collection, $vector_field, $text_field
$sizes
client = MilvusClient(URL)


def search(vector: list[float], text: str) -> list[dict]:
    near = AnnSearchRequest([vector], VECTOR, {}, limit=DEPTH)
    words = AnnSearchRequest([text], BM25, {}, limit=DEPTH)
    return client.hybrid_search(COLLECTION, [near, words], $fusion, limit=K)[0]
""",
    "elasticsearch": """INDEX, VECTOR, TEXT = $collection, $vector_field, $text_field
$sizes

def body(vector: list[float], text: str) -> dict:
    near = {"knn": {
        "field": VECTOR, "query_vector": vector, "k": DEPTH, "num_candidates": 2 * DEPTH,
    }}
    words = {"standard": {"query": {"match": {TEXT: text}}}}
    fusion = $fusion
    return {"size": K, "retriever": fusion}


def search(client, vector: list[float], text: str) -> list[dict]:
    return client.search(index=INDEX, **body(vector, text))["hits"]["hits"]
""",
    "opensearch": """INDEX, VECTOR, TEXT = $collection, $vector_field, $text_field
$sizes
# Once: client.search_pipeline.put(id="argus", body=PIPELINE)
PIPELINE = {"phase_results_processors": [{$fusion}]}


def body(vector: list[float], text: str) -> dict:
    near = {"knn": {VECTOR: {"vector": vector, "k": DEPTH}}}
    words = {"match": {TEXT: text}}
    return {"size": K, "query": {"hybrid": {"queries": [near, words], "pagination_depth": DEPTH}}}


def search(client, vector: list[float], text: str) -> list[dict]:
    asked = {"body": body(vector, text), "params": {"search_pipeline": "argus"}}
    return client.search(index=INDEX, **asked)["hits"]["hits"]
""",
    "weaviate": """from weaviate.classes.query import HybridFusion

COLLECTION, VECTOR, TEXT = $collection, $vector_field, $text_field
K = $k  # results; Weaviate fuses the best $depth of each search, or K if that is more


def search(client, vector: list[float], text: str) -> list:
    return client.collections.get(COLLECTION).query.hybrid(
        text, vector=vector, target_vector=VECTOR or None, query_properties=[TEXT],
        limit=K, $fusion,
    ).objects
""",
}


def application_code(
    arm: str, *, method: Fusion, weight: float, target: str, place: Mapping[str, str]
) -> str:
    """Return the Python code by which an application has a fusion.

    arm: its name, for the reader. method, weight: as `argus.indexes.fusion.fuse_with_bm25` takes
    them. target: one of `TARGETS`. place: the names in the store, those of `PLACE`; what is not
    given is filled in, and stands in the first lines of the code. Raises InputError for a fusion
    that the target does not rank by as Argus does, and for an unknown target, field or weight.
    """
    if target not in NATIVE:
        raise InputError(f"target {target!r}", expected=f"one of {', '.join(TARGETS)}", fix=_ANY)
    unknown = sorted(set(place) - set(PLACE))
    if unknown:
        expected = f"only {', '.join(PLACE)}"
        raise InputError(f"field {unknown[0]!r}", expected=expected, fix="Leave it out.")
    if not 0 <= weight <= 1:
        raise InputError(f"weight {weight:g}", expected="0 to 1", fix="It is that of BM25.")
    fusion = NATIVE[target].get(check_fusion(method))
    if fusion is None:
        raise InputError(
            f"{arm} in {target}, which does not rank so",
            expected=f"one of its own: {', '.join(NATIVE[target])}",
            fix=f"The nearest is {NEAREST[target]}. {_ANY}",
        )
    given = {**PLACE, **_OWN.get(target, {}), **place}
    k: Any = int(given["k"]) if given["k"].isdecimal() else given["k"]
    check_k(k)
    url = given["url"]
    filled = {name: _quoted(value) for name, value in given.items()} | {
        "arm": arm,
        "by": "" if fusion is _CALL else f" by {target}",
        "depth": str(max(k, FUSED_DEPTH)),
        "id": f"metadata[{_quoted(given['id_field'])}]"
        if given["id_field"]
        else _IDS.get(target, ""),
        "k": str(k),
        "location": "URL" if "://" in url or url == ":memory:" else "path=URL",
        "method": _quoted(method),
        "rest": f"{1 - weight:.6g}",
        "weight": f"{weight:.6g}",
    }
    for name, text in (("fusion", fusion), ("sizes", _SIZES)):
        filled[name] = Template(text).substitute(filled)
    return Template(_HEAD + _TEMPLATES[target]).substitute(filled)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_ANY = "The target python fuses in the application, whatever the store."
_IDS = {"langchain": "id", "llamaindex": "node_id"}


def code_of(arm: str, target: str | None, store: str | None, vector_field: str | None) -> list[str]:
    """Return the lines of a fusion's code: in the store's own terms where one is named and can.

    arm: one of `argus.tuning.arms.FUSION_ARMS`. Errors are those of `application_code`.
    """
    place: dict[str, str] = {}
    if store is not None:
        spec = parse_store(store)
        target = target or (spec.kind if spec.kind in TARGETS else None)
        place = {"url": spec.place, "collection": spec.collection}
        place |= {} if vector_field is None else {"vector_field": vector_field}
    fusion = FUSION_ARMS[arm]
    return application_code(
        arm, method=fusion.fusion, weight=fusion.bm25, target=target or "python", place=place
    ).splitlines()
