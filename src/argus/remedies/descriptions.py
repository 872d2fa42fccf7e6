"""Read short descriptions of entities from a knowledge base, without a language model.

`describe` shortens the knowledge base's own description if it has one (Wikidata's, say), or else
the noun phrase behind "X is a" in the first sentence of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from argus.data.types import Document, Span
from argus.knowledge.names import without_parenthesis
from argus.remedies.description_checks import (
    MAX_WORDS,
    WORDS,
    find_misphrasing,
    is_wording,
)  # fmt: skip
from argus.remedies.guard import repeats

FIELDS = ("description", "short_description", "wikidata_description")  # the first filled one counts
MAX_READ_CHARS = 600  # of a passage. A longer first sentence is not a clean one
MAX_SUBJECT_WORDS = 12

_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
_COPULA = re.compile(r"\b(?:is|was|are|were) (?:(?:a|an|the) )")
_ARTICLE = re.compile(r"\A(?:a|an|the) ", re.IGNORECASE)
_STOP = re.compile(r"[,;()\[\]\"“”]|:(?=\s)|(?<=\w\w\w)\.(?=\s)|\.\Z|\s[–—-]+\s")
_BREAKS = WORDS["break"]
_AGENT = re.compile("(?:[eo]r|ist|i?an|ress)\\Z")
_CLAUSES = WORDS["clause"]  # it is always cut here
_PARTICIPLE = re.compile(
    r"(?!(?:breed|seed|weed|bed|watershed)\Z)[a-z]+ed|"
    "(?:belong|border|compris|consist|contain|involv|overlook|relat|runn|specializ|stretch)ing"
)
_WEAK_BREAKS = {"and", "or", "of"}  # cut here if nothing better is near: "of" may be of a name
_HANGING = _BREAKS | _WEAK_BREAKS | {"a", "an", "the"}  # leave a phrase incomplete at its end
_NAMES = WORDS["name"]  # first words about the name itself


def describe(passage: Document, entity: str) -> str | None:
    """Return a description of at most five words, or None without a clean one.

    entity: the surface form, which the description must not merely repeat.
    """
    own = own_description(passage)
    phrase = shorten(own) if own else describe_by_first_sentence(passage)
    if phrase is None or not is_wording(phrase):
        return None
    if find_misphrasing(phrase, [passage.text[:MAX_READ_CHARS], own]):
        return None
    return None if repeats(phrase, entity) else phrase


def own_description(passage: Document) -> str:
    """Return the knowledge base's own short description, or ""."""
    texts = (passage.metadata.get(field) for field in FIELDS)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def stands_alone(document: str, mention: Span) -> bool:
    """Return whether a mention is no part of a longer name or date.

    It is if a capital letter or digit follows after a space ("Los Angeles Times", "July 4"), or a
    digit goes before ("4 July").
    """
    after = document[mention.end : mention.end + 2]
    longer = after[:1] == " " and (after[1:].isupper() or after[1:].isdigit())
    return not longer and not document[max(0, mention.start - 2) : mention.start].strip().isdigit()


def describe_by_first_sentence(passage: Document) -> str | None:
    """Return `<noun phrase>` of "X is/was/are/were a/an/the <noun phrase>", shortened.

    X without parentheses has at most twelve words, begins like the title or has its last word, if
    there is a title, and contains no end of a sentence. Otherwise the sentence may be about
    something else.
    """
    text = passage.text[:MAX_READ_CHARS]
    for _ in range(3):  # parentheses in parentheses
        text = _PARENTHESIS.sub("", text)
    text = " ".join(text.split())
    copula = _COPULA.search(text)
    if copula is None:
        return None
    subject = _ARTICLE.sub("", text[: copula.start()]).split()
    title = _ARTICLE.sub("", without_parenthesis(passage.title)).split()
    if not 0 < len(subject) <= MAX_SUBJECT_WORDS:
        return None
    if title:  # "Yiannis C., or Yanni" begins like "Yiannis Chryssomallis"
        plain = [word.strip("\"'“”,").casefold() for word in subject]
        if plain[0] != title[0].strip("\"'“”,").casefold() and title[-1].casefold() not in plain:
            return None
    if any(word.endswith((".", "!", "?")) and len(word) > 4 for word in subject):
        return None
    return shorten(text[copula.end() :])


def shorten(phrase: str) -> str | None:
    """Return the beginning of a noun phrase, at most five words, or None without a clean cut.

    It has no article and ends at a comma, bracket, dash, relative pronoun or the end of the
    sentence. A longer one ends at the last preposition or participle that leaves at most five
    words, or else at such an "of", "and" or "or" that leaves at least two.
    """
    phrase = _ARTICLE.sub("", " ".join(phrase.split()))
    stop = _STOP.search(phrase)
    words = (phrase[: stop.start()] if stop else phrase).split()
    if stop and words and {words[-1], *phrase[stop.end() :].split()[:1]} <= WORDS["modifier"]:
        return None  # "American stage, film and television actress"
    clause = next((i for i, w in enumerate(words) if i and w.casefold() in _CLAUSES), len(words))
    words = words[:clause]
    if len(words) > MAX_WORDS:
        words = words[: _cut(words)]
        while len(words) > 1 and (
            words[-1].casefold() in _HANGING or _PARTICIPLE.fullmatch(words[-1])
        ):
            words.pop()
    if not words or _says_nothing(words[-1]) or words[0].casefold() in _NAMES:
        return None
    phrase = " ".join(words)
    return phrase if len(phrase) > 1 and words[-1][-1].isalnum() else None


def _cut(words: Sequence[str]) -> int:
    """Return the number of words to keep of a phrase of more than five, 0 for none."""
    near = list(enumerate(word.casefold() for word in words[: MAX_WORDS + 1]))
    strong = [i for i, word in near if i and word in _BREAKS and not _says_nothing(words[i - 1])]
    weak = [
        i
        for i, word in near
        if i > 1
        and word in _WEAK_BREAKS
        and words[i - 1].islower()  # else "of" may go on with a name: "Republic of China"
        and (word == "of" or _AGENT.search(words[i - 1]))  # else perhaps "arts and sciences school"
        and not _says_nothing(words[i - 1])
    ]
    return max(strong, default=max(weak, default=0))


def _says_nothing(word: str) -> bool:
    return word.casefold() in WORDS["empty head"] | _HANGING
