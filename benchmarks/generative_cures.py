"""Backtracking beside plain beams: what is still pruned, what is found, what it costs.

The small models and the questions of `generative_quality`: wiki2 with and without titles in the
passages, SEAL and MINDER on the demo. Per search: hits and nDCG, seconds per question beside those
of plain beams, and the replay's share of the positives' n-grams that would weigh something and were
not written. Scores are as published; wiki2 without titles comes once more with those that a model
from scratch has by default, without the mass of single tokens. `beams_30` is a plain search that
decodes as many hypotheses as backtracking.

GENERATIVE_CURES_SIZE (1) scales the minutes of training and the questions: 0.2 takes ten minutes on
a core, most of them training, which is kept. GENERATIVE_CURES_ON names settings, apart by spaces.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from argus.data.types import Qrels, Query
from argus.generative.decode import Seq2Seq
from argus.generative.failures.replay import Replay, Replayed
from argus.generative.index import NgramIndex
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Cure, Decoding, Mode, Scoring
from benchmarks.generative_collections import judged_demo, judged_wiki2
from benchmarks.generative_quality import ASKED, PUBLISHED, measured

SIZE = float(os.environ.get("GENERATIVE_CURES_SIZE", "1"))
K, REPLAYED = 10, 100
SEARCHES = {
    "plain": Decoding(),
    "beams_30": Decoding(beams=30),
    "backtracking": Decoding(cure=Cure.BACKTRACKING),
}


@dataclass(frozen=True)
class Setting:
    """What is searched, and for what. steps: of the model's training."""

    index: NgramIndex
    model: Seq2Seq
    mode: Mode
    questions: Sequence[Query]
    qrels: Qrels
    steps: int
    scoring: Scoring = PUBLISHED


def run() -> dict[str, Any]:
    parts: dict[str, Any] = {"size": SIZE}
    for name in ON:
        parts[name] = _compared(SETTINGS[name]())
        print(name, parts[name], flush=True)
    return parts


def _wiki2(part: str, **options: Any) -> Setting:
    judged = judged_wiki2(SIZE)
    return Setting(
        judged.indexes[part], judged.model, Mode.SEAL,
        judged.questions[: max(1, int(ASKED * SIZE))], judged.qrels, judged.steps, **options,
    )  # fmt: skip


def _demo(mode: Mode) -> Setting:
    judged = judged_demo(SIZE)
    asked = judged.questions[: max(1, int(len(judged.questions) * SIZE))]
    return Setting(judged.indexes["titles"], judged.model, mode, asked, judged.qrels, judged.steps)


SETTINGS: dict[str, Callable[[], Setting]] = {
    "wiki2_titles": partial(_wiki2, "titles"),
    "wiki2_texts": partial(_wiki2, "texts"),
    "wiki2_texts_unigrams_0": partial(_wiki2, "texts", scoring=Scoring(unigrams=0)),
    **{f"demo_{mode}": partial(_demo, mode) for mode in Mode},
}
ON = os.environ.get("GENERATIVE_CURES_ON", " ".join(SETTINGS)).split()


def _compared(setting: Setting) -> dict[str, Any]:
    searches = {name: _searched(setting, decoding) for name, decoding in SEARCHES.items()}
    plain = searches["plain"]["ms_per_question"]
    for figures in searches.values():
        figures["cost"] = round(figures["ms_per_question"] / plain, 2)
    return {"steps": setting.steps, "questions": len(setting.questions), **searches}


def _searched(setting: Setting, decoding: Decoding) -> dict[str, Any]:
    searcher = GenerativeSearcher(
        setting.index, setting.model, setting.mode, decoding, setting.scoring
    )
    list(searcher.search(setting.questions[:1], K))  # compiles
    searcher.seconds.clear()
    begun = time.process_time()
    run = searcher.run(setting.questions, K)
    seconds = time.process_time() - begun
    n = len(setting.questions)
    steps = {step: round(1000 * s / n, 1) for step, s in searcher.seconds.items()}
    qrels = {q.id: setting.qrels[q.id] for q in setting.questions}
    return {
        **measured(run, qrels),
        "ms_per_question": round(1000 * seconds / n, 1),
        "wall_ms_by_step": steps,
        **_replayed(setting, searcher),
    }


def _replayed(setting: Setting, searcher: GenerativeSearcher) -> dict[str, Any]:
    """Return what the replay says: means over questions whose positives have n-grams that weigh."""
    replay = Replay(searcher, most_beams=1)  # no wider beam is tried
    numbers = {id_: n for n, id_ in enumerate(setting.index.ids())}
    replays = []
    for query in setting.questions[: max(1, int(REPLAYED * SIZE))]:
        positives = [numbers[id_] for id_, grade in setting.qrels[query.id].items() if grade > 0]
        replays.append(replay.replay(query.text, positives))
    gold = [r.gold for r in replays if r.gold is not None and r.gold.share is not None]
    n = max(1, len(gold))
    return {
        "replayed": len(replays),
        "gold_ngrams": round(sum(len(g.pruned) + g.written for g in gold) / n, 1),
        "pruned_share": round(sum(g.share or 0 for g in gold) / n, 4),
        "pruned_weight_share": round(sum(g.weight_share or 0 for g in gold) / n, 4),
        "better_unpruned": sum(_better(r) for r in replays),
        "kept_from_10": sum(_better(r) and _hit(r.unpruned) and not _hit(r.now) for r in replays),
    }


def _hit(rank: int | None) -> bool:
    return rank is not None and rank <= K


def _better(replayed: Replayed) -> bool:
    """Whether the best positive ranks better with the n-grams that were pruned."""
    now, unpruned = replayed.now, replayed.unpruned
    return unpruned is not None and (now is None or unpruned < now)
