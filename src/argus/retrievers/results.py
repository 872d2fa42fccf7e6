"""Read ids and scores from the answer of any retriever: documents, nodes, rows, pairs or ids.

`ranked`: an answer in any shape -> document ids and scores, the k best, ties by id. The kinds of
retrievers call it (`argus.retrievers.python_retriever`, `argus.retrievers.http`), and so does
`argus traffic` for logged results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, islice, pairwise
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from argus.data.provenance import content_hash
from argus.data.runs import ranking
from argus.data.types import Document
from argus.retrievers.protocol import RetrievalError

# Names under which a larger answer holds its list of results.
LISTS = ("documents", "results", "hits", "matches", "points", "data", "source_nodes")
# Names under which a wrapped item holds its own fields.
INNER = ("node", "document", "payload", "_source", "entity")
# Names of an item's id, the most telling first. `source` counts only if it is a known id.
ID_NAMES = ("doc_id", "document_id", "_id", "id", "docno", "docid", "pid", "ref_doc_id", "node_id")
SCORE_NAMES = ("score", "_score", "similarity", "relevance_score")
TEXT_NAMES = ("page_content", "text", "content", "contents", "passage")
IDS = (str, Integral, UUID)
# Items read from an iterator. A generator may have no end.
MAX_ITEMS = 1_000_000


@dataclass(frozen=True)
class Known:
    """Ids and texts of the documents to recognise. Without them the first id of an item counts."""

    ids: frozenset[str] = frozenset()
    # Text to id, for passages without an id; "" where several documents have the text.
    by_text: Mapping[str, str] = field(default_factory=dict)
    # Field of the corpus's own records that holds their ids. Results may use it, too.
    id_field: str | None = None

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Known:
        """Collect ids and texts of a corpus."""
        ids: set[str] = set()
        texts: dict[str, str] = {}
        id_field: str | None = None
        for document in documents:
            ids.add(document.id)
            id_field = id_field or document.id_field
            for text in {document.text.strip(), document.content.strip()} - {""}:
                texts[text] = document.id if text not in texts else ""
        return cls(frozenset(ids), texts, id_field)


def ranked(answer: Any, k: int, known: Known, id_field: str | None = None) -> dict[str, float]:
    """Return the first k documents of an answer with their scores, ties by id.

    Of a document that comes back twice, as chunks do, the first counts. Without scores, or if they
    increase, the order of the answer is the ranking and document i scores 1 / i (`are_places`).
    id_field: dotted path of an item's id ("metadata.source"). None looks at the usual places.
    Raises RetrievalError if there is no list, no id, half a character in an id, or a score that is
    no finite number.
    """
    best = _decreasing_pairs(answer)
    if best is None or len(best) > k:
        hits: dict[str, float | None] = {}
        for id_, score, _ in items_of(answer, known, id_field):
            if score is not None and not math.isfinite(score):
                raise RetrievalError(f"returned {id_!r} with the score {score}")
            hits.setdefault(id_, score)
        first = list(hits.items())[:k]
        best = {id_: float(score) for id_, score in first if score is not None}
        if len(best) < len(first) or any(a < b for a, b in pairwise(best.values())):
            best = {id_: 1 / place for place, (id_, _) in enumerate(first, start=1)}
        else:
            best = {id_: best[id_] for id_ in ranking(best)}
    try:
        "".join(best).encode()
    except UnicodeEncodeError as error:
        raise RetrievalError(
            f"returned an id with half a surrogate pair (\\u{ord(error.object[error.start]):04x})"
        ) from error
    return best


def are_places(scores: Mapping[str, float]) -> bool:
    """Return True if the scores only say in which order documents came."""
    return all(score == 1 / place for place, score in enumerate(scores.values(), start=1))


def _decreasing_pairs(answer: Any) -> dict[str, float] | None:
    """Return a list of (id, strictly decreasing score) as a run: the fast path of most answers."""
    if type(answer) is not list:
        return None
    above = math.inf
    for item in answer:
        if type(item) is not tuple or len(item) != 2:
            return None
        id_, score = item
        if type(id_) is not str or type(score) is not float or not above > score > -math.inf:
            return None
        above = score
    pairs = dict(answer)
    return pairs if len(pairs) == len(answer) else None


def items_of(
    answer: Any, known: Known, id_field: str | None = None
) -> Iterator[tuple[str, float | None, Any]]:
    """Yield id, score and item in the order of the answer. Raises errors as `ranked` does."""
    for item in _items(answer):
        inner, score = item, None
        if isinstance(item, tuple | list):
            if len(item) != 2:
                raise RetrievalError(
                    f"returned a {_kind(item)} of {len(item)}, not an id and a score"
                )
            inner, score = item
        if isinstance(inner, IDS):
            yield str(inner), _number(score), item
            continue
        if score is None:
            scores = (_get(inner, name) for name in SCORE_NAMES)
            score = next((s for s in scores if s is not None), None)
        yield hit_id(inner, known, id_field), _number(score), item


def listed(answer: Any) -> Any:
    """Return the items of an iterator as a list, any other answer as it is.

    Raises RetrievalError for more than MAX_ITEMS items.
    """
    if not isinstance(answer, Iterator):
        return answer
    items = list(islice(answer, MAX_ITEMS + 1))
    if len(items) > MAX_ITEMS:
        raise RetrievalError(f"returned more than {MAX_ITEMS:,} results")
    return items


def _items(answer: Any) -> Iterable[Any]:
    """Return the items of an answer, best first."""
    if answer is None or isinstance(answer, str | bytes):
        raise RetrievalError(f"returned {_kind(answer)}, not a list of documents")
    if hasattr(answer, "columns") and callable(getattr(answer, "to_dict", None)):  # a table of rows
        return answer.to_dict("records")  # type: ignore[no-any-return]
    if isinstance(answer, list | tuple) or hasattr(answer, "__array__"):
        return answer  # type: ignore[no-any-return]
    if isinstance(answer, Mapping):
        if not answer:  # document to score, of none
            return ()
        if isinstance(columns := answer.get("ids"), list):  # as Chroma answers a list of queries
            return columns[0] if columns and isinstance(columns[0], list) else columns
        if all(_is_number(value) for value in answer.values()):
            return sorted(answer.items(), key=lambda pair: -pair[1])
        if len(answer) == 1 and isinstance(inner := next(iter(answer.values())), Mapping):
            return _items(inner)
    for name in LISTS:
        inner = _get(answer, name)
        if isinstance(inner, Sequence) and not isinstance(inner, str):
            return inner
    if isinstance(answer, Mapping) or not isinstance(answer, Iterable):
        raise RetrievalError(f"returned {_kind(answer)}, not a list of documents")
    return answer


def hit_id(item: Any, known: Known, id_field: str | None) -> str:
    """Return an item's id: the first that the corpus knows, or the first there is.

    An item without an id is recognised by its text. A text that no document has gets an id of its
    own. Raises RetrievalError where an id cannot be told: several documents have the text, the item
    has none, or no documents are known.
    """
    if id_field:
        if (value := _dotted(item, id_field)) is None:
            raise RetrievalError(f"returned a {_kind(item)} without {id_field!r}")
        return str(value)
    layers = []
    for layer in (item, *(inner for name in INNER if (inner := _get(item, name)) is not None)):
        layers += [part for name in ("metadata", "meta") if (part := _get(layer, name))]
        layers.append(layer)
    values: Iterator[Any] = (_get(layer, name) for layer in layers for name in ID_NAMES)
    if (field := known.id_field) is not None:
        values = chain((_dotted(layer, field) for layer in layers), values)
    ids = []
    for value in values:
        if isinstance(value, IDS):
            if str(value) in known.ids:
                return str(value)
            ids.append(str(value))
    sources = [s for layer in layers if isinstance(s := _get(layer, "source"), str)]
    ids += [source for source in sources if source in known.ids]
    texts = [
        text
        for layer in layers
        for name in TEXT_NAMES
        if isinstance(text := _get(layer, name), str)
    ]
    by_text = (known.by_text.get(text.strip()) for text in texts)
    if id_ := next((i for i in ids if i in known.ids), None) or next(filter(None, by_text), None):
        return id_
    if ids:
        return ids[0]
    if not known.by_text or not texts or any(text.strip() in known.by_text for text in texts):
        raise RetrievalError(
            f"returned a {_kind(item)} without an id: name where it stands with --result-id"
        )
    return f"{next(iter(sources), '')}#{content_hash(texts[0], size=8).hex()}"


def _dotted(item: Any, path: str) -> Any:
    """Return the value at a path, which may begin inside a wrapper of the item."""
    name, *rest = path.split(".")
    value = _get(item, name)
    if value is None:
        wrapped = (_get(_get(item, outer), name) for outer in INNER)
        value = next((v for v in wrapped if v is not None), None)
    for name in rest:
        value = _get(value, name)
    return value


def _get(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return item.get(name)
    value = None
    with suppress(Exception):  # a property of user code
        value = getattr(item, name, None)
    return None if callable(value) else value


def _number(score: Any) -> float | None:
    if score is None or type(score) is float:  # the fast path
        return score
    if not _is_number(score):
        raise RetrievalError(f"returned {_kind(score)} for a score")
    try:
        return float(score)
    except (OverflowError, ValueError) as error:  # 10**400, Decimal("sNaN")
        raise RetrievalError("returned a score that is no finite number") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
