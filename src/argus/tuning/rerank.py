"""Rerank the first results of an arm: by a CrossEncoder, a function of the user, or an endpoint.

`open_reranker`: a name -> a function of a question and texts that returns a score per text.
`rerank` orders a run by it. A question on which it fails keeps its order, as an application would
have it, and is counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence

import numpy as np

from argus.data.types import Query, Run
from argus.errors import ArgusError, InputError, first_line
from argus.python_file import call_own, is_own, load_own
from argus.tuning.arms import Tried

Scores = Sequence[float]
Reranker = Callable[[str, Sequence[str]], Scores]
EXPECTED = "a function of a question and a list of texts that returns a score for each"
KEY = "ARGUS_RERANK_API_KEY"
TIMEOUT_S = 60.0


def open_reranker(name: str, device: str | None = None) -> Reranker:
    """Return a reranker by its name.

    name: FILE.py:NAME, a function of a question and texts. An address that speaks as Text
    Embeddings Inference does (`/rerank`: query, texts), or, as ADDRESS#MODEL, as Cohere, Jina and
    vLLM do (model, query, documents), with the key of `ARGUS_RERANK_API_KEY`. Else a CrossEncoder
    of sentence-transformers: a folder, or a model of the hub. Raises InputError for none of them.
    """
    if is_own(name):
        _, own = load_own(name, callable, EXPECTED)
        return lambda question, texts: call_own(name, own, question, list(texts))
    from argus.http_retry import is_address  # which imports httpx

    address, _, model = name.partition("#")
    if is_address(address):
        return lambda question, texts: _ask(address, model, question, texts)
    from sentence_transformers import CrossEncoder

    try:
        encoder = CrossEncoder(name, device=device)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no reranker {name!r} ({first_line(error)})",
            expected="a folder of a CrossEncoder, FILE.py:NAME, or the address of an endpoint",
            fix="Check the name.", where="--arm",
        ) from error  # fmt: skip
    return lambda question, texts: encoder.predict([(question, text) for text in texts]).tolist()


def _ask(address: str, model: str, question: str, texts: Sequence[str]) -> Scores:
    import httpx

    from argus.http_retry import without_secrets

    asked = {"model": model, "documents": texts} if model else {"texts": texts}
    key = os.environ.get(KEY)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.post(
            address, json={"query": question, **asked}, headers=headers, timeout=TIMEOUT_S
        )
        answer.raise_for_status()
        content = answer.json()
        rows = content["results"] if isinstance(content, Mapping) else content
        found = {row["index"]: row.get("score", row.get("relevance_score")) for row in rows}
        return [float(found[i]) for i in range(len(texts))]
    except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
        raise ArgusError(f"{without_secrets(address)}: {first_line(error)}") from error


def rerank(
    base: Tried,
    reranker: Reranker,
    queries: Sequence[Query],
    texts: Mapping[str, str],
    n: int,
    limit_s: float,
    kept: MutableMapping[tuple[str, str], float],
) -> Tried:
    """Return a run with its first n documents ordered by a reranker.

    texts: of documents by id. One without keeps its place behind those with. limit_s: seconds for
    all questions. kept: scores by question and document, which are asked only once. Raises
    ArgusError where all questions fail, or beyond the limit.
    """
    run: Run = {}
    failed: list[str] = []
    took: list[float] = []
    start = time.perf_counter()
    for number, query in enumerate(queries):
        if time.perf_counter() - start > limit_s:
            raise ArgusError(
                f"slower than the limit of {limit_s:g} s: {number:,} of {len(queries):,} questions "
                "were done. Raise --arm-seconds, or rerank fewer (--rerank-depth)"
            )
        ranked = base.run.get(query.id, {})
        first = [doc for doc in [*ranked][:n] if doc in texts]
        asked = [doc for doc in first if (query.id, doc) not in kept]
        began = time.perf_counter()
        try:
            scores = reranker(query.text, [texts[doc] for doc in asked]) if asked else []
            found = np.asarray(scores, float)
            if found.shape != (len(asked),) or not np.isfinite(found).all():
                raise ArgusError(f"expected {len(asked)} finite scores, got shape {found.shape}")
        except (ArgusError, ValueError, TypeError) as error:
            failed.append(first_line(error))
            run[query.id] = ranked
            continue
        if len(asked) == len(first):
            took.append(1e3 * (time.perf_counter() - began))
        kept.update({(query.id, doc): float(s) for doc, s in zip(asked, found, strict=True)})
        order = sorted(first, key=lambda doc: (-kept[query.id, doc], doc))
        rest = [doc for doc in ranked if doc not in set(order)]
        run[query.id] = {doc: float(-i) for i, doc in enumerate([*order, *rest])}
    if len(failed) == len(queries):
        raise ArgusError(f"failed on all {len(queries):,} questions; the first: {failed[0]}")
    note = f"failed on {len(failed):,} of {len(queries):,} questions, whose order stayed" * bool(
        failed
    )
    slower = float(np.median(base.ms)) if base.ms else 0.0
    return Tried(run, [slower + ms for ms in took], base.records, base.bytes, note)
