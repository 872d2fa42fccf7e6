"""The real head of an English dump, 206 pages: what is counted, and paragraphs read by eye.

All first paragraphs of its 97 articles that have one were read against their wikitext, by eye; 31
of them stand here, chosen for what their wikitext holds.
"""

import bz2
import re

import pytest

from argus.knowledge.dumps.pages import PageSetup, read_pages
from argus.knowledge.dumps.site import HEAD_BYTES, read_site

DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|''|<|\{\||\|\}|==|&\w+;|__|\x00|\||https?:|\bthumb\b"
    r"|\(\)|\( |\([;,:]| ,| ;| \)|[;,]\)|,,|  | \.(?!\.)|^\W* |\n|\[\]"
)


WHOLE = {
    "Albedo": (
        'Albedo or reflection coefficient, derived from Latin albedo "whiteness" (or '
        'reflected sunlight) in turn from albus "white", is the diffuse reflectivity or '
        "reflecting power of a surface."
    ),
    "Achilles": (
        "In Greek mythology, Achilles (Ἀχιλλεύς, Akhilleus) was a Greek hero of the Trojan "
        "War and the central character and greatest warrior of Homer's Iliad. His mother was "
        "the nymph Thetis, and his father, Peleus, was the king of the Myrmidons."
    ),
    "Alabama": (
        "Alabama is a state located in the southeastern region of the United States. It is "
        "bordered by Tennessee to the north, Georgia to the east, Florida and the Gulf of "
        "Mexico to the south, and Mississippi to the west. Alabama is the 30th-most extensive"
        " and the 24th-most populous of the 50 United States. At 1,300 mi, Alabama has one of"
        " the longest navigable inland waterways in the nation."
    ),
    "Asphalt": (
        "Asphalt, also known as bitumen is a sticky, black and highly viscous liquid or "
        "semi-solid form of petroleum. It may be found in natural deposits or may be a "
        "refined product; it is a substance classed as a pitch. Until the 20th century, the "
        "term asphaltum was also used. The word is derived from the Ancient Greek ἄσφαλτος "
        "ásphaltos."
    ),
    "Actrius": (
        "Actresses (Catalan: Actrius) is a 1997 Catalan language Spanish drama film produced "
        "and directed by Ventura Pons and based on the award-winning stage play E.R. by Josep"
        " Maria Benet i Jornet. The film has no male actors, with all roles played by "
        "females. The film was produced in 1996."
    ),
    "America the Beautiful": (
        '"America the Beautiful" is an American patriotic song. The lyrics were written by '
        "Katharine Lee Bates, and the music was composed by church organist and choirmaster "
        "Samuel A. Ward."
    ),
    "Atomic number": (
        "In chemistry and physics, the atomic number of a chemical element (also known as its"
        " proton number) is the number of protons found in the nucleus of an atom of that "
        "element, and therefore identical to the charge number of the nucleus. It is "
        "conventionally represented by the symbol Z. The atomic number uniquely identifies a "
        "chemical element. In an uncharged atom, the atomic number is also equal to the "
        "number of electrons."
    ),
    "Affirming the consequent": (
        "Affirming the consequent, sometimes called converse error, fallacy of the converse "
        "or confusion of necessity and sufficiency, is a formal fallacy of inferring the "
        "converse from the original statement. The corresponding argument has the general "
        "form:"
    ),
    "Andrei Tarkovsky": (
        "Andrei Arsenyevich Tarkovsky (Андре́й Арсе́ньевич Тарко́вский; 4 April 1932 – 29 "
        "December 1986) was a Soviet and Russian film-maker, writer, film editor, film "
        "theorist, theatre and opera director."
    ),
    "Adobe": (
        "Adobe (from Spanish: mud brick, from Arabic) is a building material made from earth "
        "and often organic material. Most adobe buildings are similar to cob and rammed earth"
        " buildings. Adobe is among the earliest building materials, and is used throughout "
        "the world."
    ),
    "Allah": (
        "Allah (الله Allāh) is the Arabic word referring to God in Abrahamic religions. The "
        'word is thought to be derived by contraction from al ilāh, which means "the God", '
        "and has cognates in other Semitic languages, including Elah in Aramaic, ʾĒl in "
        "Canaanite and Elohim in Hebrew."
    ),
    "Aikido": (
        "Aikido (合気道, Aikidō) is a modern Japanese martial art developed by Morihei Ueshiba "
        "as a synthesis of his martial studies, philosophy, and religious beliefs. Aikido is "
        'often translated as "the way of unifying (with) life energy" or as "the way of '
        "harmonious spirit.\" Ueshiba's goal was to create an art that practitioners could use"
        " to defend themselves while also protecting their attacker from injury."
    ),
    "Ampere": (
        'The ampere (SI unit symbol: A), often shortened to "amp", is the SI unit of electric'
        " current (dimension symbol: I) and is one of the seven SI base units. It is named "
        "after André-Marie Ampère (1775–1836), French mathematician and physicist, considered"
        " the father of electrodynamics."
    ),
}
"""Title to first paragraph."""

LONG = {
    "A": (
        "A (plural As, A's, as, a's or aes) is the first letter and the first vowel in the "
        "ISO basic Latin alphabet. It is similar to the Ancient Greek letter alpha, from "
        "which it",
        "intended to be read by children. It is also found in italic type.",
        537,
    ),
    "Abraham Lincoln": (
        "Abraham Lincoln (February 12, 1809 – April 15, 1865) was the 16th President of the "
        "United States, serving from March 1861 until his assassination in April 1865. "
        "Lincoln led",
        "strengthened the federal government, and modernized the economy.",
        439,
    ),
    "Aristotle": (
        "Aristotle (Ἀριστοτέλης, Aristotélēs; 384–322 BC) was a Greek philosopher and "
        "scientist born in the city of Stagira, Chalkidice, on the northern periphery of "
        "Classical Greece.",
        'scientist in history ... [and] every scientist is in his debt."',
        928,
    ),
    "Algeria": (
        "Algeria (الجزائر al-Jazā'ir; ⵍⵣⵣⴰⵢⴻⵔ Dzayer), officially People's Democratic "
        "Republic of Algeria, is a sovereign state in North Africa on the Mediterranean "
        "coast. Its capital",
        "1,541 communes. Abdelaziz Bouteflika has been President since 1999.",
        739,
    ),
    "Apollo": (
        "Apollo (Attic, Ionic, and Homeric Greek: Ἀπόλλων, Apollōn (GEN Ἀπόλλωνος); Doric: "
        "Ἀπέλλων, Apellōn; Arcadocypriot: Ἀπείλων, Apeilōn; Aeolic: Ἄπλουν, Aploun; Apollō) "
        "is one",
        "Apollo is known in Greek-influenced Etruscan mythology as Apulu.",
        636,
    ),
    "Ayn Rand": (
        "Ayn Rand (born Alisa Zinov'yevna Rosenbaum, Али́са Зино́вьевна Розенба́ум; February "
        "2 [O.S. January 20] 1905 – March 6, 1982) was a Russian-born American novelist, "
        "philosopher,",
        "in America, she achieved fame with her 1943 novel, The Fountainhead.",
        600,
    ),
    "International Atomic Time": (
        "International Atomic Time (TAI, from the French name Temps Atomique International) "
        "is a high-precision atomic coordinate time standard based on the notional passage of"
        " proper",
        "seconds at the start of 1972, plus 26 leap seconds in UTC since 1972.",
        611,
    ),
    "Andorra": (
        "Andorra, officially the Principality of Andorra (Principat d'Andorra), also called "
        "the Principality of the Valleys of Andorra (Principat de les Valls d'Andorra), is a "
        "sovereign",
        "Spanish/Roman Catholic Bishop of Urgell and the President of France.",
        535,
    ),
    "Alkane": (
        "In organic chemistry, an alkane, or paraffin (a historical name that also has other "
        "meanings), is a saturated hydrocarbon. Alkanes consist only of hydrogen and carbon "
        "atoms",
        "two main commercial sources: petroleum (crude oil) and natural gas.",
        701,
    ),
    "Apollo 11": (
        "Apollo 11 was the first spaceflight that landed humans on the Moon. Americans Neil "
        "Armstrong and Buzz Aldrin landed on July 20, 1969, at 20:18 UTC. Armstrong became "
        "the first",
        "returned to it just under a day later for the trip back to Earth.",
        619,
    ),
    "Aardvark": (
        "The aardvark (Orycteropus afer) is a medium-sized, burrowing, nocturnal mammal "
        "native to Africa. It is the only living species of the order Tubulidentata, although"
        " other prehistoric",
        "rating from the IUCN, although its numbers seem to be decreasing.",
        724,
    ),
    "Arthur Schopenhauer": (
        "Arthur Schopenhauer (22 February 1788 – 21 September 1860) was a German philosopher."
        " He is best known for his 1818 work The World as Will and Representation, in which "
        "he characterizes",
        "on thinkers and artists throughout the 19th and 20th centuries.",
        975,
    ),
    "Angola": (
        "Angola, officially the Republic of Angola (República de Angola; Kikongo, Kimbundu "
        "and Umbundu: Repubilika ya Ngola), is a country in Southern Africa. It is the "
        "seventh-largest",
        "of the Congo. The capital and largest city of Angola is Luanda.",
        514,
    ),
    "Albert Einstein": (
        "Albert Einstein (14 March 1879 – 18 April 1955) was a German-born theoretical "
        "physicist. He developed the general theory of relativity, one of the two pillars of "
        "modern physics",
        "effect, a pivotal step in the evolution of quantum theory.",
        641,
    ),
    "Afghanistan": (
        "Afghanistan (Pashto/Dari: افغانستان, Afġānistān), officially the Islamic Republic of"
        " Afghanistan, is a landlocked country located within South Asia and Central Asia. It"
        " has",
        "covers 652,000 km², making it the 41st largest country in the world.",
        507,
    ),
    "Albania": (
        "Albania (Shqipëri/Shqipëria; Shqipni/Shqipnia, Shqypni/Shqypnia), officially known "
        "as the Republic of Albania (Republika e Shqipërisë), is a country in Southeastern "
        "Europe.",
        "Strait of Otranto which connects the Adriatic Sea to the Ionian Sea.",
        523,
    ),
    "Azerbaijan": (
        "Azerbaijan (Azərbaycan), officially the Republic of Azerbaijan (Azərbaycan "
        "Respublikası), is a country in the Transcaucasian region, situated at the crossroads"
        " of Southwest",
        "and west, while having a short border with Turkey in the north west.",
        496,
    ),
    "American Revolutionary War": (
        "The American Revolutionary War (1775–1783), also known as the American War of "
        "Independence and the Revolutionary War in the United States, was the armed conflict "
        "between Great",
        "British East India Company and the French allied Kingdom of Mysore.",
        751,
    ),
}
"""Title to the beginning of its first paragraph, the end, and the number of characters."""


@pytest.fixture(scope="module")
def dump(shared):
    return bz2.decompress((shared("enwiki_excerpt") / DUMP).read_bytes())


@pytest.fixture(scope="module")
def site(dump):
    return read_site(dump[:HEAD_BYTES], where=DUMP)


@pytest.fixture(scope="module")
def records(dump):
    return re.findall(rb"<page>.*?</page>", dump, re.DOTALL)


@pytest.fixture(scope="module")
def part(records, site):
    return read_pages(records, PageSetup(site))


@pytest.fixture(scope="module")
def paragraphs(part):
    rows = part.pages.to_pylist()
    return {row["title"]: row["paragraph"] for row in rows if row["paragraph"]}


def test_the_dump_says_of_which_wiki_it_is(site):
    assert (site.dbname, site.language, site.case) == ("enwiki", "en", "first-letter")
    assert site.namespaces["wikipedia talk"] == 5
    assert site.namespaces["image"] == site.namespaces["file"] == 6


def test_every_page_is_counted_under_one_reason(part, records):
    assert part.counts == {
        "articles": 96,
        "redirects": 99,
        "disambiguation": 8,
        "not an article": 1,
        "no first paragraph": 1,
        "paragraph too short": 1,
    }
    assert sum(part.counts.values()) == len(records) == 206


def test_what_is_dropped_is_named(part):
    dropped = {
        row["title"]: row["reason"]
        for row in part.pages.to_pylist()
        if row["reason"] not in {"", "redirect"}
    }
    ambiguous = [
        "Aa River",
        "Aberdeen",
        "Ada",
        "Alien",
        "Animal",
        "Argument",
        "Asia Minor",
        "Austin",
    ]
    with_word = {"Aberdeen", "Animal", "Argument", "Asia Minor", "Austin"}
    titles = [f"{name} (disambiguation)" if name in with_word else name for name in ambiguous]
    assert dropped == dict.fromkeys(titles, "disambiguation") | {
        "List of anthropologists": "no first paragraph",
        "Transport in Angola": "paragraph too short",
    }


@pytest.mark.parametrize("title", WHOLE)
def test_a_short_first_paragraph_is_as_read_by_eye(title, paragraphs):
    assert paragraphs[title] == WHOLE[title]


@pytest.mark.parametrize("title", LONG)
def test_a_long_first_paragraph_is_as_read_by_eye(title, paragraphs):
    begin, end, length = LONG[title]
    assert paragraphs[title].startswith(begin)
    assert paragraphs[title].endswith(end)
    assert len(paragraphs[title]) == length


def test_no_first_paragraph_holds_any_markup(paragraphs):
    assert len(paragraphs) == 97
    left = {title: MARKUP.findall(text) for title, text in paragraphs.items()}
    assert {title: marks for title, marks in left.items() if marks} == {}


def test_all_but_a_few_first_paragraphs_are_whole_sentences(paragraphs):
    cut = [title for title, text in paragraphs.items() if not text.endswith((".", '."', ".)"))]
    assert sorted(cut) == ["Affirming the consequent", "Transport in Angola"]  # lists follow


def test_redirects_lead_to_titles(part):
    rows = {row["title"]: row for row in part.pages.to_pylist()}
    assert rows["AccessibleComputing"]["redirect"] == "Computer accessibility"
    assert rows["AccessibleComputing"]["reason"] == "redirect"
    assert sum(row["redirect"] is not None for row in rows.values()) == 99


def test_links_are_those_of_usable_articles(part, records, site):
    links = part.links.to_pylist()
    usable = {row["title"] for row in part.pages.to_pylist() if not row["reason"]}
    assert {link["source"] for link in links} <= usable
    assert len(links) == 2717
    of_law = [link["target"] for link in links if link["source"] == "Abstract (law)"]
    assert of_law == ["Law", "Legal document"]
    assert read_pages(records, PageSetup(site, links="page")).links.num_rows > 5 * len(links)
    assert read_pages(records[:9], PageSetup(site, links="none")).links.num_rows == 0
