import pytest

from argus.knowledge.dumps.pages import BrokenRecord, Page, parse_page, redirect_target

PAGE = """<page>
  <title>{title}</title>
  <ns>{ns}</ns>
  <id>12</id>
  {redirect}
  <revision><id>3</id><timestamp>2015-01-01T00:00:00Z</timestamp>
    <text xml:space="preserve">{text}</text></revision>
</page>"""


def page(title="Foo", ns="0", text="Bar", redirect=""):
    return PAGE.format(title=title, ns=ns, text=text, redirect=redirect).encode()


def test_a_page_is_read_as_it_stands():
    record = page("A &amp; B", text="'''A''' &lt;ref&gt;\n é")
    assert parse_page(record) == Page(12, "A & B", 0, None, "'''A''' <ref>\n é")


@pytest.mark.parametrize(
    "text",
    ["#REDIRECT [[Foo bar]]", "  #redirect:[[Foo bar#X|y]]", "#WEITERLEITUNG [[Foo bar]]",
     "#REDIRECTION[[ Foo bar ]]", "#REDIRECCIÓN [[Foo bar]]", "#перенаправление [[Foo bar]]",
     "＃転送 [[Foo bar]]", "#重定向 [[Foo bar]]", "\ufeff#RINVIA [[Foo bar]]"],
)  # fmt: skip
def test_a_text_is_a_redirect_in_any_language(text):
    assert (redirect_target(text) or "").partition("#")[0] == "Foo bar"


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"", "not XML"),
        (page()[:-8], "not XML"),
        (page().replace(b"Bar", b"\x02"), "not XML"),
        (page().replace(b"Bar", b"\xff\xfe"), "not XML"),
        (page().replace(b"Bar", b"a < b"), "not XML"),
        (b"<item><title>A</title></item>", "<item>, where <page>"),
        (page(title=" "), "without a title"),
        (page(ns="x"), "<ns> is 'x'"),
        (page().replace(b"<id>12</id>", b"", 1), "<id> is None"),
    ],
)
def test_a_broken_record_says_what_is_wrong(record, why):
    with pytest.raises(BrokenRecord, match=why):
        parse_page(record)
