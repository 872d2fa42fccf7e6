"""The released scorer of CAR over its own BM25, and over the same within `AuthorityRetriever`.

    CAR_SCORER=path/to/evaluate.py python -m benchmarks car_scorer

`evaluate.py` is a file of the released code (github.com/andremir/car-retrieval, measured at commit
7eca928), no part of Argus. It is copied beside `data/finsuperqa_v1.jsonl`, FinSuperQA as made here
in the released form, and run as `evaluate.py --retriever_path FILE --k 5` three times: over a
retriever that writes down the corpus, with the distractors that the scorer makes; over its own
BM25, the class that has BM25 in its name; and over that class wrapped. Stored are the numbers of
the file that it writes, or else of what it prints, and those of `argus research authority score`
over the
same files. Without CAR_SCORER it says where to get it and ends with exit code 2.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import RELEASED
from argus.authority.benchmarks.makers import make_finsuperqa
from argus.authority.rules import Record
from argus.data.provenance import file_hash
from argus.data.writing import write_jsonl

VARIABLE, BM25, K = "CAR_SCORER", "bm25", 5
ABSENT = (
    f"{VARIABLE} names no file: get evaluate.py of github.com/andremir/car-retrieval (measured at "
    f"commit 7eca928), and run {VARIABLE}=path/to/evaluate.py python -m benchmarks car_scorer"
)
LIMIT_S = 3600
QUESTIONS, CORPUS, WRITTEN = "finsuperqa_v1.jsonl", "corpus.jsonl", "custom_retriever_results.json"
SHARES = ("controlling_hit", "tca")
HOPS = {"T0": "type0_no_supersession", "T1": "type1_supersession",
        "T2": "type2_chain_supersession", "T3": "type3_cross_provenance"}  # fmt: skip

KEEPING = """
import json


class Retriever:
    def __init__(self, corpus=None):
        self._keep(corpus)

    def retrieve(self, query, corpus=None, k=5):
        self._keep(corpus)
        return self.ids[:k]

    def _keep(self, corpus):
        if corpus and not getattr(self, "ids", None):
            self.ids = [row["doc_id"] for row in corpus]
            with open({corpus!r}, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\\n" for row in corpus)
"""
OWN = "from evaluate import {name} as Retriever\n"
WRAPPED = """
import argus
from evaluate import {name}

made = argus.tasks.open_task("car:{questions},distractors={corpus}").benchmark


class Retriever(argus.authority.AuthorityRetriever):
    def __init__(self):
        authority = argus.Authority(made.records, edges=made.edges)
        super().__init__({name}, authority)
"""


def run(benchmark: Benchmark | None = None) -> dict[str, Any]:
    scorer = os.environ.get(VARIABLE, "")
    if not Path(scorer).is_file():
        print(ABSENT, file=sys.stderr)
        raise SystemExit(2)
    benchmark = benchmark or make_finsuperqa(seed=0)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "data").mkdir()
        copyfile(scorer, home / "evaluate.py")
        write_jsonl(home / "data" / QUESTIONS, released_rows(benchmark))
        names = {"name": bm25_of(Path(scorer)), "corpus": str(home / CORPUS),
                 "questions": str(home / "data" / QUESTIONS)}  # fmt: skip
        files = {"keeping": KEEPING, "own": OWN, "wrapped": WRAPPED}
        for name, text in files.items():
            (home / f"{name}.py").write_text(_filled(text, names), encoding="utf-8")
        scored(home, "keeping")
        if not (home / CORPUS).is_file():
            raise SystemExit("the scorer gave its retriever no corpus, neither made nor asked")
        return {
            "scorer": file_hash(Path(scorer)),
            "class": names["name"],
            "questions": len(benchmark.questions),
            "documents": len((home / CORPUS).read_text("utf-8").splitlines()),
            **{name: scored(home, name) for name in ("own", "wrapped")},
            "argus": {name: scored_here(home, name) for name in ("own", "wrapped")},
        }


def _filled(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "!r}", repr(value)).replace("{" + name + "}", value)
    return text


def bm25_of(scorer: Path) -> str:
    """Return the scorer's class of BM25, by its name."""
    tree = ast.parse(scorer.read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    own = next((name for name in names if BM25 in name.lower()), None)
    if own is None:
        raise SystemExit(f"{scorer}: no class with BM25 in its name, but {', '.join(names)}")
    return own


def released_rows(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    """Yield questions with their chains, in the form of the released file."""
    records = {record.id: record for record in benchmark.records}
    rules = {(edge.superseder, edge.superseded): edge.rule for edge in benchmark.edges}
    for question in benchmark.questions:
        chain = [records[id_] for id_ in question.chain]
        yield {
            "example_id": question.id,
            "hop_type": HOPS[question.hop],
            "num_hops": len(chain),
            "query": question.text,
            "answer": RELEASED[question.answer],
            "provenance": list(_hops(chain, rules)),
            "kb": [_event(record) for record in chain],
            **_pair(question),
        }


def _pair(question: Question) -> dict[str, str]:
    return {key: question.scope[key] for key in ("employee", "ticker")}


def _type(record: Record) -> str:
    """Return an event's type as the released file writes it: pre_clearance_approved."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", record.type).lower()


def _event(record: Record) -> dict[str, Any]:
    return {"event_id": record.id, "event_type": _type(record), "text": record.text,
            "timestamp": str(record.time)}  # fmt: skip


def _hops(
    chain: Sequence[Record], rules: Mapping[tuple[str, str], str]
) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(chain):
        older = chain[number - 1].id if number else None
        rule = {"supersedes": older, "rule": rules.get((record.id, older), "")} if older else {}
        yield {"hop": number + 1, "event_id": record.id, "type": _type(record),
               "text": record.text, **rule}  # fmt: skip


def scored(home: Path, name: str) -> dict[str, float]:
    """Run the scorer over a retriever's file; return the numbers that it writes, or prints."""
    file = home / "data" / WRITTEN
    file.unlink(missing_ok=True)
    command = [sys.executable, "evaluate.py", "--retriever_path", f"{name}.py", "--k", str(K)]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[1:])} ended with {done.returncode}: {done.stderr}")
    if file.is_file():
        return dict(_numbers(json.loads(file.read_text("utf-8"))))
    return {n: float(v) for n, v in re.findall(r"([\w@]+)\s*[:=|]\s*([01]\.\d+)", done.stdout)}


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a JSON object with their keys; lists are of single questions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}.{key}".strip("."))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


def scored_here(home: Path, name: str) -> dict[str, float]:
    """Return what `argus research authority score` says of the same retriever on the same files."""
    place = f"car:data/{QUESTIONS},distractors={CORPUS}"
    command = [
        sys.executable, "-m", "argus", "research", "authority", "score", "--benchmark", place,
        "--retriever", f"{name}.py:Retriever", "--encoder", "none", "--k", str(K), "--json",
        "--out", f"scores-{name}",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=home, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    system = json.loads(done.stdout)["systems"][0]
    return {share: system["overall"][share]["value"] for share in SHARES}
