"""Argus finds what a retriever will never bring back.

>>> import argus
>>> result = argus.audit("corpus/", out="report/")  # doctest: +SKIP
>>> result.summary["mean_rps"]  # doctest: +SKIP

The two jobs are `argus.audit` and `argus.exposure`; the pieces under them live in the folders that
docs/design.md names. Importing this package loads nothing heavy.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from argus.workflows.audit import AuditConfig, AuditResult, audit
    from argus.workflows.exposure import ExposureConfig, ExposureResult, exposure

_HOMES = {
    "audit": "argus.workflows.audit",
    "AuditConfig": "argus.workflows.audit",
    "AuditResult": "argus.workflows.audit",
    "exposure": "argus.workflows.exposure",
    "ExposureConfig": "argus.workflows.exposure",
    "ExposureResult": "argus.workflows.exposure",
}

__all__ = [
    "AuditConfig",
    "AuditResult",
    "ExposureConfig",
    "ExposureResult",
    "__version__",
    "audit",
    "exposure",
]


def __getattr__(name: str) -> Any:
    """Load the public functions at first use: torch and numba take seconds to import."""
    if name not in _HOMES:
        raise AttributeError(f"module 'argus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
