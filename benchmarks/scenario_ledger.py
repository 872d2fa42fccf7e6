"""Going on with 100,000 profiled documents, and validating 10,000 answers.

Documents and answers are those of the 67 released teacher profiles in turn, each document with a
number of its own, so that every prompt differs. `resume_s`: from the documents to knowing what is
still to be asked (prompts, ledger keys, look-up, validation of what the ledger holds). `rerun_s`:
the whole command with nothing left to ask, profiles.jsonl and report included. The baselines do the
same one at a time: a look-up per prompt, and a validation of the whole answer per look-up.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from argus.data.provenance import peak_memory_bytes
from argus.data.types import Document
from argus.llm import ChatConfig, Entry, Ledger, State
from argus.llm.plan import make_plan, request_keys
from argus.llm.structured import read_object
from argus.scenarios.files import profile_fields, read_profiles
from argus.scenarios.generate import prompts_for
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import LEDGER, profile_documents
from argus.scenarios.schema import ProfileAnswer
from benchmarks.shared import collection

DOCUMENTS, VALIDATED = 100_000, 10_000


def run() -> dict[str, Any]:
    documents, answers = _documents()
    config = ChatConfig(model="teacher", base_url="http://127.0.0.1:9/v1")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        _fill(out / LEDGER, documents, answers, config)
        result: dict[str, Any] = {"documents": DOCUMENTS, "ledger_mib": _mib(out / LEDGER)}
        with Ledger(out / LEDGER) as ledger:
            start = time.perf_counter()
            plan = make_plan(prompts_for(documents), ledger, config, ProfileAnswer)
            result["resume_s"] = round(time.perf_counter() - start, 2)
            assert not plan.ask
            one_by_one = _one_by_one(documents[:VALIDATED], ledger, config)
        result["resume_one_by_one_s"] = round(one_by_one * DOCUMENTS / VALIDATED, 2)
        result["ratio"] = round(result["resume_one_by_one_s"] / result["resume_s"], 2)
        start = time.perf_counter()
        profile_documents(documents, out=out, config=ProfileConfig(model=config))
        result["rerun_s"] = round(time.perf_counter() - start, 2)
    start = time.perf_counter()
    for answer in answers[:VALIDATED]:
        read_object(answer, ProfileAnswer).profile()  # type: ignore[attr-defined]
    result["validate_10k_s"] = round(time.perf_counter() - start, 2)
    start = time.perf_counter()
    for answer in answers[:VALIDATED]:
        json.loads(answer)
    result["json_loads_10k_s"] = round(time.perf_counter() - start, 2)
    result["peak_mib"] = round(peak_memory_bytes() / 2**20)
    return result


def _documents() -> tuple[list[Document], list[str]]:
    path = collection("spike_scenarios") / "scenarios.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    profiles = [p.profile for p in read_profiles(path).values() if p.profile is not None]
    documents = [
        Document(f"d{i:06d}", f"{i}. {texts[i % len(texts)][:1_500]}") for i in range(DOCUMENTS)
    ]
    answers = [
        json.dumps({"noise": False, **profile_fields(profiles[i % len(profiles)])})
        for i in range(DOCUMENTS)
    ]
    return documents, answers


def _fill(path: Path, documents: list[Document], answers: list[str], config: ChatConfig) -> None:
    with Ledger(path) as ledger:
        prompts = prompts_for(documents)
        keys = request_keys(prompts, config, ProfileAnswer)
        for key, prompt, answer in zip(keys, prompts, answers, strict=True):
            ledger.put(Entry(key, config.model, prompt.text, State.OK, answer))


def _one_by_one(documents: list[Document], ledger: Ledger, config: ChatConfig) -> float:
    start = time.perf_counter()
    for prompt in prompts_for(documents):
        entry = ledger.get(*request_keys([prompt], config, ProfileAnswer))
        assert entry is not None
        read_object(entry.answer, ProfileAnswer)
    return time.perf_counter() - start


def _mib(path: Path) -> int:
    return round(path.stat().st_size / 2**20)
