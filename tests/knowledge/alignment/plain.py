"""Alignment in plain Python, as docs/knowledge.md says it: what the database has to agree with."""

import hashlib
from collections import Counter, defaultdict
from typing import Any

from argus.knowledge.names import ground, without_parenthesis
from tests.knowledge.alignment.worlds import Item, Page, World


class PlainAlignment:
    def __init__(self, world: World) -> None:
        self.world = world
        self.page_reasons: Counter[str] = Counter()
        self.item_reasons: Counter[str] = Counter()
        self.pages: dict[str, Page] = {}
        for page in world.pages or ():
            if page.title in self.pages:
                self.page_reasons["duplicate title"] += 1
            else:
                self.pages[page.title] = page
        self.items: dict[str, Item] = {}
        for item in world.items or ():
            if item.id in self.items:
                self.item_reasons["duplicate id"] += 1
            else:
                self.items[item.id] = item
        if not world.pages:
            for item in sorted(self.items.values()):
                reason = "" if item.description.strip() else "no description"
                if item.article is not None:
                    page = Page(item.article, item.description, reason)
                    self.pages.setdefault(item.article, page)
        self.told = {i.article for i in self.items.values() if i.disambiguation}
        self.owner: dict[str, str] = {}  # title of a page: id of its entity
        self.entities: dict[str, tuple[str, str, str | None, str]] = {}
        if world.items:
            self._both()
        else:
            self._pages_alone()

    def land(self, title: str) -> tuple[str, str]:
        """Return (where a title lands, why there is no article there or "")."""
        for _ in range(9):
            page = self.pages.get(title)
            if page is None:
                return title, "redirect to no page"
            if page.redirect is None:
                return title, self.page_reason(page)
            title = page.redirect
        return title, "redirect loop"

    def page_reason(self, page: Page) -> str:
        if page.reason not in ("broken XML", "not an article") and page.title in self.told:
            return "disambiguation"
        return page.reason

    def _item_reason(self, item: Item) -> str:
        if item.article is None:
            return "no article"
        if not (item.label or "").strip():
            return "no label"
        if item.article not in self.pages:
            return "article not in the dump"
        return self.land(item.article)[1] or ("disambiguation" if item.disambiguation else "")

    def _both(self) -> None:
        claims = defaultdict(list)
        unlabelled = set()
        for item in self.items.values():
            reason = self._item_reason(item)
            if reason:
                self.item_reasons[reason] += 1
                if reason == "no label":
                    unlabelled.add(self.land(item.article)[0])
            else:
                title = self.land(item.article)[0]
                claims[title].append((title != item.article, int(item.id[1:]), item))
        for title, claimants in claims.items():
            (_, _, item), *others = sorted(claimants)
            self.item_reasons["article of another item"] += len(others)
            self.owner[title] = item.id
            paragraph = self.pages[title].paragraph
            self.entities[item.id] = (item.label, item.description, title, paragraph)
        for page in self.pages.values():
            if page.redirect is not None or page.title not in self.owner:
                lack = "no label" if page.title in unlabelled else "no item"
                self._drop_page(page, lack)

    def _pages_alone(self) -> None:
        for title, page in self.pages.items():
            if page.redirect is None and not page.reason:
                self.owner[title] = title
                label = without_parenthesis(title) or title
                self.entities[title] = (label, "", title, page.paragraph)
            else:
                self._drop_page(page, "")

    def _drop_page(self, page: Page, lack: str) -> None:
        if page.redirect is None:
            self.page_reasons[self.page_reason(page) or lack] += 1
        else:
            reason = self.land(page.title)[1]
            astray = reason in ("redirect loop", "redirect to no page")
            self.page_reasons[reason if astray else "redirect"] += 1

    def redirects(self) -> list[tuple[str, str, str | None]]:
        rows = []
        for page in self.pages.values():
            if page.redirect is not None:
                title, reason = self.land(page.title)
                if reason not in ("redirect loop", "redirect to no page"):
                    rows.append((page.title, title, self.owner.get(title)))
        return rows

    def aliases(self) -> list[tuple[str, str, str]]:
        rows = [
            (id_, alias, "alias")
            for id_, item in self.items.items()
            for alias in item.aliases
            if id_ in self.entities
        ]
        rows += [(id_, title, "redirect") for title, _, id_ in self.redirects() if id_]
        rows += [(id_, e[2], "title") for id_, e in self.entities.items() if e[2]]
        return rows

    def relations(self) -> list[tuple[str | None, str, str | None, str]]:
        rows = [(*statement, "wikidata") for statement in self.world.statements]
        links = self.world.links
        ends = [(self.owner.get(s), self.owner.get(self.land(t)[0])) for s, t in links]
        return [*rows, *((s, "link", o, "hyperlink") for s, o in ends)]


def plain_tables(
    aligned: PlainAlignment, sample: int | None, seed: int
) -> tuple[dict[str, list[tuple[Any, ...]]], dict[str, Any]]:
    """Return the tables of a knowledge base, and counts, of an aligned world."""
    lost: dict[str, Counter[str]] = defaultdict(Counter)
    entities = {i: e for i, e in aligned.entities.items() if e[3].strip()}
    no_paragraph = len(aligned.entities) - len(entities)
    proper = set()
    for relation in aligned.relations():
        s, _, o, source = relation
        if s not in entities or o not in entities:
            lost[source]["to no entity"] += 1
        elif s == o:
            lost[source]["self-loop"] += 1
        elif relation in proper:
            lost[source]["duplicate"] += 1
        else:
            proper.add(relation)
    sources = {r[3] for r in proper}
    graph = next((g for g in ("wikidata", "hyperlink") if g in sources), "mentions")

    def neighbours(id_: str) -> set[str]:
        pairs = [(s, o) for s, _, o, source in kept_relations if source == graph]
        return {o for s, o in pairs if s == id_} | {s for s, o in pairs if o == id_}

    kept_relations = proper
    drawn = sorted(entities, key=lambda i: hashlib.md5(f"{seed}:{i}".encode()).hexdigest())[:sample]
    entities_left = set(drawn).union(*(neighbours(id_) for id_ in drawn))
    kept_relations = {r for r in proper if r[0] in entities_left and r[2] in entities_left}
    sources = {r[3] for r in kept_relations}
    graph = next((g for g in ("wikidata", "hyperlink") if g in sources), "mentions")
    for source, n in (
        Counter(r[3] for r in proper) - Counter(r[3] for r in kept_relations)
    ).items():
        lost[source]["not sampled"] = n

    rows = []
    for id_ in sorted(entities_left):
        label, description, article, paragraph = entities[id_]
        grounded = ground(label, paragraph)
        related = len(neighbours(id_))
        rows.append(
            (
                *(id_, label, description, article, paragraph),
                *(grounded.span.start, grounded.span.end, grounded.prepended),
                *(id_ in drawn and related > 0, related),
            )
        )
    aliases: dict[tuple[str, str], str] = {}
    for id_, alias, source in sorted(aligned.aliases(), key=lambda row: row[2], reverse=True):
        if id_ in entities_left and alias.strip() and alias != entities[id_][0]:
            aliases[id_, alias] = source
    redirects = [
        (t, to, i if i in entities_left else None) for t, to, i in sorted(aligned.redirects())
    ]
    dropped = {"no paragraph": no_paragraph, "not sampled": len(entities) - len(entities_left)}
    return {
        "entities": rows,
        "relations": sorted(kept_relations),
        "aliases": sorted((*key, source) for key, source in aliases.items()),
        "redirects": redirects,
    }, {
        "graph": graph,
        "relations": dict(sorted(Counter(r[3] for r in kept_relations).items())),
        "dropped": {
            "entities": {reason: n for reason, n in dropped.items() if n},
            "relations": {source: dict(reasons) for source, reasons in lost.items()},
        },
    }
