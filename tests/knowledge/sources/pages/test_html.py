import pytest

from argus.knowledge.sources.pages.html import parse_html
from argus.knowledge.sources.pages.page import Link
from argus.knowledge.sources.pages.text import decode_html


@pytest.mark.parametrize(
    ("body", "paragraph"),
    [
        ("<p>One &amp; <b>t</b>wo</p><p>Three</p>", "One & two"),
        ("<p> <img> </p><p>2024</p><p><a>Only a link</a></p><p>Prose.</p>", "Prose."),
        ("<p>See <a>a link</a>.</p>", "See a link."),
        ("<p>Line<br>break<br> <br>next</p>", "Line break"),
        ("<div>Four words of text.</div><p>Prose.</p>", "Prose."),
        ("<div>Loose text <i>of</i> six words.</div>", "Loose text of six words."),
        ("<div>Only four words here.</div>", ""),
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
def test_the_first_paragraph_of_prose(body, paragraph):
    assert parse_html(f"<body>{body}").paragraph == paragraph


@pytest.mark.parametrize(
    ("base", "href", "target"),
    [
        ("", "a/b.html", "a/b.html"),
        ("/docs/", "a.html", "/docs/a.html"),
        ("https://x.org/docs/index.html", "a.html", "/docs/a.html"),
        ("https://x.org", "a.html", "a.html"),
        ("http://[", "a.html", "a.html"),
        ("http://[::1/docs/?/x", "a.html", "/docs/a.html"),
        ("/docs/", "/a.html", "/a.html"),
        ("/docs/", "#top", "#top"),
        ("/docs/", "mailto:x@y.z", "mailto:x@y.z"),
    ],
)
def test_links_stand_on_the_base_of_the_page(base, href, target):
    head = f"<base href='{base}'>" if base else ""
    page = parse_html(f"<head>{head}</head><body><p><a href='{href}'>x</a></p>")
    assert page.links == (Link(target),)


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("é".encode(), "é", ""),
        (b"\xef\xbb\xbf" + "é".encode(), "é", ""),
        ("\ufeffé".encode("utf-16-le"), "é", ""),
        ("\ufeffé".encode("utf-16-be"), "é", ""),
        (b"\xe9", "é", "read as Windows-1252"),
        (b'<meta charset="latin1">\x80', '<meta charset="latin1">€', ""),
        ('<meta content="text/html; charset=shift_jis">日本'.encode("shift_jis"),
         '<meta content="text/html; charset=shift_jis">日本', ""),
        (b"<meta charset=utf-8>\xe9", "<meta charset=utf-8>\ufffd", "broken characters"),
        ("<meta charset=nonsense>é".encode(), "<meta charset=nonsense>é", ""),
        ("<meta charset=hex>é".encode(), "<meta charset=hex>é", ""),
        ("<meta charset=utf-16>é".encode(), "<meta charset=utf-16>é", ""),
        ("<meta charset=idna>é".encode(), "<meta charset=idna>é", ""),
        (b"<meta charset=utf-7>+2AA-", "<meta charset=utf-7>+2AA-", ""),
        ("<meta charset=utf-16le>é".encode(), "<meta charset=utf-16le>é", ""),
        ("<meta charset=windows-874>ก".encode("cp874"), "<meta charset=windows-874>ก", ""),
        ("<meta charset=x-sjis>日本".encode("shift_jis"), "<meta charset=x-sjis>日本", ""),
    ],
)  # fmt: skip
def test_bytes_are_read_as_browsers_read_them(data, text, note):
    assert decode_html(data) == (text, note)
