"""Ask a language model which needs each document serves (its scenarios): the prompts and calls.

The asking step of `research scenarios write` (`argus.scenarios.profiles`). The teacher's prompt
(SPIKE Table 8) and the student's (Table 9) are the paper's, with three changes. The answer's fields
are named, since its third step (an object keyed by needs) is no JSON schema. A document that says
nothing may be called noise. Scenarios are written in the language of the document, so that they lie
near its queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from argus.data.types import Document
from argus.jobs.answers import why_none
from argus.llm import LanguageModel, Prompt
from argus.llm import State as PromptState
from argus.scenarios.config import ProfileSettings, Role
from argus.scenarios.files import ProfileAnswer, from_answer
from argus.scenarios.profile import Profiled, ProfileState

MAX_TOKENS = 2_048  # Tokens of an answer. Teacher profiles take 200 to 700.
TEACHER, STUDENT = (
    Path(__file__).with_name(name).read_text("utf-8").rstrip("\n")
    for name in ("teacher.txt", "student.txt")
)

NO_TEXT = "the document has no text"


def scenario_prompt(text: str, settings: ProfileSettings) -> Prompt:
    """Return the prompt for one document, of which at most `max_chars` characters are shown.

    Code, LaTeX and tables go in as they are.
    """
    instructions = TEACHER if settings.role is Role.TEACHER else STUDENT
    shown = f"[Text Content]\n{text[: settings.max_chars]}"
    return Prompt(shown, system=instructions, max_tokens=MAX_TOKENS)


def prompts_for(documents: Sequence[Document], settings: ProfileSettings) -> list[Prompt]:
    """Return the prompts of `generate`, in order, so that it can be estimated."""
    return [scenario_prompt(d.content, settings) for d in documents if d.content.strip()]


def generate(
    documents: Sequence[Document], model: LanguageModel, settings: ProfileSettings
) -> Iterator[Profiled]:
    """Yield the outcome of every document, in their order.

    A document without text FAILED, as did one whose answer cannot be used. Longer documents than
    `max_chars` characters are profiled by their beginning. Raises
    LanguageModelError as the model does. Answers so far are in its ledger.
    """
    prompts, name = prompts_for(documents, settings), model.name
    outcomes = model.complete(prompts, schema=ProfileAnswer)
    for document in documents:
        if not document.content.strip():
            yield Profiled(document.id, ProfileState.FAILED, reason=NO_TEXT)
            continue
        outcome = next(outcomes)
        source = json.dumps({"model": name, "prompt": outcome.prompt.key}, ensure_ascii=False)
        if outcome.state is not PromptState.OK or outcome.value is None:
            yield Profiled(document.id, ProfileState.FAILED, None, why_none(outcome), source)
        else:
            yield from_answer(document.id, outcome.value, source=source)
