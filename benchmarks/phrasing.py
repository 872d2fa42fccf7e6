"""The guard's language check: which real descriptions it refuses, and which word salads.

Real ones are descriptions of at most five words that people wrote: Wikidata's own, held against
paragraphs that others wrote; what first sentences say that their subject is; and what stands
between commas behind a name, but for members of lists, predicates ("was the wife of Gaston") and
clauses that go on ("the Court held that"). Where a description stands in the passage itself, the
passage is withheld, so that the rules alone decide. Salads are made of the same words and pass the
rest of the guard: shuffled, turned round, small words beside one that is supported, one word
repeated, and words drawn from the passage. The rules were made on the first group of collections,
mended where the second said that they were wrong, and told on the third, which had no part in them.
"""

from __future__ import annotations

import bz2
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import mwparserfromhell

from argus.data.types import Document
from argus.knowledge.dumps.blocks import blocks_of, records_of
from argus.knowledge.dumps.pages import parse_page
from argus.remedies import descriptions as checks
from argus.remedies.descriptions import describe_by_first_sentence, repeats, shorten
from benchmarks.shared import collection

Said = tuple[str, str]
"""A description, and the passage that it is held against: "" where that is withheld."""
SHOWN = 1_000
BEHIND_A_NAME = re.compile(rf"\b[A-Z]\w+, ([^,;:!?()\[\]\n]{{1,{checks.MAX_CHARS}}}?),")
NO_INSERTION = frozenset({"and", "or", "but", "is", "are", "was", "were"})
"""What a piece begins with that goes on with a list or is the predicate."""
EXAMPLES = 12
DRAWS = 20


def run() -> dict[str, Any]:
    """Measure the groups of collections."""
    groups = {"made on": _first_group, "mended on": _second_group, "told on": _third_group}
    return {name: _measured(group()) for name, group in groups.items()}


def _first_group() -> dict[str, list[Said]]:
    apart = {row["_id"] for row in _rows("argus620/paragraphs.jsonl")}
    entities = [e for e in _entities() if e["wikidata_id"] not in apart]
    long = lambda e: e.get("paragraph_long") or e["paragraph"] or ""  # noqa: E731
    hotpot = _rows("hotpot100/corpus.jsonl")
    return {
        "fb15k237, Wikidata's": list(_own(entities, long)),
        "hotpot100, first sentences": list(_first(hotpot)),
        "hotpot100, behind names": list(_behind(hotpot)),
    }


def _second_group() -> dict[str, list[Said]]:
    paragraphs = {row["_id"]: row["text"] for row in _rows("argus620/paragraphs.jsonl")}
    entities = [e for e in _entities() if e["wikidata_id"] in paragraphs]
    groups = {
        "argus620, Wikidata's": list(_own(entities, lambda e: paragraphs[e["wikidata_id"]])),
        "wikidata_excerpt, every language": list(_every_language()),
        "argus620, first sentences": list(_first(_rows("argus620/paragraphs.jsonl"))),
    }
    for name in ("wiki2", "theoremqa_theorems", "cranfield", "authority/ghsa"):
        groups[f"{name}, first sentences"] = list(_first(_rows(f"{name}/corpus.jsonl")))
    for name in ("wiki2", "authority/scotus", "impliret_wknow_multi"):
        groups[f"{name}, behind names"] = list(_behind(_rows(f"{name}/corpus.jsonl")))
    return groups


def _third_group() -> dict[str, list[Said]]:
    articles, needs = list(_articles()), _rows("spike_scenarios/scenarios.jsonl")
    return {
        "enwiki_excerpt, first sentences": list(_first(articles)),
        "enwiki_excerpt, behind names": list(_behind(articles)),
        "spike_scenarios, behind names": list(_behind(needs)),
        "authority/ghsa, behind names": list(_behind(_rows("authority/ghsa/corpus.jsonl"))),
        "theoremqa_theorems, behind names": list(_behind(_rows("theoremqa_theorems/corpus.jsonl"))),
    }


def _measured(groups: dict[str, list[Said]]) -> dict[str, Any]:
    whole = [one for some in groups.values() for one in some]
    real = {
        name: _refused([(text, passage if "Wikidata's" in name else "") for text, passage in some])
        for name, some in groups.items()
    }
    n, refused = (sum(r[key] for r in real.values()) for key in ("n", "refused"))
    return {
        "real": real,
        "real, all": {"n": n, "refused": refused, "passes": round(1 - refused / n, 4)},
        "salads": {kind: _refused(some) for kind, some in salads(whole, seed=1).items()},
    }


def _refused(some: list[Said]) -> dict[str, Any]:
    """Count what is refused; examples of real ones that are, and of salads that are not."""
    bad = [text for text, passage in some if checks.find_misphrasing(text, [passage])]
    good = [text for text, passage in some if not checks.find_misphrasing(text, [passage])]
    draw = random.Random(1)
    return {
        "n": len(some),
        "refused": len(bad),
        "passes": round(len(good) / len(some), 4) if some else None,
        "refused, some": draw.sample(bad, min(EXAMPLES, len(bad))),
        "pass, some": draw.sample(good, min(EXAMPLES, len(good))),
    }


def salads(real: list[Said], seed: int) -> dict[str, list[Said]]:
    """Return what is no language, but has the form of a description and is supported.

    real: with their passages; what is itself one of them is left out.
    """
    draw = random.Random(seed)
    known = {text.casefold() for text, _ in real}
    made: dict[str, list[Said]] = defaultdict(list)
    for text, passage in real:
        for kind, words in _salads_of(text.split(" "), passage, draw):
            salad = " ".join(words)
            fits = salad.casefold() not in known and checks.is_wording(salad)
            if fits and passage and checks.is_supported(salad, [passage]):
                made[kind].append((salad, passage))
    return dict(made)


def _salads_of(
    words: list[str], passage: str, draw: random.Random
) -> Iterator[tuple[str, list[str]]]:
    if len(words) > 1:
        yield "shuffled", draw.sample(words, len(words))
        yield "turned round", words[::-1]
    content = [word for word in words if word.casefold() not in checks.SMALL_WORDS] or words
    n = draw.randint(3, checks.MAX_WORDS)
    small = sorted(checks.SMALL_WORDS)
    one = draw.choice(small)
    others = draw.choice(([one] * (n - 1), draw.choices(small, k=n - 1)))
    yield "small words beside one", [*others, draw.choice(content)]
    yield "one word repeated", [draw.choice(content)] * n
    of_passage = [re.sub(r"\A\W+|\W+\Z", "", word) for word in passage.split()]
    if of_passage := [word for word in of_passage if checks.is_wording(word)]:
        yield "words of the passage", draw.choices(of_passage, k=n)


def _own(
    entities: Iterable[dict[str, Any]], passage_of: Callable[[dict[str, Any]], str]
) -> Iterator[Said]:
    """Yield Wikidata's descriptions that the entity's paragraph supports."""
    for entity in entities:
        own, passage = entity["wikidata_description"], passage_of(entity)[:SHOWN]
        for text in dict.fromkeys((own, shorten(own) if own else None)):
            if text and _fits(text, passage) and not repeats(text, entity["label"] or ""):
                yield text, passage


def _first(documents: Iterable[dict[str, Any]]) -> Iterator[Said]:
    """Yield what first sentences say that their subject is."""
    for row in documents:
        document = Document(row["_id"], row["text"], row.get("title", ""))
        text = describe_by_first_sentence(document)
        if text and _fits(text, document.text[:SHOWN]):
            yield text, document.text[:SHOWN]


def _behind(documents: Iterable[dict[str, Any]]) -> Iterator[Said]:
    """Yield what stands between commas behind a name."""
    for row in documents:
        for match in BEHIND_A_NAME.finditer(row["text"]):
            text = match[1]
            goes_on = text.split()[0] in NO_INSERTION or text.endswith(" that")
            passage = row["text"][max(0, match.start() - SHOWN // 2) :][:SHOWN]
            if not goes_on and _fits(text, passage):
                yield text, passage


def _every_language() -> Iterator[Said]:
    file = collection("wikidata_excerpt") / "sample_wikidata_items.json.bz2"
    for line in bz2.decompress(file.read_bytes()).decode("utf-8").splitlines():
        if len(item := line.strip().rstrip(",")) > 2:
            for one in json.loads(item)["descriptions"].values():
                if checks.is_wording(one["value"]):
                    yield one["value"], ""


def _articles() -> Iterator[dict[str, Any]]:
    """Yield the articles of the dump, whole, as plain text."""
    file = next(collection("enwiki_excerpt").glob("*.bz2"))
    for block in blocks_of(file, "page"):
        for record in records_of(block, "page"):
            page = parse_page(record)
            if page.namespace == 0 and not page.redirect:
                text = mwparserfromhell.parse(page.text).strip_code()
                yield {"_id": page.title, "title": page.title, "text": text}


def _fits(text: str, passage: str) -> bool:
    return checks.is_wording(text) and checks.is_supported(text, [passage])


def _entities() -> list[dict[str, Any]]:
    return _rows("fb15k237/entities.jsonl")


def _rows(name: str) -> list[dict[str, Any]]:
    with collection(name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
