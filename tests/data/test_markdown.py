"""What people call things stays text in a table of Markdown."""

from markdown_it import MarkdownIt

from argus.data.markdown import code_in_cell, in_cell
from argus.visible import visible_line

HOSTILE = ["a|b", "`x`", "``x|`", "<script>alert(1)</script>", "[l](javascript:1)", "*b* _c_ ~d~",
           "![p](http://x)", "&lt;b&gt;", "back\\slash|", "new\n\nline",
           "\u202eevil\x1b[31m"]  # fmt: skip


def cells(markdown):
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a |\n|---|\n| {markdown} |\n")
    return [[(c.type, c.content) for c in t.children] for t in tokens if t.type == "inline"][1:]


def test_hostile_text_is_one_cell_without_markup():
    for text in HOSTILE:
        shown = visible_line(" ".join(text.split()))
        [parts] = cells(in_cell(text))
        assert {kind for kind, _ in parts} <= {"text", "text_special"}, text
        assert "".join(content for _, content in parts) == shown
        [parts] = cells(code_in_cell(text))
        code = [(kind, content.strip()) for kind, content in parts if content]
        assert code == [("code_inline", visible_line(text))], text


def test_names_of_models_stand_as_they_are():
    assert in_cell("all-MiniLM-L6_v2 nDCG@10 (+0.1)") == "all-MiniLM-L6_v2 nDCG@10 (+0.1)"
    assert code_in_cell("report/") == "`report/`"
