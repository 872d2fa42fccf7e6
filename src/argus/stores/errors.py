"""What clients of stores raise, as errors that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from argus.errors import ArgusError, InputError
from argus.stores.protocol import StoreFacts
from argus.stores.spec import scrubbed, shown

SERVED = ("Chroma", "Milvus Lite", "Qdrant")
"""Products that may be a folder or file, or a server."""


@contextmanager
def reported(name: str, hidden: Sequence[str] = ()) -> Iterator[None]:
    """Turn whatever a client raises into an ArgusError.

    name: of the store, without its key; hidden: what its messages may not show.
    """
    try:
        yield
    except ArgusError:
        raise
    except Exception as error:  # clients let through whatever their transports raise
        line = next(iter(scrubbed(str(error), hidden).strip().splitlines()), "no message")[:200]
        line = line.rstrip(".")
        raise ArgusError(
            f"{name}: {type(error).__name__}: {line}. Check the address, the key and that the "
            "store is up."
        ) from error


@contextmanager
def closed_on_error(client: Any) -> Iterator[None]:
    """Close a client where what it was opened for is not there: files stay free for the next."""
    try:
        yield
    except BaseException:
        client.close()
        raise


def no_collection(name: str, collection: str, names: list[str]) -> InputError:
    """Return what is raised where a store has no such collection."""
    return InputError(
        f"no collection {collection!r}",
        expected=f"one of {', '.join(sorted(names)) or '(there is none)'}",
        fix="Name it after the last slash.",
        where=name,
    )


def no_folder(path: str, product: str) -> InputError:
    """Return what is raised where a path is no folder or file."""
    return InputError(
        "no such file or folder",
        expected=f"what {product} wrote" + (", or http://HOST:PORT" * (product in SERVED)),
        fix="Check the path.",
        where=shown(path),
    )


def check_dimension(dim: int, facts: StoreFacts, name: str) -> None:
    """Raise InputError where an encoder makes vectors of another dimension than a store holds."""
    if dim != facts.dim:
        raise InputError(
            f"the encoder makes {dim} dimensions, {name} holds {facts.dim}",
            expected="the model that made the store's vectors",
            fix="Name it with --encoder.",
            where="--encoder",
        )
