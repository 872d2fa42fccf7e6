"""Probes for every document: its title, sentences of it, and real queries after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, IntArray, Query
from argus.jobs.workspace import require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.drawing import drawn_rows
from argus.retrievability.exposure.probes import QUERY, SENTENCE, TITLE
from argus.retrievability.sentences import HeldOut, hold_out


@dataclass(frozen=True)
class ProbeTexts:
    """The texts of all probes, and their targets. Arrays have shape (n_probes,)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    """Row of the document that a probe asks for. -1 for a real query."""
    texts: list[str]
    sentences: list[HeldOut]
    """Those that ask, with the rest of their documents."""
    without_sentence: dict[int, str]
    """Row to why no sentence of the document asks for it."""
    drawn: IntArray | None = None
    """Rows of the documents that are asked for. None: all."""


def probe_texts(
    documents: Sequence[Document], queries: Sequence[Query], config: ExposureConfig
) -> ProbeTexts:
    """Return titles, then sentences, then the real queries, which are of no document.

    With `config.sample` titles and sentences are of the documents that are drawn.

    Raises NothingMeasured where there is nothing to ask with.
    """
    drawn = drawn_rows(documents, config)
    rows = range(len(documents)) if drawn is None else drawn.tolist()
    titled = [row for row in rows if documents[row].title.strip()]
    taken, reasons = hold_out(
        [documents[row] for row in rows], per_document=config.sentences, seed=config.seed
    )
    sentences = [replace(one, position=rows[one.position]) for one in taken]
    without = {rows[place]: why for place, why in reasons.items()}
    texts = [documents[row].title for row in titled]
    texts += [s.sentence for s in sentences] + [q.text for q in queries]
    require_some(
        len(texts),
        "document has a title, or a sentence to be held out",
        "Name the field of titles with --title-field; a sentence needs another beside it.",
    )
    kind = np.array([TITLE] * len(titled) + [SENTENCE] * len(sentences) + [QUERY] * len(queries))
    target = titled + [s.position for s in sentences] + [-1] * len(queries)
    return ProbeTexts(kind, np.array(target, np.int64), texts, sentences, without, drawn)
