"""What a retriever returned, as ids and scores: of documents, nodes, dictionaries, pairs or ids."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import islice, pairwise
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from argus.data.provenance import content_hash
from argus.data.runs import ranking
from argus.data.types import Document
from argus.retrievers.protocol import RetrievalError

LOG = logging.getLogger(__name__)
LISTS = ("documents", "results", "hits", "matches", "points", "data", "source_nodes")
"""Where a list of results stands in a larger answer."""
INNER = ("node", "document", "payload", "_source", "entity")
"""Where an item's own fields stand, when it is wrapped."""
ID_NAMES = ("doc_id", "document_id", "_id", "id", "docno", "docid", "pid", "ref_doc_id", "node_id")
"""Where an item's id stands, the most telling first; `source` only where it is a known id."""
SCORE_NAMES = ("score", "_score", "similarity", "relevance_score")
IDS = (str, Integral, UUID)
TEXT_NAMES = ("page_content", "text", "content", "contents", "passage")


MOST = 1_000_000
"""Items of an answer that comes one by one: a generator may have no end."""


@dataclass(frozen=True)
class Known:
    """The documents that are looked for. Without them the first id of an item is taken."""

    ids: frozenset[str] = frozenset()
    by_text: Mapping[str, str] = field(default_factory=dict)
    """Text to id, for passages that come back without an id; "" where it stands twice."""
    id_field: str | None = None
    """Where the records of the documents hold their ids: a result may hold its own there, too."""

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Known:
        """Return what ids and texts of a corpus tell; a text that stands twice tells nothing."""
        ids: set[str] = set()
        texts: dict[str, str] = {}
        id_field: str | None = None
        for document in documents:
            ids.add(document.id)
            if id_field is None and document.fields is not None:
                id_field = document.fields.id
            for text in {document.text.strip(), document.content.strip()} - {""}:
                texts[text] = document.id if text not in texts else ""
        return cls(frozenset(ids), texts, id_field)

    def of_text(self, texts: Iterable[str]) -> str | None:
        """Return the document that has one of these texts; None where none has, or several have."""
        return next((id_ for text in texts if (id_ := self.by_text.get(text.strip()))), None)


def ranked(answer: Any, k: int, known: Known, id_field: str | None = None) -> dict[str, float]:
    """Return the first k documents of an answer with their scores, ties by id.

    Without scores, or where they rise, the order in which documents came is the ranking, as
    1 / place (`are_places`). id_field: where an item's id stands, dotted ("metadata.source"); None
    looks at the usual places.
    Of a document that comes back twice, as chunks do, the first counts. Raises RetrievalError for
    what holds no list, no id, half a character in one, or a score that is no finite number.
    """
    best = _ranked(answer, k, known, id_field)
    try:
        "".join(best).encode()
    except UnicodeEncodeError as error:
        raise RetrievalError(
            f"returned an id with half a surrogate pair (\\u{ord(error.object[error.start]):04x})"
        ) from error
    return best


def _ranked(answer: Any, k: int, known: Known, id_field: str | None) -> dict[str, float]:
    if (pairs := _pairs(answer)) is not None and len(pairs) <= k:
        return pairs
    hits: dict[str, float | None] = {}
    for item in _items(answer):
        id_, score = _hit(item, known, id_field)
        if score is not None and not math.isfinite(score):
            raise RetrievalError(f"returned {id_!r} with the score {score}")
        hits.setdefault(id_, score)
    best = list(hits.items())[:k]
    scored = {id_: float(score) for id_, score in best if score is not None}
    if len(scored) == len(best) and all(a >= b for a, b in pairwise(scored.values())):
        by_id = {id_: scored[id_] for id_ in ranking(scored)}
        if list(by_id) != list(scored):
            _tell_of_ties()
        return by_id
    return {id_: 1 / place for place, (id_, _) in enumerate(best, start=1)}


@cache
def _tell_of_ties() -> None:
    """Say, once in a process, that equal scores are ranked by id."""
    LOG.info("equal scores are ranked by id; where their order matters, return ids without scores")


def are_places(scores: Mapping[str, float]) -> bool:
    """Return True if the scores only say in which order documents came."""
    return all(score == 1 / place for place, score in enumerate(scores.values(), start=1))


def _pairs(answer: Any) -> dict[str, float] | None:
    """Return a list of ids and falling scores as it is: most are, and need no second look."""
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
    """Yield id, score and the item itself, in the order they came in; errors as for `ranked`."""
    for item in _items(answer):
        yield *_hit(item, known, id_field), item


def listed(answer: Any) -> Any:
    """Return an answer that comes one by one as a list, and any other as it is.

    Raises RetrievalError for more than MOST items.
    """
    if not isinstance(answer, Iterator):
        return answer
    items = list(islice(answer, MOST + 1))
    if len(items) > MOST:
        raise RetrievalError(f"returned more than {MOST:,} results")
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


def _hit(item: Any, known: Known, id_field: str | None) -> tuple[str, float | None]:
    if isinstance(item, IDS):
        return str(item), None
    score: Any = None
    if isinstance(item, tuple | list):
        if len(item) != 2:
            raise RetrievalError(f"returned a {_kind(item)} of {len(item)}, not an id and a score")
        item, score = item
        if isinstance(item, IDS):
            return str(item), _number(score)
    if score is None:
        score = next((s for name in SCORE_NAMES if (s := _get(item, name)) is not None), None)
    return hit_id(item, known, id_field), _number(score)


def hit_id(item: Any, known: Known, id_field: str | None) -> str:
    """Return an item's id: the first that the corpus knows, or the first there is."""
    if id_field:
        value = _dotted(item, id_field)
        if value is None:
            raise RetrievalError(f"returned a {_kind(item)} without {id_field!r}")
        return str(value)
    layers = [item, *(inner for name in INNER if (inner := _get(item, name)) is not None)]
    layers = [part for layer in layers for part in (*_metadata(layer), layer)]
    values = [_get(layer, name) for layer in layers for name in ID_NAMES]
    if known.id_field is not None:
        values = [*(_dotted(layer, known.id_field) for layer in layers), *values]
    ids = [str(value) for value in values if isinstance(value, IDS)]
    sources = [_get(layer, "source") for layer in layers]
    candidates = [*ids, *(s for s in sources if isinstance(s, str) and s in known.ids)]
    texts = [text for text in (_get(layer, name) for layer in layers for name in TEXT_NAMES)
             if isinstance(text, str)]  # fmt: skip
    id_ = next((c for c in candidates if c in known.ids), None) or known.of_text(texts)
    if id_ is None and not candidates:
        return _stranger(item, texts, sources, known)
    return id_ or candidates[0]


def _stranger(item: Any, texts: Sequence[str], sources: Sequence[Any], known: Known) -> str:
    """Return a name for an item without an id, whose text no document has: one of another corpus.

    Raises RetrievalError where that cannot be told: of a text that several documents have, without
    a text, or where no documents are known.
    """
    if not known.by_text or not texts or any(text.strip() in known.by_text for text in texts):
        raise RetrievalError(
            f"returned a {_kind(item)} without an id: name where it stands with --result-id"
        )
    source = next((source for source in sources if isinstance(source, str)), "")
    return f"{source}#{content_hash(texts[0], size=8).hex()}"


def _metadata(layer: Any) -> Iterable[Any]:
    """Return what a layer says of its item beside its own fields."""
    return (part for name in ("metadata", "meta") if (part := _get(layer, name)))


def _dotted(item: Any, path: str) -> Any:
    value = item
    for name in path.split("."):
        inner = _get(value, name)
        if inner is None and value is item:
            wrapped = (_get(item, outer) for outer in INNER)
            inner = next((v for w in wrapped if (v := _get(w, name)) is not None), None)
        value = inner
    return value


def _get(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return item.get(name)
    value = None
    with suppress(Exception):  # a property of a stranger's class
        value = getattr(item, name, None)
    return None if callable(value) else value


def _number(score: Any) -> float | None:
    if score is None or type(score) is float:  # what nearly all are
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
