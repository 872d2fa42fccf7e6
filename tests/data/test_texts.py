"""Foreign text: what stands in a cell of Markdown, which texts hold a sentence, Python source."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from argus.data.texts import code_in_cell, holders, in_cell
from argus.visible import visible_line

HOSTILE = ["a|b", "`x`", "``x|`", "<script>alert(1)</script>", "[l](javascript:1)", "*b* _c_ ~d~",
           "![p](http://x)", "&lt;b&gt;", "back\\slash|", "new\n\nline",
           "\u202eevil\x1b[31m"]  # fmt: skip


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_text_holds_the_sentences_that_are_in_it(data):
    letters = data.draw(st.sampled_from(["ab", "ab \0", "é漢😀", "\ud800a"]))
    texts = data.draw(st.lists(st.text(letters, max_size=25), max_size=9))
    sentences = data.draw(st.lists(st.text(letters, max_size=5), max_size=12))
    plainly = [[i for i, text in enumerate(texts) if one in text] for one in sentences]
    assert holders(sentences, texts) == plainly


@pytest.mark.parametrize("text", [*HOSTILE, "all-MiniLM-L6_v2 nDCG@10 (+0.1)"])
def test_hostile_text_is_one_cell_without_markup(text):
    def cell(markdown):
        table = f"| a |\n|---|\n| {markdown} |\n"
        tokens = MarkdownIt("commonmark").enable("table").parse(table)
        [parts] = [t.children for t in tokens if t.type == "inline"][1:]
        return [(part.type, part.content) for part in parts]

    parts = cell(in_cell(text))
    assert {kind for kind, _ in parts} <= {"text", "text_special"}
    assert "".join(content for _, content in parts) == visible_line(" ".join(text.split()))
    code = [(kind, content.strip()) for kind, content in cell(code_in_cell(text)) if content]
    assert code == [("code_inline", visible_line(text))]
