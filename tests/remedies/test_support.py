import re
import unicodedata
from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argus.remedies.guard import GENERIC_WORDS, PLACES, SMALL_WORDS, is_supported, is_wording
from tests.support.draws import examples

CAPITAL = "Bern is the capital of Switzerland."


@pytest.mark.parametrize(
    ("description", "passage"),
    [
        ("Canadian film", "a film made in Canada"),
        ("Zurich church", "a CHURCH in Zürich"),
        ("German city", "a town of Germany"),  # city: a type
        ("瑞士首都", "伯尔尼是瑞士的首都瑞士首府"),
        ("คำถามสำคัญ", "นี่คือคำถามสำคัญ"),
        ("A級 singer", "A級 is a singer's grade"),
        ("U.S. senator", "a senator of the U.S."),
        ("AC/DC song", "a song by AC/DC"),
        ("Simon & Garfunkel album", "Simon and Garfunkel made the album"),
        ("O'Brien's novel", "a novel by O’Brien"),
        ("players' union", "a union of players"),
        ("singer-songwriter", "he wrote as a songwriter"),
        ("16-year-old king", "a king, 16, by the year 9 old"),
        ("version 3.5", "in version 3.5 of"),
        ("C++ library", "a library of C++"),
        ("café owner", "the owner of a cafe\u0301"),
    ],
)
def test_what_passages_say_in_other_forms_is_supported(description, passage):
    assert is_wording(description)
    assert is_supported(description, [passage])


@pytest.mark.parametrize(
    ("description", "passage"),
    [
        ("film by Acme", "a film made in Canada"),
        ("city club", "Bern lies in Switzerland"),  # types alone
        ("Switch game", "a game from Switzerland"),
        ("of the", "of the"),
        ("日本首都", "伯尔尼是瑞士"),
        ("3.5 film", "a film of 35"),
        ("C++ film", "a C film"),
        ("Queen film", "a film"),  # in capitals a name, not a type
        ("flower film", "a film of the flow"),
    ],
)
def test_other_names_numbers_and_empty_words_are_not(description, passage):
    assert not is_supported(description, [passage])


@pytest.mark.parametrize(
    "names",
    [
        ("Slovakia", "Slovenia"), ("Australia", "Austria"), ("Nigeria", "Niger"),
        ("Johnson", "Johnston"), ("Guinea", "Guyana"), ("Dominica", "Dominic"), ("Iran", "Iraq"),
        ("Mali", "Malawi"), ("Anders", "Anderson"), ("Peters", "Peterson"), ("Julia", "Julian"),
        ("Norma", "Norman"), ("Christ", "Christian"), ("Walker", "Walked"), ("Banks", "Bank"),
    ],
)  # fmt: skip
def test_a_name_does_not_support_another(names):
    for inside, other in permutations(names):
        assert not is_supported(f"capital of {other}", [f"{inside} has a capital."])
        for cut in range(2, len(inside)):
            if (begin := inside[:cut]) not in ("Slovak", "And", "An"):
                assert not is_supported(f"{begin} capital", [f"{inside} has a capital."])


@pytest.mark.parametrize(
    ("place", "demonym"),
    [
        ("Canada", "Canadian"), ("Austria", "Austrian"), ("China", "Chinese"), ("Spain", "Spanish"),
        ("Niger", "Nigerien"), ("Nigeria", "Nigerian"), ("Slovakia", "Slovak"),
        ("Slovenia", "Slovenian"), ("Vienna", "Viennese"), ("Iraq", "Iraqi"),
    ],
)  # fmt: skip
def test_a_place_supports_its_own_adjective_alone(place, demonym):
    assert is_supported(f"{demonym} capital", [f"{place} has a capital."])
    assert not is_supported(f"{demonym} capital", [f"a {place.lower()} has a capital"])
    others = [d for d, places in PLACES.items() if place.casefold() not in places]
    assert len(others) > 180
    for other in others:
        assert not is_supported(f"{other.title()} capital", [f"{place} has a capital."]), other


PASSAGES = [CAPITAL, "The Aare & the R&B of the U.S.; AC/DC co-founded X-ray (1984) in 3.5 years."]
SEPARATED = re.compile(r"[.\-/'’+&]")
LETTERS = st.sampled_from(["a", "B", "e", "X", "7", "Ü", "首"])
SAID = st.sampled_from([*"RUS35", "Bern", "capital", "co", "founded", "AC", "DC", "1984", "of"])
SAID |= st.sampled_from(["the", "ray", "singer", "Swiss"])
WORDS = st.lists(LETTERS | SAID, min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from(["", ".", "-", "/", "&", "+", "'"]).map(lambda s: s.join(parts))
)
DESCRIPTIONS = st.lists(WORDS | SAID | st.just("&"), min_size=1, max_size=5).map(" ".join)


@settings(max_examples=examples(500))
@given(DESCRIPTIONS)
@example("K.I.L.L capital")
@example("capital/river/x/y/z")
@example("B. u. y. it capital")
@example("capital b'u'y")
@example("capital & capital")
@example("U.S. capital")
def test_every_accepted_word_is_said_generic_or_small(description):
    """By arithmetic of its own: separators taken out, or taken as spaces."""
    if not (is_wording(description) and is_supported(description, PASSAGES)):
        return

    def plain(text):
        text = unicodedata.normalize("NFKD", text).casefold()
        return "".join(c for c in text if not unicodedata.combining(c))

    text = plain(" ".join(PASSAGES))
    allowed = GENERIC_WORDS | SMALL_WORDS | {"swiss", ""}  # the adjective of Switzerland
    whole = allowed | set(re.findall(r"\w+", SEPARATED.sub("", text)))
    parts = allowed | {word for word in re.findall(r"[^\W_]+", text) if len(word) > 1}
    for word in plain(description).split():
        word = re.sub("'s?$", "", word)
        assert SEPARATED.sub("", word) in whole or set(SEPARATED.split(word)) <= parts, word
