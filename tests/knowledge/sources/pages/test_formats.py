import time

import pytest

from argus.knowledge.pages import parse_html, parse_markdown, split_front_matter


@pytest.mark.parametrize(
    ("body", "paragraph"),
    [
        ("<p>One &amp; <b>t</b>wo</p><p>Three</p>", "One & two"),
        ("<p> <img> </p><p>2024</p><p><a>Only a link</a></p><p>Prose.</p>", "Prose."),
        ("<p>See <a>a link</a> here.</p>", "See a link here."),
        ("<ul><li><p>Item.</p></ul><blockquote><p>Quoted.</p></blockquote><p>Prose.</p>", "Prose."),
        ("<pre>code</pre><figure><p>A caption.</p></figure><p>Prose.</p>", "Prose."),
        ("<div hidden><p>No.</p></div><div class='toc'><p>No.</p></div><p>Prose.</p>", "Prose."),
        ("<div role='navigation'><p>Menu.</p></div><p>Prose <!-- no -->here.</p>", "Prose here."),
        ("<p>Open <p>Next", "Open"),
        ("<p>soft\u00adhyphen\u200b</p>", "softhyphen"),
        ("<p>日本語の文です。</p>", "日本語の文です。"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_first_paragraph_of_html(body, paragraph):
    assert parse_html(f"<body>{body}").paragraph == paragraph


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("# H\n\nSome *text*\nin `two` lines.\n\nNext.", "Some text in two lines."),
        ("[a](a.md) | [b](b.md)\n\nProse.", "Prose."),
        ("![img](x.png)\n\n[![badge](b.svg)](https://x)\n\nProse ![y](y.png) here.", "Prose here."),
        ("| a | b |\n|---|---|\n| c | d |\n\nProse.", "Prose."),
        ("    indented code\n\n```\nfenced\n```\n\nProse.", "Prose."),
        ("- item\n\n> quote\n\n1. one\n\nProse.", "Prose."),
        ("::: tip\nBox\n:::\n\n!!! note\n\nProse.", "Prose."),
        ("{% raw %}\n\n{{< youtube x >}}\n\nProse[^1] {#id}", "Prose"),
        ("---\n\n***\n\nProse &amp; more \\* here.", "Prose & more * here."),
        ("# Only a heading", ""),
    ],
)  # fmt: skip
def test_the_first_paragraph_of_markdown(text, paragraph):
    assert parse_markdown(text).paragraph == paragraph


def test_links_of_the_whole_page():
    text = "# [h](h.md)\n\n- [l](<a b.md>)\n\n> [q][r]\n\n<a href=x.md>\n\n[r]: ../x"
    assert parse_markdown(text).links == ("h.md", "a%20b.md", "../x", "x.md")


@pytest.mark.parametrize(
    ("text", "values", "rest"),
    [
        ("---\r\na: 1\r\n---\r\nrest", {"a": 1}, "rest"),
        ("---\na: [\n---\nrest", {}, "rest"),
        ("---\na: 2024-13-45\n---\nrest", {}, "rest"),
        ("---\nno end", {}, "---\nno end"),
    ],
)
def test_front_matter_is_split_off(text, values, rest):
    assert split_front_matter(text) == (values, rest)


@pytest.mark.parametrize("parse", [parse_html, parse_markdown])
def test_white_space_within_a_paragraph_takes_no_minutes(parse):
    begin = time.process_time()
    text = f"Some text{' ' * 300_000}more of it."
    assert parse(f"<p>{text}" if parse is parse_html else text).paragraph
    assert time.process_time() - begin < 10
