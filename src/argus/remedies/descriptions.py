"""Short descriptions of entities, read from the reference knowledge base without a language model.

The knowledge base's own short description where it has one (Wikidata's, say); else what the first
sentence of the passage says that the entity is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from argus.data.types import Document, Span
from argus.knowledge.names import without_parenthesis
from argus.remedies.guard import repeats
from argus.remedies.lookup import Passage
from argus.remedies.phrasing import misphrased
from argus.remedies.wording import MAX_WORDS, is_wording, word_set

FIELDS = ("description", "short_description", "wikidata_description")
"""Metadata that may hold a short description, the first that is not empty counts."""

READ_CHARS = 600
"""How much of a passage is read; a first sentence that is longer is not a clean one."""
SUBJECT_WORDS = 12

_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
_COPULA = re.compile(r"\b(?:is|was|are|were) (?:(?:a|an|the) )")
_ARTICLE = re.compile(r"\A(?:a|an|the) ", re.IGNORECASE)
_STOP = re.compile(r"[,;()\[\]\"“”]|:(?=\s)|(?<=\w\w\w)\.(?=\s)|\.\Z|\s[–—-]+\s")
_BREAKS = word_set(
    """
    that which who whom whose where when while because although as about above across after
    against along among around at before behind below beneath beside between beyond by during
    except for from in including inside into like near off on onto outside over since through
    throughout to toward towards under until upon with within without adapted based born
    broadcast built called co-written composed created designed developed directed edited
    established featuring formed found founded hosted known led living located made named
    native owned performed played produced published recorded released serving set situated
    starring given used using working written
    """
)
"""Words at which a longer noun phrase may be cut: prepositions, conjunctions, participles."""
_AGENT = re.compile("(?:[eo]r|ist|i?an|ress)\\Z")
_CLAUSES = frozenset({"that", "which", "who", "whom", "whose", "where", "when", "both"})
"""Words at which it is always cut."""
_PARTICIPLE = re.compile(
    r"(?!(?:breed|seed|weed|bed|watershed)\Z)[a-z]+ed|"
    "(?:belong|border|compris|consist|contain|involv|overlook|relat|runn|specializ|stretch)ing"
)
_WEAK_BREAKS = frozenset({"and", "or", "of"})
"""Words at which it is cut where nothing better is within reach; "of" often belongs to a name."""
_ARTICLES = frozenset({"a", "an", "the"})
_MODIFIERS = word_set(
    """
    blues comedy country film folk funk jazz pop radio rock soul stage television theater
    theatre voice
    """
)
_EMPTY_HEADS = word_set(
    """
    best first form group kind largest last list main member most name number oldest one only
    other part same second set sort surname term third title type
    """
)
"""What says nothing when it stands last."""
_NAMES = frozenset({"list", "name", "names", "one", "surname", "term", "word"})
"""What tells of the name, not of what bears it, when it stands first."""


def best_passage(passages: Sequence[Passage]) -> Passage | None:
    """Return the passage that bears the entity's name, else the first found; None without any."""
    return next((p for p in passages if p.linked), next(iter(passages), None))


def describe(passage: Document, entity: str) -> str | None:
    """Return a description of at most five words, None where none can be had cleanly.

    entity: the surface form, which the description must not merely repeat.
    """
    own = own_description(passage)
    phrase = shortened(own) if own else from_first_sentence(passage)
    if phrase is None or not is_wording(phrase):
        return None
    if misphrased(phrase, [passage.text[:READ_CHARS], own]):
        return None
    return None if repeats(phrase, entity) else phrase


def own_description(passage: Document) -> str:
    """Return the knowledge base's short description as it stands, "" where there is none."""
    texts = (passage.metadata.get(field) for field in FIELDS)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def stands_alone(document: str, mention: Span) -> bool:
    """Return whether a mention is no part of a longer name or date, as far as one can see.

    It is where a capital letter or digit follows after a space ("Los Angeles Times", "July 4"), or
    a digit goes before ("4 July").
    """
    after = document[mention.end : mention.end + 2]
    longer = after[:1] == " " and (after[1:].isupper() or after[1:].isdigit())
    return not longer and not document[max(0, mention.start - 2) : mention.start].strip().isdigit()


def from_first_sentence(passage: Document) -> str | None:
    """Return `<noun phrase>` of "X is/was/are/were a/an/the <noun phrase>", shortened.

    X, less what stands in parentheses, has at most twelve words, begins as the title does or has
    its last word, where there is one, and holds no end of a sentence; else the sentence may be
    about something else.
    """
    text = passage.text[:READ_CHARS]
    for _ in range(3):  # parentheses in parentheses
        text = _PARENTHESIS.sub("", text)
    text = " ".join(text.split())
    copula = _COPULA.search(text)
    if copula is None:
        return None
    subject = _ARTICLE.sub("", text[: copula.start()]).split()
    title = _ARTICLE.sub("", without_parenthesis(passage.title)).split()
    if not 0 < len(subject) <= SUBJECT_WORDS or (title and not _names(subject, title)):
        return None
    if any(word.endswith((".", "!", "?")) and len(word) > 4 for word in subject):
        return None
    return shortened(text[copula.end() :])


def shortened(phrase: str) -> str | None:
    """Return the beginning of a noun phrase, at most five words; None where it has no clean cut.

    Without an article, up to a comma, bracket, dash, relative pronoun or the end of the sentence; a
    longer one up to the last preposition or participle that leaves at most five words, else up to
    such an "of", "and" or "or" that leaves at least two.
    """
    phrase = _ARTICLE.sub("", " ".join(phrase.split()))
    stop = _STOP.search(phrase)
    words = (phrase[: stop.start()] if stop else phrase).split()
    if stop and words and {words[-1], *phrase[stop.end() :].split()[:1]} <= _MODIFIERS:
        return None  # "American stage, film and television actress"
    clause = next((i for i, w in enumerate(words) if i and w.casefold() in _CLAUSES), len(words))
    words = words[:clause]
    if len(words) > MAX_WORDS:
        words = words[: _cut(words)]
        while len(words) > 1 and (_hangs(words[-1]) or _PARTICIPLE.fullmatch(words[-1])):
            words.pop()
    if not words or _says_nothing(words[-1]) or words[0].casefold() in _NAMES:
        return None
    phrase = " ".join(words)
    return phrase if len(phrase) > 1 and words[-1][-1].isalnum() else None


def _cut(words: Sequence[str]) -> int:
    """Return how many words of a phrase of more than five to keep, 0 for none."""
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
    return word.casefold() in _EMPTY_HEADS or _hangs(word)


def _hangs(word: str) -> bool:
    return word.casefold() in _BREAKS | _WEAK_BREAKS | _ARTICLES


def _names(subject: Sequence[str], title: Sequence[str]) -> bool:
    """Whether a subject begins as the title does, or has its last word: "Yiannis C., or Yanni"."""
    plain = [word.strip("\"'“”,").casefold() for word in subject]
    return plain[0] == title[0].strip("\"'“”,").casefold() or title[-1].casefold() in plain
