"""Component and λ chosen by held-out needs: what judged questions say of the choice.

demo: the standard library (5,463 documents, 504 with scenarios, 150 judged questions). An index
gets its scenarios by `add_scenarios(component="auto", weight="auto")`; nDCG@10 of the choice, of
M+E at 0.7 and of the best cell in hindsight, over documents alone. without: ten times, a random
half of the profiles is left out, and the questions whose relevant documents are all in that half
are measured, documents alone and with either.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from argus.corpora.opening import read_corpus
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, load_encoder
from argus.indexes.job import build_index
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.measures import Evaluation, evaluate, paired_difference
from argus.scenarios.ablation.grid import best_cell, grid, usual_cell
from argus.scenarios.ablation.job import embed_source, read_source
from argus.scenarios.config import AUTO, WEIGHTS, Cell
from argus.scenarios.profile import Component
from argus.scenarios.remedy import add_scenarios
from benchmarks.scenario_quality import without

MEASURE, DEPTH = "nDCG@10", 100
CELLS = [Cell(c, weight) for c in Component for weight in WEIGHTS]


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return {"demo": _demo(home, encoder)}


def _demo(home: Path, encoder: Encoder) -> dict[str, Any]:
    corpus = home / "corpus"
    write_sample_corpus(corpus, standard_library())
    index = home / "index"
    build_index(read_corpus(corpus), out=index, encoder=encoder)
    added = add_scenarios(
        index, corpus / "profiles.jsonl", component=AUTO, weight=AUTO, encoder=encoder
    )
    choice = added.summary["choice"]
    assert choice is not None
    qrels = corpus / "qrels" / "test.tsv"
    source = read_source(corpus, corpus / "profiles.jsonl", corpus, qrels, encoder=encoder)
    store = EmbeddingStore(index / "embeddings", fingerprint=encoder.fingerprint, dim=encoder.dim)
    with store:
        vectors = embed_source(source, tuple(Component), encoder, store)
    score = partial(evaluate, qrels=vectors.judged.qrels, measures=[MEASURE])
    cells = grid(vectors.documents, vectors.texts, vectors.queries, CELLS, depth=DEPTH, score=score)
    cell = Cell(Component(choice["component"]), choice["lambda"])
    return {
        "choice": choice,
        "judged": _judged(cells, cell),
        "without": {str(c): without(vectors, c) for c in (cell, usual_cell(CELLS))},
    }


def _judged(cells: dict[Cell, Evaluation], cell: Cell) -> dict[str, Any]:
    alone = cells[Cell(Component.ME, 1.0)]
    arms = {"auto": cell, "usual": usual_cell(cells), "hindsight": best_cell(cells, MEASURE)}
    rows: dict[str, Any] = {"alone": round(alone.aggregate[MEASURE], 4)}
    for name, of in arms.items():
        rows[name] = {
            "cell": str(of), MEASURE: round(cells[of].aggregate[MEASURE], 4),
            "to_alone": _difference(alone, cells[of]),
            "to_usual": _difference(cells[arms["usual"]], cells[of]),
        }  # fmt: skip
    return rows


def _difference(before: Evaluation, after: Evaluation) -> dict[str, Any]:
    first, second = ({q: v[MEASURE] for q, v in e.per_query.items()} for e in (before, after))
    change = paired_difference(first, second, seed=0)
    ends = [None if end is None else round(end, 4) for end in (change.low, change.high)]
    return {
        "mean": round(change.mean_difference, 4),
        "interval": ends,
        "improved": change.improved,
        "harmed": change.harmed,
    }
