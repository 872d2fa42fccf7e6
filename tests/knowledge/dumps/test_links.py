from argus.knowledge.wikitext import lead_of, link_targets, without_hatnotes
from tests.support.dumps import any_site

SITE = any_site()
PAGE = """{{Infobox x
| born = [[Rome]]
}}
:''For others, see [[Foo (other)]].''
[[File:a.jpg|thumb|A [[caption]] here]]
'''Foo''' is a [[bar|thing]] of [[bar]]<ref>[[Publisher]]</ref> and
[[Baz#Top|baz]].<!-- [[Hidden]] -->
<nowiki>[[Literal]]</nowiki> [[:Category:X]] [[wikt:foo|foo]] [[#There]] [[Category:Y]]

== More ==
:''Main article: [[Qux]]''
See [[rome]], [[quux]].<ref name="a" /> [[unclosed
"""


def test_links_of_the_lead_come_in_order_each_once():
    assert link_targets(without_hatnotes(lead_of(PAGE)), SITE) == ["Rome", "Caption", "Bar", "Baz"]
