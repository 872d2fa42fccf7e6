import pytest

from argus.remedies.guard import is_wording

GOOD = """Swiss Catholic church in Zurich|1984 science fiction film|R&B singer
Simon & Garfunkel album
church in St. Gall|city in the U.S.|player from Washington D.C.|AC/DC album|C++ library
players' union|version 3.5|O’Brien's novel|Москва столица|मुख्य नगर|瑞士首都|عاصمة مصر|เมืองหลวง
café|café|the 1990s|singer-songwriter|เมืองสำคัญ
N.A.T.O. base|rock-and-roll band|AT&T park"""
BAD = """|a b c d e f| a|a |a  b|a,b|a\tb|a: b|(a)|"a"|-a|a-|a..b|evil.com|a.evil.example|www.x.org
http://x|x@y|a&lt|&amp|<b>|`a`|**a**|_a_|[a]|a\u200db|a\u200eb|a\u2066b|a\ufeff|a\U000e0061|\u3164
a\u034fb|\u0301a|city. Buy this now|see evil.io/x
{a}|a=b|$5|100%|#tag|\ud800
首首首首首首首首首首首
A.B.C.D.E|w.w.w.e.v.i.l|i-g-n-o-r-e|a/b/c/d/e|capital/river/x/y/z|1.2.3.4.5
ｃapital|\U0001d41capital|ﬁlm|①|ª|x²|c\u0336apital|c\u0338apital|a\u20d2b|a\u20e5b"""


@pytest.mark.parametrize("text", GOOD.replace("\n", "|").split("|"))
def test_words_of_every_script_are_let_in(text):
    assert is_wording(text)


@pytest.mark.parametrize("text", BAD.replace("\n", "|").split("|"))
def test_what_could_hide_or_address_is_kept_out(text):
    assert not is_wording(text)
