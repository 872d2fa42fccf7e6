"""From a reply to its row in the ledger, and from a row to what the caller gets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from argus.llm.ledger import Entry
from argus.llm.protocol import Outcome, Prompt, State
from argus.llm.reply import Reply
from argus.llm.structured import UnusableAnswer, read_object

if TYPE_CHECKING:
    from pydantic import BaseModel


def entry_of(
    key: str,
    model: str,
    prompt: Prompt,
    reply: Reply,
    schema: type[BaseModel] | None,
    seconds: float,
) -> Entry:
    """Return the row for a reply; FAILED where there is no text, or none that fits `schema`."""
    if schema and not reply.reason:
        try:
            read_object(reply.text, schema)
        except UnusableAnswer as error:
            reply = replace(reply, reason=str(error))
    failed = bool(reply.reason)
    return Entry(
        key=key,
        model=model,
        prompt=prompt.text,
        state=State.FAILED if failed else State.OK,
        answer="" if failed else reply.text,
        reason=reply.reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        seconds=seconds,
        unanswered=reply.unanswered,
    )


def outcome_of(
    prompt: Prompt, entry: Entry | str, schema: type[BaseModel] | None, cached: bool
) -> Outcome[Any]:
    """Return what a row says of a prompt; a text is the reason why it was not asked."""
    if isinstance(entry, str):
        return Outcome(prompt, State.NOT_ASKED, reason=entry)
    value: Any = None
    if entry.state is State.OK:
        value = read_object(entry.answer, schema) if schema else entry.answer
    return Outcome(
        prompt, entry.state, value, entry.reason, entry.tokens_in, entry.tokens_out,
        cached=cached, unanswered=entry.unanswered,
    )  # fmt: skip
