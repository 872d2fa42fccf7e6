"""Small dumps in the layout of the real ones."""

import bz2
import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from argus.knowledge.wikitext import Site, read_site, words

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xml:lang="{lang}">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>{dbname}</dbname>
    <generator>MediaWiki 1.27</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
# bz2 in blocks of 100 kB: small dumps have several.
PACK = {"bz2": lambda data: bz2.compress(data, 1), "gz": gzip.compress, "plain": bytes}


def any_site() -> Site:
    """Return a site of no language in particular: it has the namespaces of all."""
    english = read_site(HEAD.format(lang="en", dbname="enwiki").encode())
    every = {name.lower(): 6 for name in words("file")}
    every |= {name.lower(): 14 for name in words("category")} | dict(english.namespaces)
    return replace(english, dbname="", language="", namespaces=every)


def pages_dump(
    path: Path, pages: Mapping[str, str], *, lang: str = "en", pack: str = "bz2"
) -> Path:
    """Write a dump of pages, title to wikitext; "#REDIRECT [[X]]" is a redirect."""
    xml = [HEAD.format(lang=lang, dbname=f"{lang}wiki")]
    for number, (title, text) in enumerate(pages.items(), 1):
        target = text[len("#REDIRECT [[") :].split("]]")[0] if text.startswith("#REDIRECT") else ""
        redirect = f"<redirect title={quoteattr(target)} />" if target else ""
        xml.append(
            f"  <page>\n    <title>{escape(title)}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n"
            f'    {redirect}<revision><id>{number}</id><text xml:space="preserve">{escape(text)}'
            "</text></revision>\n  </page>\n"
        )
    path.write_bytes(PACK[pack](("".join(xml) + "</mediawiki>\n").encode()))
    return path


def item(
    id_: str, label: str | None, article: str | None = None, *, lang: str = "en", **rest: Any
) -> dict[str, Any]:
    """Return an item. aliases: names; relations: (property, id, rank) or (property, id)."""
    claims: dict[str, list[Any]] = {}
    for property_, target, *rank in rest.get("relations", ()):
        value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
        snak = {
            "snaktype": "value",
            "property": property_,
            "datavalue": {"value": value, "type": "wikibase-entityid"},
        }
        statement = {"mainsnak": snak, "type": "statement", "rank": (rank or ["normal"])[0]}
        claims.setdefault(property_, []).append(statement)
    named = {lang: {"language": lang, "value": label}} if label is not None else {}
    aliases = [{"language": lang, "value": name} for name in rest.get("aliases", ())]
    site = f"{lang}wiki"
    return {
        "type": "item",
        "id": id_,
        "labels": named,
        "descriptions": {lang: {"language": lang, "value": rest.get("description", "")}},
        "aliases": {lang: aliases} if aliases else {},
        "claims": claims,
        "sitelinks": {site: {"site": site, "title": article}} if article else {},
    }


def items_dump(path: Path, items: Iterable[Any], *, pack: str = "gz") -> Path:
    """Write a dump of items: a JSON array, one entity per line."""
    lines = [json.dumps(i, separators=(",", ":")) if isinstance(i, dict) else i for i in items]
    path.write_bytes(PACK[pack](("[\n" + ",\n".join(lines) + "\n]\n").encode()))
    return path
