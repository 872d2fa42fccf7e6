"""Documents in, profiles out: a language model is asked once per document (SPIKE §3.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from argus.data.types import Document
from argus.llm import LanguageModel, Outcome, Prompt
from argus.llm import State as PromptState
from argus.scenarios.files import from_answer
from argus.scenarios.openings import Form
from argus.scenarios.profile import Profiled, ProfileState
from argus.scenarios.prompts import MAX_DOCUMENT_CHARS, Role, scenario_prompt
from argus.scenarios.schema import ProfileAnswer

NO_TEXT = "the document has no text"
NOT_ASKED = "not asked: "


def prompts_for(
    documents: Sequence[Document],
    role: Role = Role.TEACHER,
    *,
    max_chars: int = MAX_DOCUMENT_CHARS,
    form: Form = Form.WRITTEN,
) -> list[Prompt]:
    """Return the prompts of `generate`, in order, so that it can be estimated."""
    return [
        scenario_prompt(d.content, role, max_chars=max_chars, form=form)
        for d in documents
        if _has_text(d)
    ]


def generate(
    documents: Sequence[Document],
    model: LanguageModel,
    role: Role = Role.TEACHER,
    *,
    max_chars: int = MAX_DOCUMENT_CHARS,
    form: Form = Form.WRITTEN,
) -> Iterator[Profiled]:
    """Yield the outcome of every document, in their order.

    A document without text FAILED, as did one whose answer cannot be used. Longer documents than
    `max_chars` characters are profiled by their beginning, which is noted. Raises
    LanguageModelError as the model does. Answers so far are in its ledger.
    """
    prompts = prompts_for(documents, role, max_chars=max_chars, form=form)
    outcomes = model.complete(prompts, schema=ProfileAnswer)
    name = model.name
    for document in documents:
        if not _has_text(document):
            yield Profiled(document.id, ProfileState.FAILED, reason=NO_TEXT)
        else:
            yield _read(document, next(outcomes), name, max_chars)


def _read(
    document: Document, outcome: Outcome[ProfileAnswer], model: str, max_chars: int
) -> Profiled:
    source = json.dumps({"model": model, "prompt": outcome.prompt.key}, ensure_ascii=False)
    notes: tuple[str, ...] = ()
    if len(document.content) > max_chars:
        shown = f"{max_chars:,} of {len(document.content):,} characters"
        notes = (f"only the first {shown} were shown to the generator",)
    if outcome.state is not PromptState.OK or outcome.value is None:
        reason = outcome.reason
        if outcome.state is PromptState.NOT_ASKED:
            reason = f"{NOT_ASKED}{reason}"
        return Profiled(document.id, ProfileState.FAILED, None, reason, notes, source)
    return from_answer(document.id, outcome.value, notes=notes, source=source)


def _has_text(document: Document) -> bool:
    return bool(document.content.strip())
