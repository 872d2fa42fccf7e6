import re
import sys
import unicodedata
from importlib import resources

from argus.visible import _STEERING, BREAKS, visible, visible_json, visible_line

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))


def test_every_control_and_every_turn_is_an_escape():
    left = visible(EVERY)
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for c in set(left):
        assert unicodedata.category(c) not in ("Cc", "Cs") or c in BREAKS
        assert unicodedata.bidirectional(c) not in turns


def test_honest_text_stays():
    for text in ("a\tb\r\nc", "سلام، دنیا‌ی 12", "👩\u200d🚀 é ﬁ", "שלום (a)\u200f 1"):
        assert visible(text) == text


def test_a_line_stays_one_and_texts_within_json_are_reached():
    line = visible_line("a\nb\rc\td\u2028e\u2029f\x85g")
    assert line == r"a\u000ab\u000dc\u0009d\u2028e\u2029f\u0085g"
    value = {"a": ["\u202e", (1, None, "\x1b")]}
    assert visible_json(value) == {"a": [r"\u202e", [1, None, r"\u001b"]]}


def test_scripts_of_pages_have_the_same_escapes():
    folder = resources.files("argus.service.page") / "static"
    page = (folder / "page.js").read_text(encoding="utf-8")
    assert f"/{_STEERING.pattern}/gu" in page
    for name in ("jobs.js", "judge.js"):
        script = (folder / name).read_text(encoding="utf-8")
        foreign = r"(?:[a-z]+[.]textContent = |say[(])(?:error[.]message|job[.]command|text)\b"
        assert "visible(" in script and not re.search(foreign, script)
