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


def test_the_newest_revision_counts():
    older = "<revision><timestamp>2014-01-01T00:00:00Z</timestamp><text>Old</text></revision>"
    record = page(text="New").replace(b"</page>", older.encode() + b"</page>")
    assert parse_page(record).text == "New"


@pytest.mark.parametrize(
    "text", ["<text />", '<text deleted="deleted" />', '<text bytes="0"></text>', ""]
)
def test_a_page_without_text_is_empty(text):
    record = f"<page><title>A</title><ns>0</ns><id>1</id><revision>{text}</revision></page>"
    assert parse_page(record.encode()).text == ""


def test_a_redirect_is_what_the_export_says():
    record = page(redirect='<redirect title="Bar &amp; Baz" />', text="#REDIRECT [[Else]]")
    assert parse_page(record).redirect == "Bar & Baz"
    assert parse_page(page(text="#redirect [[Else|x]] {{R}}")).redirect == "Else"


@pytest.mark.parametrize(
    "text",
    ["#REDIRECT [[Foo bar]]", "  #redirect:[[Foo bar#X|y]]", "#WEITERLEITUNG [[Foo bar]]",
     "#REDIRECTION[[ Foo bar ]]", "#REDIRECCIÓN [[Foo bar]]", "#перенаправление [[Foo bar]]",
     "＃転送 [[Foo bar]]", "#重定向 [[Foo bar]]", "\ufeff#RINVIA [[Foo bar]]"],
)  # fmt: skip
def test_a_text_is_a_redirect_in_any_language(text):
    assert (redirect_target(text) or "").partition("#")[0] == "Foo bar"


@pytest.mark.parametrize("text", ["", "Foo", "# One [[a]]", "#REDIRECT", "Foo #REDIRECT [[a]]"])
def test_other_texts_are_none(text):
    assert redirect_target(text) is None


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


@pytest.mark.parametrize("number", [str(1 << 63), "9" * 5000, "-" + "9" * 30, "1.5", ""])
def test_an_id_that_no_table_holds_is_a_broken_record(number):
    record = page().replace(b"<id>12</id>", f"<id>{number}</id>".encode(), 1)
    with pytest.raises(BrokenRecord, match="<id> is"):
        parse_page(record)
