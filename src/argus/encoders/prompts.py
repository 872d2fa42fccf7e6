"""Choose the prompts before queries and documents: the model's own, or those of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from argus.errors import InputError

QUERY_NAMES = (
    "query", "search_query", "retrieval.query", "question", "queries", "web_search_query",
)  # fmt: skip
DOCUMENT_NAMES = (
    "document", "passage", "corpus", "search_document", "retrieval.passage", "retrieval.document",
    "documents", "passages",
)  # fmt: skip
"""Names of such prompts in models. The first with a text is used."""
_A_NAME = re.compile(r"[\w.\-]+")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Text before a query or document. name: the model's, "" if the user gave the text."""

    text: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts of queries and documents."""

    query: Prompt = Prompt()
    document: Prompt = Prompt()

    def notes(self, model: str) -> Iterator[str]:
        """Yield notes on the prompts in words. A model without prompts has no notes."""
        roles = (("queries", self.query), ("documents", self.document))
        for what, prompt in roles:
            if prompt.text:
                named = f", its prompt {prompt.name!r}" if prompt.name else ""
                yield f"{model}: {what} begin with {prompt.text!r}{named}"


def resolve_prompts(
    prompts: Mapping[str, str | None], *, query: str | None = None, document: str | None = None
) -> Prompts:
    """Return the prompts to use.

    prompts: the model's own, by name. query, document: a text, or the name of one of them. None
    takes the model's own. Raises InputError for a word that is no name of theirs and, without a
    space or a colon, no prompt either.
    """
    own = {name: text or "" for name, text in prompts.items()}
    return Prompts(
        _resolve(own, query, QUERY_NAMES, "--query-prompt"),
        _resolve(own, document, DOCUMENT_NAMES, "--document-prompt"),
    )


def _resolve(
    own: Mapping[str, str], prompt: str | None, usual: Sequence[str], option: str
) -> Prompt:
    if prompt is None:
        name = next((name for name in usual if own.get(name)), "")
        return Prompt(own.get(name, ""), name)
    if prompt in own:
        return Prompt(own[prompt], prompt)
    if _A_NAME.fullmatch(prompt):
        expected = "a text, since the model has no prompts of its own"
        if own:
            expected = f"one of the model's prompts ({', '.join(map(repr, own))})"
        fix = f"Give the text as it stands before a query or document, as in {prompt + ': '!r}."
        raise InputError(repr(prompt), expected=expected, fix=fix, where=option)
    return Prompt(prompt)
