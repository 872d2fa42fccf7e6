"""A folder of sources, and the chunks of an index that has drifted from it in 16 ways."""

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.types import Document
from argus.drift.align import align
from argus.drift.findings import find
from argus.drift.sources import Chunks, Sources, hashes_of, names_of

CASES = (
    "same", "reformatted", "word changed", "sentence changed", "sentence added",
    "sentence deleted", "half rewritten", "deleted", "never read", "moved", "cut off",
    "read twice", "both versions", "titled", "two in one", "half words",
)  # fmt: skip


@dataclass
class Drifted:
    """Sources by path, chunks with the path that they were read from, and what is true of both."""

    sources: dict[str, str] = field(default_factory=dict)
    chunks: list[Document] = field(default_factory=list)
    truth: dict[str, str] = field(default_factory=dict)

    @property
    def bare(self) -> list[Document]:
        """The chunks without their paths."""
        return [Document(chunk.id, chunk.text, chunk.title) for chunk in self.chunks]

    def add(self, path: str, text: str, kind: str = "current", title: str = "") -> None:
        """Add a chunk of a source."""
        id_ = f"c{len(self.chunks):05d}"
        self.chunks.append(Document(id_, text, title, {"source": path}))
        self.truth[id_] = kind


def spans(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Cut a text into spans of so many words."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    starts = range(0, max(1, len(words) - overlap), size - overlap)
    return [(words[i][0], words[min(i + size, len(words)) - 1][1]) for i in starts]


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences of at least six words."""
    found = re.finditer(r"[^.!?]+[.!?]", text)
    return [m.span() for m in found if len(re.findall(r"[a-zA-Z]+", m[0])) >= 6]


def reformatted(text: str, rng: random.Random) -> str:
    """Wrap a text anew, with other marks between the words."""
    words = text.split()
    parts = (" ".join(words[i : i + 9]) for i in range(0, len(words), 9))
    text = "\r\n".join(f"  {part}" if rng.random() < 0.2 else part for part in parts)
    return "\ufeff# " + text.replace(" the ", " *the* ").replace("It ", "__It__ ")


def edited(text: str, case: str, rng: random.Random, foreign: str) -> tuple[str, list]:
    """Change one to three places of a text. Return it, and the spans that were changed."""
    found = [s for s in sentences(text) if len(text) > s[1] + 20 and s[0] > 20]
    places = sorted(rng.sample(found, min(len(found), rng.randint(1, 3))), reverse=True)
    others, changed = [foreign[a:b] for a, b in sentences(foreign)], []
    for start, end in places:
        new = rng.choice(others)
        if case == "word changed":
            words = [m.span() for m in re.finditer(r"[a-zA-Z]{4,}", text[start:end])]
            a, b = rng.choice(words)
            start, end, new = start + a, start + b, rng.choice(["1984", "frobnicate", "never"])
        elif case == "sentence added":
            start = end
            new = " " + new.strip()
        elif case == "sentence deleted":
            new = ""
        text = text[:start] + new + text[end:]
        changed.append((start, end))
    return text, changed


def touches(text: str, span: tuple[int, int], changed: list[tuple[int, int]]) -> bool:
    """Return whether words inside a span were changed, or others came between them."""
    a, b = span
    has = re.compile(r"[^\W_]").search
    return any(
        has(text[max(a, s) : min(b, e)]) if s < e else has(text[a:s]) and has(text[s:b])
        for s, e in changed
    )


def drifted(texts: list[tuple[str, str]], seed: int, size: int = 90) -> Drifted:
    """Make the case of titles and texts, the ways in turn. The last tenth is what is new there."""
    rng, made = random.Random(seed), Drifted()
    texts, news = texts[: len(texts) * 9 // 10], texts[len(texts) * 9 // 10 :]
    for row, (title, text) in enumerate(texts):
        case, path = CASES[row % len(CASES)], f"docs/{row % 7}/{row:05d}.md"
        foreign, now = rng.choice(news)[1], text
        overlap = rng.choice([0, 0, size // 5])
        cut, changed = spans(text, size, overlap), []
        if case in CASES[2:6] or case == "both versions":
            of = rng.choice(CASES[2:6]) if case == "both versions" else case
            now, changed = edited(text, of, rng, foreign)
        elif case == "half rewritten":
            a, b = rng.choice(cut)
            middle = (a + b) // 2
            now, changed = text[:a] + foreign[: middle - a] + text[middle:], [(a, middle)]
        if case == "reformatted":
            now = reformatted(text, rng)
        if case != "deleted":
            there = f"docs/moved/{row:05d}.md" if case == "moved" else path
            made.sources[there] = now
        if case == "never read":
            made.truth[path] = "missing"
            continue
        if case == "cut off":
            cut = cut[: max(1, len(cut) // 3)]
            made.truth[path] = "truncated" if len(cut) >= 1 else "current"
        kinds = {"deleted": "orphan", "moved": "moved"}
        for a, b in cut:
            kind = "stale" if touches(text, (a, b), changed) else kinds.get(case, "current")
            piece = text[a:b]
            if case == "half words":
                piece = text[a + rng.randint(0, 3) : b - rng.randint(0, 3)]
            if case == "titled":
                piece = f"{title}\n\n{piece}"
            made.add(path, piece, kind, title)
            if case == "read twice":
                made.add(path, piece, "duplicate", title)
        if case == "both versions":
            for a, b in spans(now, size, overlap):
                is_copy = now[a:b] in {text[c:d] for c, d in cut}
                made.add(path, now[a:b], "duplicate" if is_copy else "current", title)
        if case == "two in one" and row + 1 < len(texts):
            after = texts[row + 1][1] if CASES[(row + 1) % len(CASES)] == "half words" else ""
            made.add(path, text[cut[-1][0] :] + "\n" + after[:300], "current", title)
    return made


def pages(folder: Path, seed: int, together: int = 1) -> list[tuple[str, str]]:
    """Return 231 titles and texts of a BEIR corpus, in random order. together: rows of a page."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    found = []
    for start in range(0, len(rows), together):
        text = "\n\n".join(row["text"] for row in rows[start : start + together])
        found.append((rows[start].get("title") or f"page {start}", text))
    found = [page for page in found if 250 < len(page[1].split()) < 1_300]
    random.Random(seed).shuffle(found)
    return found[:231]


def kinds(chunks: list[Document], sources: dict[str, str]) -> dict[str, str]:
    """Return the kind of every chunk, by id, and source, by path, that has drifted."""
    documents = [Document(path, text) for path, text in sources.items()]
    made, index = Sources(documents), Chunks(chunks)
    _, values, named = names_of(chunks, made, None)
    _, same = hashes_of(chunks, made, named, None)
    found = align(
        [d.text for d in documents], [c.text for c in chunks], named=named,
        titles=[c.title for c in chunks],
    )  # fmt: skip
    rows = find(index, made, values, named, same, found)
    return {row["id"] or row["source"]: row["kind"] for row in rows}
