"""Read short descriptions of entities from a knowledge base, and check them.

`describe` shortens the knowledge base's own description if it has one (Wikidata's, say), or else
the noun phrase behind "X is a" in the first sentence of the passage.

A description that is inserted into a document (ARGUS D.3, D.4) must pass three checks. `is_wording`
refuses everything that could hide, address or instruct: control, zero-width and bidirectional
characters, variation selectors, disguised or struck-through letters, mark-up, addresses, sentences.
Letters, numbers and combining marks of every script pass. `is_supported` asks the passages for
every word, as a whole word, so that nothing can be spelled out letter by letter. `find_misphrasing`
asks whether the words may stand in this order, so that "of of of of Jamaican" does not pass.

The phrasing check tells kinds of words apart by short lists and endings of English. Words of other
scripts, and those that no list or ending knows, may stand anywhere. So it does not see a wrong
order of nouns that the passages lack ("genre music"), nor a well-formed phrase that is untrue.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby, pairwise
from pathlib import Path

from argus.data.texts import stream_safe
from argus.data.types import Document, Span
from argus.knowledge.names import without_parenthesis

_LISTS = Path(__file__).with_name("words.txt").read_text("utf-8").replace("\n    ", " ")
WORDS = {
    name: frozenset(words.split())
    for name, colon, words in (line.partition(": ") for line in _LISTS.splitlines())
    if colon and name[0] != "#"
}
"""Lists of words by name: words.txt says what each is for."""

# ---- form ----------------------------------------------------------------------------------------

MAX_WORDS = 5
MAX_WORD_LENGTH = 32
MAX_CHARS = MAX_WORDS * (MAX_WORD_LENGTH + 1)
MAX_PARTS = 4  # of one word, as in "rock-and-roll", and initials of one, as in "N.A.T.O."

_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Khmer, Burmese: no spaces
_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters that show nothing
_LAST_MARK = 0x1F000  # beyond lie only variation selectors
_HIDDEN_MARKS = ((0x034F, 0x034F), (0x17B4, 0x17B5), (0x180B, 0x180F), (0xFE00, 0xFE0F))
_OVERLAY = 1  # canonical combining class of marks that strike a letter through
_WHOLE_VOWELS = re.compile("[\u0e33\u0eb3]")  # of Thai and Lao, which NFKC takes apart
_PER_WORD = ((re.compile(f"[{_HAN}]"), 2), (re.compile(f"[{_SOUTHEAST}]"), 4))


def is_wording(description: str) -> bool:
    """Return whether a text has the form of a description.

    At most five words with single spaces between, each of at most 32 characters. In scripts without
    spaces, 2 characters of Chinese or Japanese and 4 of Thai, Lao, Khmer or Burmese count as a
    word. Words have letters, digits, their marks, and at most three of `'’/+-`, decimal points and
    "&" as in "R&B". "&" may stand alone. Other full stops stand only in abbreviations and up to
    four initials ("St. Gall", "D.C."), which keeps out addresses and sentences. No letter is a
    variant of another (full-width, mathematical), and no mark strikes one through.
    """
    if len(description) > MAX_CHARS or not _form().fullmatch(description):
        return False
    plain = _WHOLE_VOWELS.sub("", description)
    if unicodedata.normalize("NFKC", plain) != unicodedata.normalize("NFC", plain):
        return False
    words = description.split(" ")
    if max(map(len, words)) > MAX_WORD_LENGTH:
        return False
    counts = (
        max(1, sum(-(-len(script.findall(word)) // size) for script, size in _PER_WORD))
        for word in words
    )
    return sum(counts) <= MAX_WORDS


@cache
def _form() -> re.Pattern[str]:
    """Return the grammar of descriptions without their lengths."""
    letter = rf"[^\W_{_FILLERS}]"
    character = rf"{letter}[{_marks()}]{{0,3}}"
    part = rf"(?:{character})+"
    joint = rf"(?:['’/+-]|&(?={character}(?!{letter}))|(?<=\d)\.(?=\d))"
    initials = rf"(?:{character}\.){{1,{MAX_PARTS - 1}}}{character}\.?"
    compound = rf"{part}(?:{joint}{part}){{0,{MAX_PARTS - 1}}}(?:['’]|\+{{1,2}})?"
    word = rf"(?:{initials}|{compound}|&)"
    abbreviation = rf"(?:{character}){{1,3}}\."
    return re.compile(rf"(?:(?:{abbreviation}|{word}) ){{0,{MAX_WORDS - 1}}}{word}")


@cache
def _marks() -> str:
    """Return the visible combining marks that leave a letter legible, for a character class."""
    codes = [
        code
        for code in range(0x300, _LAST_MARK)
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
        and unicodedata.combining(chr(code)) != _OVERLAY
        and not any(first <= code <= last for first, last in _HIDDEN_MARKS)
    ]
    runs = [[*run] for _, run in groupby(enumerate(codes), lambda item: item[1] - item[0])]
    return "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)


# ---- support -------------------------------------------------------------------------------------

_RUNS = re.compile(f"[{_HAN}{_SOUTHEAST}]+|[^{_HAN}{_SOUTHEAST}]+")
_SPACELESS = re.compile(f"[{_HAN}{_SOUTHEAST}]")
_JOINTS = re.compile(r"[.'’/&-]|\+(?!\+|\Z)")
_INITIALS = re.compile(r"(?:\w\.)+\w?")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_INFLECTED = re.compile(r"(.{4,})(?:ed|ing)\Z")
_AGENT = re.compile(r"(.{5,})(?:er|or)\Z")
_PLURAL_ES = re.compile(r"(.{2,}(?:s|x|z|ch|sh))es\Z")
_PLURAL_S = re.compile(r"(.{2,}[^isu])s\Z")
SMALL_WORDS = WORDS["small"]
GENERIC_WORDS = WORDS["generic"]
"""Types and roles that passages state in other words: at most half of a description."""


@cache
def _places() -> dict[str, frozenset[str]]:
    """Return demonym to its places, both case-folded, compound names by their last word.

    demonyms.txt lists them: by endings alone "Niger" would give "Nigerian".
    """
    places: dict[str, set[str]] = {}
    for pair in Path(__file__).with_name("demonyms.txt").read_text("utf-8").casefold().split():
        place, demonym = pair.split(":")
        places.setdefault(demonym, set()).add(place)
    return {demonym: frozenset(of) for demonym, of in places.items()}


def is_supported(description: str, passages: Iterable[str]) -> bool:
    """Return whether passages contain every word of a description.

    * A name, a word with capitals, occurs in any case and with or without its accents, or is the
      adjective of a place that does ("Canadian" for "Canada").
    * A word in lower case may also occur as another number or verb form ("films" for "film",
      "founder" for "founded").
    * Initials and compounds occur with the same parts ("U.S.", "R&B"), initials also as capitals
      ("US"). A compound whose parts have several letters each is also supported when each part is
      ("singer-songwriter"), or when it occurs as one word.
    * A single letter occurs as a word of its own. It says nothing without other words.
    * "&" stands between two words that occur.
    * In scripts without spaces every pair of neighbouring characters occurs.

    Two kinds of words need no support: small ones ("of"), which say nothing alone, and in lower
    case the plain name of a type or role ("singer"), for at most half of the other words.
    """
    facts = _read_facts(tuple(passages))
    words = description.split(" ")
    content = generic = 0
    occurs = [False] * len(words)
    for i, word in enumerate(words):
        small_title = i == 0 and word.istitle() and word.lower() in SMALL_WORDS  # "WHO" is a name
        if word == "&" or word in SMALL_WORDS or small_title:
            continue
        support = _count_support(word, facts)
        if support is None:
            return False
        content, generic, occurs[i] = content + support[0], generic + support[1], support[1] == 0
    return 0 < content >= generic and all(
        0 < i < len(words) - 1 and occurs[i - 1] and occurs[i + 1]
        for i, word in enumerate(words)
        if word == "&"
    )


@dataclass(frozen=True)
class _Facts:
    """Words of passages, case-folded, with and without accents."""

    words: set[str] = field(default_factory=set)  # also parts, joined compounds, character pairs
    names: set[str] = field(default_factory=set)  # those of them that have capitals
    capitals: set[str] = field(default_factory=set)  # words in capitals throughout
    forms: set[tuple[str, ...]] = field(default_factory=set)  # the parts of each compound
    stems: set[str] = field(default_factory=set)  # keys of lower-case words, see `_stems`

    def add(self, token: str) -> None:
        """Add a word or compound of a passage."""
        parts = _parts(token)
        if len(parts) > 1:
            self.forms.add(tuple(map(_fold, parts)))
            if set(_JOINTS.findall(token)) == {"-"} and not token.replace("-", "").isdigit():
                self.words.add(_fold("".join(parts)))
        elif token.isupper():
            self.capitals.add(_fold(token))
        for part in parts:
            if len(parts) > 1 and _letters(part) < 2:
                continue
            for unit in _units(part):
                self.words.add(_fold(unit))
                if unit == _fold(unit):
                    self.stems.update(_stems(unit))
                else:
                    self.names.add(_fold(unit))

    def contain(self, unit: str) -> bool:
        """Return whether a word occurs, in another form if it may."""
        word = _fold(unit)
        if word in self.words and (unit == word or word not in SMALL_WORDS or word in self.names):
            return True
        if unit == word:
            return not self.stems.isdisjoint(_stems(unit))
        if unit.isupper() and tuple(word) in self.forms:
            return True
        return not _places().get(word, frozenset()).isdisjoint(self.names)


@lru_cache(maxsize=64)
def _read_facts(passages: tuple[str, ...]) -> _Facts:
    """Read passages. Several descriptions are often compared with the same."""
    facts = _Facts()
    for passage in passages:
        apart = unicodedata.normalize("NFKD", stream_safe(passage))
        plain = _compose("".join(c for c in apart if not unicodedata.combining(c)))
        for text in dict.fromkeys((_compose(stream_safe(passage)), plain)):
            for token in _tokens().findall(text):
                facts.add(_POSSESSIVE.sub("", token))
    return facts


def _count_support(word: str, facts: _Facts) -> tuple[int, int] | None:
    """Return the counts of content words and of generic words, or None without support."""
    parts = _parts(_POSSESSIVE.sub("", _compose(stream_safe(word))))
    if len(parts) > 1:
        form = tuple(map(_fold, parts))
        joined = "".join(form)
        if form in facts.forms or (_INITIALS.fullmatch(word) and joined in facts.capitals):
            return 1, 0
        if "." in word or min(map(_letters, parts)) < 2:
            return None
        if joined in facts.words:
            return 1, 0
    content = generic = 0
    for unit in (unit for part in parts for unit in _units(part)):
        if facts.contain(unit):
            content += _letters(unit) > 1 or unit.isdigit() or bool(_SPACELESS.match(unit))
        elif unit in GENERIC_WORDS:
            generic += 1
        elif len(parts) == 1 or unit not in SMALL_WORDS:
            return None
    return content, generic


@cache
def _tokens() -> re.Pattern[str]:
    """Return the pattern of words and compounds in a passage."""
    part = rf"(?:[^\W_][{_marks()}]*)+"
    return re.compile(rf"{part}(?:[.'’/+&-]{part})*\+{{0,2}}")


def _parts(word: str) -> list[str]:
    """Return the parts of a compound. A plain word, an abbreviation and "C++" have one."""
    return [part for part in _JOINTS.split(word) if part]


def _units(part: str) -> Iterator[str]:
    """Yield the units that must occur: words, or pairs of characters in scripts without spaces."""
    for run in _RUNS.findall(part):
        if _SPACELESS.match(run):
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        else:
            yield run


def _letters(part: str) -> int:
    """Return the number of letters and digits. A letter and its marks are one."""
    return sum(map(str.isalnum, part))


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _fold(text: str) -> str:
    return _compose(stream_safe(text.casefold()))


def _stems(word: str) -> set[str]:
    """Return keys that two forms of one lower-case word share, and other words do not.

    Singular and plural share one, inflections ("directed", "directing") one with each other, with
    the verb ("direct", "produce") and with the agent ("director"). "flow" has none with "flower".
    """
    if not (word.isascii() and word.isalpha()):
        return set()
    if len(word) > 4 and word.endswith("ies"):
        one = f"{word[:-3]}y"
    elif match := _PLURAL_ES.match(word) or _PLURAL_S.match(word):
        one = match[1]
    else:
        one = word
    keys = {one}
    if len(one) > 3:
        keys.add(f"{one.removesuffix('e')}-")
    if match := _INFLECTED.match(one):
        keys |= {f"{match[1]}-", f"{match[1]}-er"}
    elif match := _AGENT.match(one):
        keys.add(f"{match[1]}-er")
    return keys


# ---- phrasing ------------------------------------------------------------------------------------

_KINDS = {name[5:]: words for name, words in WORDS.items() if name.startswith("kind ")}
_ROLE = re.compile(r"[a-z]{3,}(?:er|or|ist|ian|ress|man|men|woman|women)s?")
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:ous|itical|orical|ological|edical|ional|less|ful)")
_NEVER = {name[6:]: kinds for name, kinds in WORDS.items() if name.startswith("never ")}
"""Kinds that never stand behind a kind, or behind two of them. `KIND-end`: not at the end."""
_CERTAIN = frozenset({"demonym", "role", "adjective"})  # kinds of words that are surely English
_LONG = 5  # characters from which a repeated word is surely no small one
_STRETCH = re.compile(r"[,;:()!?\[\]\n\"“”]|(?<=\w\w\w)\.(?=\s)")
_ENDING = re.compile(r"(?:['’]s?|\.)\Z")  # possessive, or full stop of an abbreviation
_Pairs = frozenset[tuple[str, str]]  # words, case-folded, that stand side by side


def find_misphrasing(description: str, passages: Iterable[str]) -> str:
    """Return the reason why a description does not read as language, or "".

    Two words that the passages have side by side always pass. Words that they have only the other
    way round do not.
    """
    words = description.split(" ")
    folded = [_ENDING.sub("", word.casefold()) for word in words]
    beside = _read_pairs(tuple(passages))
    faults = (
        *_find_repeated(words, folded, beside),
        *_find_misplaced(words, folded, beside),
        *_find_turned(folded, beside),
    )
    return next(iter(faults), "")


def _find_repeated(words: Sequence[str], folded: Sequence[str], beside: _Pairs) -> Iterator[str]:
    """Yield a word that stands twice with nothing small between, or three times.

    Short ones may stand twice: in other languages they are small words. "In re" is not "in re".
    """
    pairs = zip(words, folded, strict=True)
    same = [word if plain in SMALL_WORDS else plain for word, plain in pairs]
    for i, word in enumerate(same):
        for before in (j for j in range(i) if same[j] == word and (word, word) not in beside):
            between = same[before + 1 : i]
            apart = len(word) < _LONG or not SMALL_WORDS.isdisjoint(between)
            if not (between and apart) or same.count(word) > 2:
                yield f"{word!r} is repeated"


def _find_misplaced(words: Sequence[str], folded: Sequence[str], beside: _Pairs) -> Iterator[str]:
    """Yield words that stand where their kinds never do."""
    kinds = ["start", *(_kind(word, first=not i) for i, word in enumerate(words)), "end"]
    before = ""
    for i, (one, other) in enumerate(pairwise(kinds)):
        first, second = folded[i - 1 : i], folded[i : i + 1]
        if first and second and (*first, *second) in beside:
            before = ""
            continue
        never = _NEVER.get(one, frozenset()) | _NEVER.get(f"{before} {one}", frozenset())
        at_end = i == len(words) - 1 and f"{other}-end" in never
        article = one == "a" and other in _CERTAIN and _is_wrong_article(*words[i - 1 : i + 1])
        if other in never or at_end or article:
            after = f" after {first[0]!r}" if first else ""
            begin = "" if first else "it begins with "
            yield f"{begin}{second[0]!r}{after}" if second else f"it ends with {first[0]!r}"
        before = one


def _find_turned(words: Sequence[str], beside: _Pairs) -> Iterator[str]:
    """Yield words that the passages have side by side, but only the other way round."""
    for one, other in pairwise(words):
        content = one != other and SMALL_WORDS.isdisjoint((one, other))
        if content and (other, one) in beside and (one, other) not in beside:
            yield f"{one!r} and {other!r} in the wrong order"
    for one, small, other in zip(words, words[1:], words[2:], strict=False):
        turned = small in _KINDS["of"] and {(other, small), (small, one)} <= beside
        if turned and beside.isdisjoint({(one, small), (small, other)}):
            yield f"{one!r} and {other!r} in the wrong order"


def _kind(word: str, *, first: bool) -> str:
    """Return a word's kind: a key of `_KINDS`, number, demonym, name, role, adjective or word.

    "other" is an unknown word. first: at the beginning a small word may have a capital.
    """
    folded = word.casefold()
    small = word if not first or len(word) == 1 or not word.istitle() else folded
    for kind, words in _KINDS.items():
        if small in words:
            return kind
    if not word.isascii():
        return "other"
    if word[:1].isdigit():
        return "number"
    if word[:1].isupper():
        return "demonym" if folded.rpartition("-")[2] in _places() else "name"
    if folded in WORDS["not a role"]:
        return "word"
    if folded.removesuffix("s") in GENERIC_WORDS or _ROLE.fullmatch(folded):
        return "role"
    return "adjective" if _ADJECTIVE.fullmatch(folded) else "word"


def _is_wrong_article(article: str, word: str) -> bool:
    """Return whether "a" stands for "an", or the reverse, as far as letters show."""
    first = word[:1].casefold()
    if word[:2].isupper() or not "a" <= first <= "z":
        return False
    if article.casefold() == "an":
        return first not in "aeiouh"
    return first in "ai" or (first == "e" and not word.casefold().startswith(("eu", "ew")))


@lru_cache(maxsize=64)
def _read_pairs(passages: tuple[str, ...]) -> _Pairs:
    """Return the words that stand side by side in passages, which several descriptions share."""
    return frozenset(
        pair
        for passage in passages
        for run in _STRETCH.split(passage)
        for pair in pairwise(_ENDING.sub("", word) for word in run.casefold().split())
    )


# ---- reading -------------------------------------------------------------------------------------

FIELDS = ("description", "short_description", "wikidata_description")  # the first filled one counts
MAX_READ_CHARS = 600  # of a passage. A longer first sentence is not a clean one
MAX_SUBJECT_WORDS = 12

_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
_COPULA = re.compile(r"\b(?:is|was|are|were) (?:(?:a|an|the) )")
_ARTICLE = re.compile(r"\A(?:a|an|the) ", re.IGNORECASE)
_STOP = re.compile(r"[,;()\[\]\"“”]|:(?=\s)|(?<=\w\w\w)\.(?=\s)|\.\Z|\s[–—-]+\s")
_BREAKS = WORDS["break"]
_AGENT_NOUN = re.compile("(?:[eo]r|ist|i?an|ress)\\Z")
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


def repeats(description: str, entity: str) -> bool:
    """Return whether a description has only words of the name that it stands behind."""
    return set(description.casefold().split()) <= set(entity.casefold().split())


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
        and (word == "of" or _AGENT_NOUN.search(words[i - 1]))  # else "arts and sciences"
        and not _says_nothing(words[i - 1])
    ]
    return max(strong, default=max(weak, default=0))


def _says_nothing(word: str) -> bool:
    return word.casefold() in WORDS["empty head"] | _HANGING
