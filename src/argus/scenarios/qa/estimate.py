"""What a comparison of answers would ask and cost, stage by stage, without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.data.types import Qrels, Query, State
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
from argus.llm import Estimate, Ledger, ModelConfig, Prompt, estimate
from argus.llm import State as Asked
from argus.llm.ledger import ledger_to_read
from argus.llm.plan import answer_bound, request_keys
from argus.llm.reply import without_thoughts
from argus.scenarios.qa.cases import Retrieved, cases, retrieve
from argus.scenarios.qa.compare import Answered, Case, answer_prompts, judge_prompts
from argus.scenarios.qa.config import Inputs, QAConfig, read_inputs
from argus.scenarios.qa.job import LEDGER
from argus.scenarios.qa.prompts import answer_prompt, reason_prompt

_CHARS_PER_TOKEN = 4


def estimate_answers(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    out: Path | str,
    answers: Path | str | Mapping[str, str] | None = None,
    qrels: Path | str | Qrels | None = None,
    reasoned: Path | str | Mapping[str, str] | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
) -> dict[str, Any]:
    """Return stage -> Estimate as a dictionary, `total` of them, and whether it is `exact`.

    What is in the ledger of `out` counts as answered. Where an answer is not there yet, the judge
    is taken to read one of the greatest length, and a search to be made with the question itself;
    nothing is asked and nothing is written.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    with TemporaryDirectory() as folder, ledger_to_read(Path(out) / LEDGER) as ledger:
        return _estimate(inputs, config, ledger, Path(folder) / "embeddings")


def _estimate(inputs: Inputs, config: QAConfig, ledger: Ledger, store: Path) -> dict[str, Any]:
    stages: dict[str, Estimate] = {}
    questions = inputs.questions.asked
    known = dict.fromkeys((q.id for q in questions), "")
    if config.reason:
        asked = [reason_prompt(q.text) for q in questions]
        stages["reformulating"] = estimate(asked, ledger, config.model)
        said = _said(asked, ledger, config.model)
        known = {q.id: said.get(prompt.key, "") for q, prompt in zip(questions, asked, strict=True)}
    given = inputs.reasoned or {}
    searched = {q.id: given.get(q.id) or known[q.id] or q.text for q in questions}
    made = list(_cases(inputs, config, searched, store))
    prompts = answer_prompts(made)
    stages["answering"] = estimate(prompts, ledger, config.model)
    said = _said(prompts, ledger, config.model)
    answered = [
        _answered(case, said, config.model) for case in made if case.state is State.MEASURED
    ]
    stages["judging"] = estimate(judge_prompts(answered, config.votes), ledger, config.judging)
    before = [e for stage, e in stages.items() if stage != "judging"]
    return {
        "stages": {stage: asdict(e) for stage, e in stages.items()},
        "total": _total(list(stages.values())),
        "exact": not any(e.to_ask for e in before),
    }


def _cases(
    inputs: Inputs, config: QAConfig, searched: Mapping[str, str], store: Path
) -> list[Case]:
    encoder = inputs.retriever.encoder
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        retrieved: Retrieved = retrieve(
            searched, {}, inputs.retriever, inputs.snapshot, opened,
            k=config.k, weight=config.weight,
        )  # fmt: skip
    return list(
        cases(
            inputs.questions.asked, retrieved, inputs.gold, inputs.snapshot,
            k=config.k, max_chars=config.max_chars,
        )
    )  # fmt: skip


def _said(prompts: Sequence[Prompt], ledger: Ledger, config: ModelConfig) -> dict[str, str]:
    """Return prompt key -> answer, of the prompts that the ledger holds as answered."""
    keys = request_keys(prompts, config, None)
    by_key = {key: prompt.key for key, prompt in zip(keys, prompts, strict=True)}
    found = ledger.find(list(by_key))
    return {by_key[e.key]: without_thoughts(e.answer) for e in found if e.state is Asked.OK}


def _answered(case: Case, said: Mapping[str, str], config: ModelConfig) -> Answered:
    """Return a case with its answer, or with one that is as long as it may be."""
    prompt = answer_prompt(case.question.text, case.context)
    longest = prompt.key.ljust(_CHARS_PER_TOKEN * answer_bound(prompt, config), "x")
    return Answered(case, said.get(prompt.key) or longest)  # arms of one context share it


def _total(stages: Sequence[Estimate]) -> dict[str, Any]:
    rows = [asdict(e) for e in stages]
    return {
        name: None if any(row[name] is None for row in rows) else sum(row[name] for row in rows)
        for name in rows[0]
    }
