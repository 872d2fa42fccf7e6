"""The machine and what is installed on it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from argus.cores import available_cores
from argus.extras import EXTRAS
from argus.health.findings import HealthCheck, HealthState

TESTED = ((3, 11), (3, 13))
"""First and last Python whose wheel is tested (`make wheel`)."""
LEAST_FREE = 3 << 30
"""Bytes on disk: PyTorch and what comes with it take about 2.5 GB."""
CPU_BUILD = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
PURPOSES = {
    "beir": "an index as BEIR's retriever",
    "chroma": "Chroma",
    "distill": "LoRA adapters",
    "encode": "embedding, ranking, training",
    "faiss": "FAISS",
    "kb": "knowledge bases",
    "milvus": "Milvus",
    "minilm": "the default model's weights",
    "mteb": "mteb's tasks",
    "pgvector": "PostgreSQL",
    "plotly": "figures for Plotly",
    "probes": "fitted probes",
    "pyterrier": "PyTerrier",
    "qdrant": "Qdrant",
    "ray": "clusters",
    "serve": "the page and the service",
    "sqlite-vec": "sqlite-vec",
    "vector-stores": "indexes and their repair",
}
"""What each extra is for."""


def check_machine(folder: Path) -> Iterator[HealthCheck]:
    """Yield what this Python, memory and disk are, and what torch computes on; folder: of results.

    Nothing heavy is loaded where torch is not installed.
    """
    version = sys.version_info[:2]
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if TESTED[0] <= version <= TESTED[1]:
        yield HealthCheck("python", HealthState.GOOD, python)
    else:
        first, last = (".".join(map(str, bound)) for bound in TESTED)
        mend = f"Take Python {first} to {last}, on which the wheel is tested."
        yield HealthCheck("python", HealthState.NOTE, python, mend)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    free = shutil.disk_usage(folder).free
    yield HealthCheck(
        "machine", HealthState.GOOD if free >= LEAST_FREE else HealthState.NOTE,
        f"{available_cores()} cores, {memory:.1f} GiB of memory, {free / (1 << 30):.1f} GiB free "
        f"on disk",
        "" if free >= LEAST_FREE else "Make room, or name another folder with --out.",
    )  # fmt: skip
    if find_spec("torch") is not None:
        yield _torch()


def _torch() -> HealthCheck:
    import torch

    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
        return HealthCheck(
            "torch", HealthState.GOOD, f"torch {torch.__version__} computes on {name}"
        )
    text = f"torch {torch.__version__} computes on the processor"
    if torch.version.cuda is None:
        return HealthCheck("torch", HealthState.GOOD, text)
    text += f"; it is the build for CUDA {torch.version.cuda}, whose gigabytes nothing uses here"
    return HealthCheck(
        "torch", HealthState.NOTE, text, f"{CPU_BUILD}; or have the GPU's driver installed."
    )


def check_extras() -> Iterator[HealthCheck]:
    """Yield which extras are here, and what the others would bring; none has to be."""
    packages: dict[str, list[str]] = {}
    for package, extra in EXTRAS.items():
        packages.setdefault(extra, []).append(package)
    here = sorted(e for e, names in packages.items() if all(map(find_spec, names)))
    lacking = sorted(set(packages) - set(here))
    if here:
        yield HealthCheck("extras", HealthState.GOOD, f"here: {', '.join(here)}")
    if lacking:
        names = ", ".join(f"{extra} ({PURPOSES[extra]})" for extra in lacking)
        mend = f"Where you need one: pip install 'argus-retrieval[{lacking[0]}]'."
        yield HealthCheck("extras", HealthState.NOTE, f"not here: {names}", mend)
