"""From wikitext to the first paragraph: each construct by a small example, and broken text."""

import bz2
import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge.dumps import is_disambiguation, parse_page
from argus.knowledge.wikitext import Site, lead_of, paragraph_of
from tests.support.dumps import any_site

FOO = "Foo is a bar of things."
ENGLISH = Site("enwiki", "en", {})
LEFT = re.compile(r"\{\{|\}\}|\[\[|\]\]|<ref|''|\{\||\|\}|<!--|\(\)|  |\x00")

SENTENCES = {
    "bold and italics": ("'''Foo''' is ''a'' '''''bar'''''.", "Foo is a bar."),
    "an apostrophe beside bold": ("L''''Amour''' is here.", "L'Amour is here."),
    "links": ("A [[bar]] of [[Thing (x)|things]], [[dog]]s.", "A bar of things, dogs."),
    "a link to a section": ("A [[bar#Top]], [[#There|there]].", "A bar, there."),
    "a link to a namespace": ("See [[:Category:Foo]].", "See Category:Foo."),
    "links that do not show": ("Foo is.[[Category:Foo]] [[de:Foo]]", "Foo is."),
    "links to sister projects": ("A [[wikt:bar|bar]], [[:fr:Foo|foo]].", "A bar, foo."),
    "external links": ("At [http://x.org the site] now [http://y.org].", "At the site now."),
    "square brackets": ("He [''sic''] [and she] is.", "He [sic] [and she] is."),
    "a file within prose": ("Foo [[File:a.png|20px|a [[b]]]] is it.", "Foo is it."),
    "entities": ("A&nbsp;b &amp; c &ndash; d &#8364;.", "A b & c – d €."),
    "references": ('Foo<ref name="a">{{cite|x}} [[y]]</ref> is<ref name=b />.', "Foo is."),
    "comments": ("Foo <!-- a\n\nb -->is it.", "Foo is it."),
    "comments on lines of their own": ("Foo\n<!-- a\nb -->\nis it.", "Foo is it."),
    "a template that never ends": ("Foo ({{lang|fr|m}} {{IPA|f) is it.", "Foo (m f) is it."),
    "HTML": ("<span style='x'>Foo</span> is<br />a <small>bar</small>.", "Foo is a bar."),
    "what is no HTML": ("It takes <stdio.h> in &lt; 5 s.", "It takes <stdio.h> in < 5 s."),
    "powers and indices": ("10<sup>-6</sup> m<sup>3</sup> CO<sub>2</sub> now.", "10⁻⁶ m³ CO2 now."),
    "ordinals": ("The 1<sup>st</sup> of them.", "The 1st of them."),
    "formulas": ("Foo <math>x^2</math> is it.", "Foo is it."),
    "nowiki": ("Foo is <nowiki>*''not''* {</nowiki>.", "Foo is *not* {."),
    "behaviour switches": ("Foo __NOTOC__ is it.__NOEDITSECTION__", "Foo is it."),
    "single newlines": ("Foo is\na bar\nof it.", "Foo is a bar of it."),
    "composed characters": ("Cafe\u0301 is it.", "Café is it."),
    "unknown templates": ("Foo{{cn}}, bar {{x|{{y}}}}, it {{z}} is{{a}}.", "Foo, bar, it is."),
    "empty brackets": ("Foo (; , ) is () a ( ; born 1950 ; ) bar.", "Foo is a (born 1950) bar."),
    "pronunciation": ("Foo (pronounced {{IPA|fu}} or {{IPA|fo}}) is.", "Foo is."),
    "one of several in brackets": ("Foo ({{IPAc-en|f}}; {{lang|fr|m}}, b.) is.", "Foo (m, b.) is."),
    "a label without its words": ("Foo (Greek: {{x}}; 1950) is.", "Foo (1950) is."),
    "footnotes in brackets": ("Foo ({{harvnb|a}}; see {{harvnb|b}}) is it.", "Foo is it."),
    "a comma before what goes": ("Foo, {{x}} (born 1950), is.", "Foo (born 1950), is."),
    "square brackets that empty": ("Berlin [{{IPA|x}}] ist es.", "Berlin ist es."),
    "wide brackets that empty": ("東（{{IPA|x}}）は（a、{{IPA|x}}）だ。", "東は（a）だ。"),
    "brackets in brackets": ("Foo (a ({{x}}) b, ({{y}})) is.", "Foo (a b) is."),
}
TEMPLATES = {
    "{{lang|fr|''mot''}}": "mot",
    "{{lang-grc-gre|λόγος|links=no}}": "λόγος",
    "{{Lang|de|[[Wort|das Wort]]}}": "das Wort",
    "{{nowrap|'''a {{small|b}}'''}}": "a b",
    "{{nowrap|1=E = mc<sup>2</sup>}}": "E = mc²",
    "{{abbr|approx.|approximately}}": "approx.",
    "{{convert|5|km|mi|0|abbr=on}}": "5 km",
    "{{convert|5|to|7.5|C|F}}": "5 to 7.5 °C",
    "{{convert|6|ft|2|in|m}}": "6 ft 2 in",
    "{{convert|5+1/2|mi}}": "5 1/2 mi",
    "{{val|6.02|e=23|u=kg}}": "6.02×10²³ kg",
    "{{circa|1500|1510}}": "c. 1500 – c. 1510",
    "{{as of|2010|3|lc=y}}": "As of March 2010",
    "{{birth date|1967|8|31}}": "August 31, 1967",
    "{{OldStyleDate|February 2|1905|January 20}}": "February 2 [O.S. January 20] 1905",
    "{{nihongo|'''Aikido'''|合気道|Aikidō}}": "Aikido (合気道, Aikidō)",
    "{{zh|s=汉字|p=hànzì}}": "汉字; hànzì",
    "{{formatnum:12345}}": "12,345",
    "{{post-nominals|country=GBR|OBE|FRS}}": "OBE FRS",
    "{{USS|Enterprise|CVN-65}}": "USS Enterprise (CVN-65)",
    "a{{snd}}b{{ndash}}c": "a – b–c",
    "{{Template:Lang|fr|mot}}": "mot",
    "{{lang\n|fr\n|mot\n}}": "mot",
}
BEFORE = {
    "an infobox": "{{Infobox x\n| a = {{b|c}} [[d]]\n| e = '''f'''\n}}\n",
    "templates of hatnotes": "{{About|x|y|z}}{{pp-move}}\n",
    "a hatnote": ":''For other uses, see [[Foo (x)|that page]].''\n",
    "a hatnote in italics alone": "''For other uses, see [[Foo (x)|that page]].''\n",
    "an old hatnote": '<div class="dablink">For other uses, see [[that]].</div>\n',
    "a table": '{| class="x"\n! a !! b\n|-\n| {{c|d}} || e of many words.\n{|\n| f\n|}\n|}\n',
    "an HTML table": "<table><tr><td>Many words stand here.</td></tr></table>\n",
    "a file": "[[File:a.jpg|thumb|A [[caption]] of [http://x y] {{z}}, long. [[b]]]]\n",
    "a gallery": "<gallery>\nFile:a.jpg|A caption of many words.\n</gallery>\n",
    "a list": "* a list of very many words.\n# b of the same kind.\n; c\n\n",
    "a quotation": "<blockquote>A motto of many words.</blockquote>\n",
    "coordinates": "Coordinates: 51°30′N 0°7′W, or so they say.\n\n",
    "a lone caption": "A lone caption\n\n",
    "a rule and a switch": "__NOTOC__\n----\n",
    "a comment with a heading": "<!--\n== Not yet ==\n-->\n",
    "a comment of its own line": "\n<!-- a -->\n",
    "a template that never ends": "{{Infobox\n| a = b\n| c = [[d]]\n\n",
    "a template that never ends, in one that does": "{{Infobox\n| a = {{x\n| b = c\n}}\n",
    "ends without beginnings": "}}\n|}\n]]",
}


def first_paragraph(text):
    return paragraph_of(lead_of(text), any_site())


@pytest.mark.parametrize("name", SENTENCES)
def test_prose_stays_and_its_markup_goes(name):
    wikitext, plain = SENTENCES[name]
    assert first_paragraph(wikitext) == plain


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_that_mark_up_words_are_the_words(template):
    plain = first_paragraph(f"There was {template} in it.")
    assert plain == f"There was {TEMPLATES[template]} in it."


@pytest.mark.parametrize("name", BEFORE)
def test_what_is_no_prose_is_skipped(name):
    assert first_paragraph(f"{BEFORE[name]}'''Foo''' is a bar of things.\n\nMore of it.") == FOO


@pytest.mark.parametrize(
    "piece",
    ["{{", "{{lang|fr|", "[[", "[[File:a|", "<ref>", "<!--", "{|\n", "(", "(,", "''x", "__a", ", ",
     "{{lang|fr|x}} is ", "[[a]] is ", "a<ref>b</ref> ", "<div>", "[http://", " ", "\n", "{{{1|"],
)  # fmt: skip
def test_a_page_of_2_mb_costs_no_more_than_a_second_or_so(piece):
    text = piece * (2_000_000 // len(piece))
    begin = time.process_time()
    plain = first_paragraph(text)
    assert time.process_time() - begin < 2
    assert not LEFT.search(plain)


FRAGMENTS = [
    "{{", "}}", "[[", "]]", "|", "{|", "|}", "\n", "\n\n", "<ref>", "</ref>", "<ref name=a/>",
    "<!--", "-->", "<nowiki>", "</nowiki>", "''", "'''", "File:a.jpg", "lang|fr|mot",
    "convert|5|km", "=", "==", "Infobox", "Foo is a bar of things.", "word ", "[http://x y]",
    "[", "]", "{", "}", "(", ")", ",", "&nbsp;", "&#91;&#91;", "&lt;ref&gt;", "__NOTOC__",
    "<br/>", "<math>", "</math>", "<div>", "</div>", "*", ":", "#", "'", "<sup>2</sup>",
    "{{{1|x}}}", "-{", "}-", "<table>", "nihongo|a|b|c", "\x00",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
@settings(deadline=None)
def test_no_jumble_of_markup_raises_or_is_left(text):
    assert not LEFT.search(first_paragraph(text))


def test_another_parser_keeps_the_same_words(shared):
    """But for templates: its plain text has no word that is lost here, except those that are meant.

    "named" and "occasionally" stand beside a pronunciation, "years ago" beside an age that is not
    known; "17751783" is left of a template; it leaves a caption, too.
    """
    from mwparserfromhell import parse

    lost: Counter[str] = Counter()
    (path,) = shared("enwiki_excerpt").glob("*.bz2")
    for record in re.findall(rb"<page>.*?</page>", bz2.decompress(path.read_bytes()), re.DOTALL):
        page = parse_page(record)
        if page.redirect or is_disambiguation(page, ENGLISH):
            continue
        if plain := first_paragraph(page.text):
            ours = Counter(re.findall(r"\w+", plain))
            text = parse(lead_of(page.text)).strip_code().replace("\xa0", " ")
            blocks = [
                Counter(re.findall(r"\w+", block))
                for block in re.split(r"\n\s*\n|\n(?=[A-Z\"])", text)
            ]
            same = max(blocks, key=lambda block: 2 * (block & ours).total() - block.total())
            lost += same - ours
    meant = {"named", "occasionally", "years", "ago"}
    assert set(lost) == meant | {"17751783", "thumb", "Demonstration", "2013"}
