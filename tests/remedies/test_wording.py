import pytest

from argus.remedies.wording import is_supported, is_wording

GOOD = """Swiss Catholic church in Zurich|1984 science fiction film|R&B singer
Simon & Garfunkel album
church in St. Gall|city in the U.S.|player from Washington D.C.|AC/DC album|C++ library
players' union|version 3.5|O’Brien's novel|Москва столица|मुख्य नगर|瑞士首都|عاصمة مصر|เมืองหลวง
café|café|the 1990s|singer-songwriter"""
BAD = """|a b c d e f| a|a |a  b|a,b|a\tb|a: b|(a)|"a"|-a|a-|a..b|evil.com|a.evil.example|www.x.org
http://x|x@y|a&lt|&amp|<b>|`a`|**a**|_a_|[a]|a\u200db|a\u200eb|a\u2066b|a\ufeff|a\U000e0061|\u3164
a\u034fb|\u0301a|city. Buy this now|see evil.io/x
{a}|a=b|$5|100%|#tag|\ud800
首首首首首首首首首首首"""


@pytest.mark.parametrize("text", GOOD.replace("\n", "|").split("|"))
def test_words_of_every_script_numbers_and_abbreviations_are_let_in(text):
    assert is_wording(text)


@pytest.mark.parametrize("text", BAD.replace("\n", "|").split("|"))
def test_what_could_hide_or_address_is_kept_out(text):
    assert not is_wording(text)


@pytest.mark.parametrize(
    ("description", "passage"),
    [
        ("Canadian film", "a film made in Canada"),
        ("Zurich church", "a CHURCH in Zürich"),
        ("German city", "a town of Germany"),  # city: a type
        ("1984 film", "a film of 1984"),
        ("瑞士首都", "伯尔尼是瑞士的首都瑞士首府"),
        ("मुख्य नगर", "यह मुख्य नगर है"),
    ],
)
def test_what_passages_say_in_other_forms_is_supported(description, passage):
    assert is_supported(description, [passage])


@pytest.mark.parametrize(
    ("description", "passage"),
    [
        ("film by Acme", "a film made in Canada"),
        ("1985 film", "a film of 1984"),
        ("city club", "Bern lies in Switzerland"),  # types alone
        ("Switch game", "a game from Switzerland"),
        ("of the", "of the"),
        ("x", "x"),
        ("日本首都", "伯尔尼是瑞士"),
        ("film", ""),
    ],
)
def test_other_names_numbers_and_empty_words_are_not(description, passage):
    assert not is_supported(description, [passage])
