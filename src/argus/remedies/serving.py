"""The two lines of Python that serve a blend in the place of the retriever that was there."""

from __future__ import annotations

from collections.abc import Iterator


def blended(*arguments: str | None) -> str:
    """Return the expression of a `BlendedRetriever`; arguments as they are written, if any."""
    return f"argus.BlendedRetriever({', '.join(filter(None, arguments))})"


def argument(name: str, value: str | None) -> str | None:
    """Return a named argument as it is written; None for no value."""
    return None if value is None else f"{name}={value!r}"


def serving_lines(expression: str) -> Iterator[str]:
    """Yield the lines."""
    yield f"  retriever = {expression}"
    yield '  documents = retriever.invoke("your question")'
