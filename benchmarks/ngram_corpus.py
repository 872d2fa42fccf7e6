"""A corpus of ten million tokens from whatever text the machine holds, and an n-gram index of it.

First the shared collections, then texts in /usr/share, at last the docstrings of Python and its
libraries. Paragraphs of prose, each kept once; passages of
about 100 words with the name of their file as title; files in the order of their names, so that a
machine gives the same corpus every time. Everything is kept in the folder ARGUS_BENCH (else
`argus-bench` in the system's folder for temporary files), never in the project.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import site
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.data.writing import write_whole
from argus.generative.index import NgramIndex, build_index
from argus.generative.vocabulary import Vocabulary, open_vocabulary, train_vocabulary
from benchmarks.shared import collection

TOKENS, VOCABULARY, WORDS = 10_000_000, 50_265, 100
# More than text has, so that gathering stops late rather than early.
CHARACTERS_PER_TOKEN = 5.0
LARGEST_FILE = 2**23
LEAST_WORDS, LEAST_LETTERS = 6, 0.6
"""Of a paragraph: fewer words, or less of it letters and spaces, is a table or code."""

Reader = Callable[[Path], Iterator[tuple[str, str]]]
"""A file to (title, text with blank lines between paragraphs)."""


class Source(NamedTuple):
    """Where one kind of text may be: files below `roots` whose names match `pattern`."""

    name: str
    roots: tuple[Path, ...]
    pattern: str
    read: Reader


def index(tokens: int = TOKENS) -> NgramIndex:
    """Return the index of the corpus, built at the first call and reopened after."""
    folder = home(tokens)
    if not (folder / "sources.json").is_file():
        _make(folder, tokens)
    return NgramIndex.open(folder / "index")


def described(tokens: int = TOKENS) -> dict[str, Any]:
    """Return what the corpus consists of."""
    index(tokens)
    return dict(json.loads((home(tokens) / "sources.json").read_text(encoding="utf-8")))


def home(tokens: int = TOKENS) -> Path:
    """Return the folder in which a corpus of this size is kept."""
    root = os.environ.get("ARGUS_BENCH") or Path(tempfile.gettempdir()) / "argus-bench"
    return Path(root) / f"ngram-{tokens}"


def _make(folder: Path, tokens: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    gathered, characters = [], 0
    for passage in _gather():
        gathered.append(passage)
        characters += len(passage.text)
        if characters > tokens * CHARACTERS_PER_TOKEN:
            break
    trained = train_vocabulary((f"{p.title} {p.text}" for p in gathered), VOCABULARY)
    kept = _up_to(gathered, trained, tokens)
    lines = (json.dumps({"_id": p.id, "title": p.title, "text": p.text}) for p in kept)
    write_whole(folder / "passages.jsonl", "".join(f"{line}\n" for line in lines))
    trained.save(folder / "tokenizer")
    opened = open_vocabulary(folder / "tokenizer")
    built = build_index(kept, opened, folder / "index")
    shares: dict[str, int] = {}
    lengths = np.diff(built.segments[0].starts)
    for passage, length in zip(kept, lengths.tolist(), strict=True):
        name = passage.id.partition(":")[0]
        shares[name] = shares.get(name, 0) + length
    content = {
        "tokens": built.n_tokens, "passages": built.n_documents, "vocabulary": opened.size,
        "types": len(built.continuations([])[0]), "tokens_by_source": shares,
    }  # fmt: skip
    write_whole(folder / "sources.json", json.dumps(content, indent=2) + "\n")


def _up_to(gathered: list[Document], trained: Vocabulary, tokens: int) -> list[Document]:
    """Return the first passages, of `tokens` tokens in all or just above."""
    total = 0
    for start in range(0, len(gathered), 4096):
        block = gathered[start : start + 4096]
        encoded = trained.encode([f"{p.title} {p.text}" for p in block])
        for i, ids in enumerate(encoded):
            total += len(ids) + 2  # the border, the end of the title
            if total >= tokens:
                return gathered[: start + i + 1]
    return gathered


def _gather() -> Iterator[Document]:
    """Yield passages; every paragraph comes once."""
    seen: set[bytes] = set()
    for source in _sources():
        n = 0
        for path in _files(source):
            try:
                texts = list(source.read(path))
            except (OSError, EOFError, ValueError):
                continue
            for title, text in texts:
                for passage in _cut(_new_paragraphs(text, seen)):
                    n += 1
                    yield Document(f"{source.name}:{n}", passage, title)


def _new_paragraphs(text: str, seen: set[bytes]) -> Iterator[str]:
    for raw in re.split(r"\n[ \t]*\n", text):
        paragraph = " ".join(raw.split())
        letters = sum(c.isalpha() or c == " " for c in paragraph)
        if len(paragraph.split()) < LEAST_WORDS or letters < LEAST_LETTERS * len(paragraph):
            continue
        key = content_hash("".join(c for c in paragraph.lower() if c.isalpha()), size=8)
        if key not in seen:
            seen.add(key)
            yield paragraph


def _cut(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield passages of about WORDS words, the paragraphs of one text in order."""
    words: list[str] = []
    for paragraph in paragraphs:
        words += paragraph.split()
        while len(words) >= 1.5 * WORDS:
            yield " ".join(words[:WORDS])
            words = words[WORDS:]
        if len(words) >= 0.8 * WORDS:
            yield " ".join(words)
            words = []
    if words:
        yield " ".join(words)


def _sources() -> list[Source]:
    """Return where text may be; what a machine does not have gives nothing."""
    names = "wiki2 fb15k237 hotpot100 cranfield authority/scotus authority/ghsa"
    names += " argus620 theoremqa_theorems impliret_wknow_multi"
    rows = r"(corpus|entities|paragraphs)\.jsonl"
    shared = [
        Source(n.replace("/", " "), (collection(n),), rows, _collection) for n in names.split()
    ]
    plain = r".*\.(txt|rst|md|pod)(\.gz)?|README.*|NEWS\.gz|.*\.info(-\d+)?\.gz"
    libraries = tuple(Path(p) for p in [sysconfig.get_paths()["stdlib"], *site.getsitepackages()])
    return [
        *shared,
        Source("share", (Path("/usr/share"),), plain, _plain),
        Source("docstrings", libraries, r".*\.py", _docstrings),
    ]


def _files(source: Source) -> Iterator[Path]:
    pattern = re.compile(source.pattern)
    for root in source.roots:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if not pattern.fullmatch(name) or path.is_symlink():
                    continue
                if path.stat().st_size <= LARGEST_FILE:
                    yield path


def _read(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8", "ignore")


def _collection(path: Path) -> Iterator[tuple[str, str]]:
    for line in _read(path).splitlines():
        row = json.loads(line)
        text = row.get("text") or row.get("paragraph") or ""
        yield str(row.get("title") or row.get("label") or ""), str(text)


def _plain(path: Path) -> Iterator[tuple[str, str]]:
    yield path.name.partition(".")[0], _read(path)


def _docstrings(path: Path) -> Iterator[tuple[str, str]]:
    found = re.findall(r'^[ \t]*[rRuU]?"""(.*?)"""', _read(path), re.S | re.M)
    yield path.stem if path.stem != "__init__" else path.parent.name, "\n\n".join(found)
