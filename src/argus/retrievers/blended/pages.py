"""Ranked documents as LangChain and LlamaIndex have them; imported when they are asked for.

What the user's own retriever returned is handed on as it came, in its new order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argus.errors import InputError
from argus.retrievers.blended.ranking import Ranked
from argus.retrievers.results import TEXT_NAMES
from argus.stores.records import values_of

if TYPE_CHECKING:
    from langchain_core.documents import Document as Page
    from llama_index.core.schema import NodeWithScore

NAMES = (*TEXT_NAMES, "document")
"""Fields of texts; the last is Chroma's own."""
Texts = Callable[[str], tuple[str, str]]
"""Of a document: its text and title, "" where they are not known."""


@dataclass(frozen=True)
class Passage:
    """What is served of one result. item: as the user's own retriever returned it."""

    id: str
    score: float
    item: Any
    text: str
    metadata: Mapping[str, Any]


def passages(
    ranked: Iterable[Ranked], texts: Texts, k: int, text_field: str | None = None
) -> Iterator[Passage]:
    """Yield the k best items of a ranking, all chunks of a document together.

    text_field: of their texts; without it, and where an item lacks it, those of NAMES.
    """
    names = NAMES if text_field is None else (text_field, *NAMES)
    items = ((document, item) for document in ranked for item in document.items or (None,))
    for (document, item), _ in zip(items, range(k), strict=False):
        yield _passage(document, item, texts, names)


def _passage(document: Ranked, item: Any, texts: Texts, names: Sequence[str]) -> Passage:
    fields = document.fields if document.fields is not None else _fields(item)
    values = ((name, next(iter(values_of(fields, name)), None)) for name in names)
    used, text = next(((n, v) for n, v in values if isinstance(v, str)), (None, None))
    own, title = ("", "") if text is not None else texts(document.id)
    inner = fields.get("metadata")
    metadata = (
        dict(inner) if isinstance(inner, Mapping)
        else {name: value for name, value in fields.items() if name not in (*TEXT_NAMES, used)}
    )  # fmt: skip
    if title:
        metadata.setdefault("title", title)
    metadata = {"id": document.id, "score": document.score} | metadata  # the user's own stay
    return Passage(document.id, document.score, item, own if text is None else text, metadata)


def _fields(item: Any) -> Mapping[str, Any]:
    """Return what an item of any retriever says: of a document, a node, a dictionary or an id."""
    if isinstance(item, tuple) and item:
        item = item[0]
    node = getattr(item, "node", item)
    if isinstance(node, Mapping):
        return node
    content = getattr(node, "get_content", None)
    text = getattr(node, "page_content", None) or (content() if callable(content) else None)
    metadata = getattr(node, "metadata", None)
    return {"page_content": text, "metadata": dict(metadata) if metadata else {}}


def langchain_pages(passages: Iterable[Passage]) -> list[Page]:
    """Return LangChain documents; those that came as such are the same objects."""
    try:
        from langchain_core.documents import Document
    except ImportError as error:
        raise _absent("langchain-core", "invoke", "retrieve or search") from error
    pages = []
    for passage in passages:
        item = passage.item[0] if isinstance(passage.item, tuple) else passage.item
        pages.append(
            item if isinstance(item, Document)
            else Document(page_content=passage.text, metadata=dict(passage.metadata), id=passage.id)
        )  # fmt: skip
    return pages


def llama_nodes(passages: Iterable[Passage]) -> list[NodeWithScore]:
    """Return LlamaIndex nodes with the blend's scores; a node that came as such is the same."""
    try:
        from llama_index.core.schema import NodeWithScore, TextNode
    except ImportError as error:
        raise _absent("llama-index-core", "retrieve", "invoke or search") from error
    return [
        NodeWithScore(
            node=passage.item.node if isinstance(passage.item, NodeWithScore)
            else TextNode(text=passage.text, id_=passage.id, metadata=dict(passage.metadata)),
            score=passage.score,
        )
        for passage in passages
    ]  # fmt: skip


def _absent(package: str, method: str, other: str) -> InputError:
    return InputError(
        f"{package} is not installed", expected=f"what {method} returns the classes of",
        fix=f"pip install {package}, or call {other}.", where=f"BlendedRetriever.{method}",
    )  # fmt: skip
