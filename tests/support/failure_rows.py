"""Questions as the failure analysis measures them, and the folder of results that it leaves."""

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.generative.failures.diagnosis import derived, diagnose, outcome, spreads, taxonomy
from argus.generative.failures.measures import COLUMNS
from argus.generative.failures.tables import figures
from argus.jobs.workspace import Record
from argus.reports import write_report

K = 10


def question(i, rng, *, queries, full):
    """A row as measured: success goes with rare n-grams."""
    rank = rng.choice([1, 3, 25, None], p=[0.4, 0.3, 0.2, 0.1])
    hard = 0.2 if rank == 1 else 0.6 if rank else 0.9
    noise = rng.random()
    correct, answered = rank is not None and rank <= K, rng.random() < 0.7
    row = {
        "query_id": f"q{i}", "question": f"who sang <b>song {i}</b> in the film?", "passages": 100,
        "positives": int(rng.integers(1, 14)), "r_precision": 1 - hard, "hit_1": int(rank == 1),
        "hit_k": int(correct), "first_correct": rank, "outcome": "PN" if rank == 1 else "NN",
        "answer_hit_1": int(answered), "answer_hit_k": 1, "score_all": 5000.0,
        "score_title": 2000.0 + 500 * noise, "score_query": 900.0 * queries,
        "score_correct": 900.0, "score_title_correct": 250.0, "score_query_correct": 90.0 * queries,
        "answer_title_gain": 20 * noise, "answer_title_gain_correct": 12 * noise,
        "title_score_correct": 200.0, "title_score_wrong": 150 + 100 * noise,
        "frequency_top": float(10 ** (5 * hard * (0.5 + noise))), "frequency_all": 3e5 * noise,
        "rarest_top": int(10 ** (4 * hard * noise)), "unigram_share": 0.7 + 0.3 * hard * noise,
        "ngram_words": 1.2 + noise, "overlap": 0.8 - 0.5 * hard * noise,
        "answer_ngram_1": int(rank == 1 and answered), "answer_ngram_k": int(answered),
        "dominance": 0.2 + 0.5 * hard * noise, "ngrams_all": 4000, "title_ngrams_all": 40,
        "query_ngrams_all": 12 * queries, "ngrams_first": int(30 + 20 * noise),
        "query_ngrams_first": int(3 * noise) * queries, "unigram_score_share": 0.6 * noise,
        "title_score_share": 0.5 * noise, "query_score_share": 0.1 * queries,
        "diversity": 0.4 + 0.4 * noise, "title_repetition": int(1 + 9 * noise),
        "keys_correct": 0.2, "keys_wrong": 0.5, "keys_shared": 0.3,
        "weight_correct": 30 + noise, "weight_wrong": 20 + noise, "weight_shared": 60 + noise,
        "answer_outcome": "hit" if correct else "unannotated" if answered else "absent",
        "answer_rank": None if correct or not answered else 3,
        "gold_holds_answer": int(noise < 0.9), "gold_terms": int(6 * noise),
        "gold_adjacent": int(noise < 0.7),
    }  # fmt: skip
    if full:
        row |= {
            "coverage": 0.6 + 0.4 * noise, "pieces": int(1 + 6 * hard * noise),
            "pieces_word": "chandragupta" if noise > 0.5 else "tchaikovsky",
            "cut_answer": "p1 + p2" if noise > 0.97 else None, "positives_indexed": 1,
            "pruned": int(9 * noise), "pruned_ngram": "the song",
            "pruned_weight": 12.5, "rank_now": rank, "rank_unpruned": rank and max(1, rank - 2),
            "rank_without_titles": rank and rank + 4, "rank_without_queries": rank,
            "rank_without_unigrams": rank and rank + 1,
            "judged": None if correct or not answered else
            str(rng.choice(["YES", "PARTIAL", "NO", "failed"], p=[0.3, 0.3, 0.35, 0.05])),
        }  # fmt: skip
    return row


BARE = {"query_id", "question", "passages"}


def rows_of(n, *, seed, queries=0, full=True, bare=False):
    rng = np.random.default_rng(seed)
    rows = [question(i, rng, queries=queries, full=full) for i in range(n)]
    if bare:
        rows = [{name: row[name] if name in BARE else None for name in row} for row in rows]
    return [{name: row.get(name) for name in COLUMNS} for row in rows]


def system(name, rows, **changed):
    """A system's part of the summary, and its rows of failure_diagnosis.parquet."""
    modes = taxonomy()
    full = [derived(row, K) for row in rows]
    spread = spreads(full, modes)
    diagnosed = [diagnose(row, modes, spread, K) for row in full]
    leads = [found[0].mode.id for found in diagnosed if found]
    described = []
    for mode in modes:
        if mode.column is None:
            continue
        s = spread[mode.id]
        described.append(
            {
                "id": mode.id, "name": mode.name, "category": mode.category,
                "direct": mode.direct, "threshold_text": mode.threshold_text,
                **s, "leading": leads.count(mode.id),
                "not_applicable": None if s["measured"] else "not measured",
            }
        )  # fmt: skip
    described.sort(key=lambda mode: (-(mode["difference"] or 0.0), mode["id"]))
    outcomes = [outcome(row) for row in rows]
    table = pa.Table.from_pylist(rows, schema=pa.schema(list(COLUMNS.items())))
    told = {
        "name": name, "file": f"/data/{name}.json", "problems": [],
        "questions": {
            "total": len(rows), "judged": len(rows) - outcomes.count("not judged"),
            "failed": outcomes.count("failed"), "late": outcomes.count("late"),
            "found": outcomes.count("found at 1"),
        },
        "figures": figures(table, k=K, seed=0), "modes": described,
    } | changed  # fmt: skip
    diagnosis = [
        {
            "system": name, "pair": row["query_id"], "query_id": row["query_id"],
            "question": row["question"],
            "outcome": outcome(row), "first_correct": row["first_correct"],
            "modes": [f.mode.name for f in found], "evidence": [f.evidence for f in found],
        }
        for row, found in zip(rows, diagnosed, strict=True)
    ]  # fmt: skip
    return told, diagnosis


def written(tmp_path, systems, *, comparison=None, needs=(), judge=None, replayed=()):
    """A folder as the job writes it; return the page."""
    folder = ArtifactFolder(tmp_path / "out")
    folder.open()
    summary = {
        "k": K, "correct": "annotated", "tokens": "words", "systems": [told for told, _ in systems],
        "comparison": comparison, "needs": list(needs), "judge": judge,
        "replayed": list(replayed) or [None for _ in systems],
    }  # fmt: skip
    listed = pa.list_(pa.string())
    texts = ("system", "pair", "query_id", "question", "outcome")
    schema = pa.schema(
        [
            *((name, pa.string()) for name in texts),
            ("first_correct", pa.int64()), ("modes", listed), ("evidence", listed),
        ]
    )  # fmt: skip
    rows = [row for _, diagnosis in systems for row in diagnosis]
    folder.write_table("failure_diagnosis", pa.Table.from_pylist(rows, schema=schema))
    record = Record("generative_failures", {}, {}, {"fingerprint": "none"})
    folder.write_results("generative_failures", summary, record.manifest({}))
    return write_report(folder.path).read_text()
