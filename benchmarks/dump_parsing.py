"""Reading a Wikipedia dump: blocks on two cores against a plain loop over bz2.

Both do the same work on the same bytes: decompress, cut into pages, parse, clean the first
paragraph, collect links, write Parquet. The plain one reads front to back with the standard
library's bz2, but parses as Argus does: what is compared is reading and cutting, and the cores. The
dump is the real excerpt, its pages repeated under other titles COPIES times: enough that starting
workers is a small part, as it is of the hour that a full one takes. The two take turns, and the
fastest of ROUNDS counts. What a full dump takes is that rate times its size.
"""

from __future__ import annotations

import bz2
import re
import tempfile
from pathlib import Path
from typing import Any

from argus.engine import EngineConfig, open_engine
from argus.kb.reading import DumpParts, KbConfig, Part, read_wikipedia
from argus.knowledge.dumps import read_pages
from argus.knowledge.wikitext import read_site
from benchmarks.shared import collection, timed

EXCERPT = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
COPIES, ROUNDS, PAGES_PER_PART = 72, 3, 2000
# enwiki-latest-pages-articles.xml.bz2, in 2025; for the extrapolation.
FULL_DUMP_GB = 23.0


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        dump = make_dump(Path(folder) / "dump.xml.bz2")
        size, runs = dump.stat().st_size, {"plain": plain, "blocks": blocks}
        taken: dict[str, list[float]] = {name: [] for name in runs}
        pages = set()
        for round_ in range(ROUNDS):
            for name, read in runs.items():
                parts = DumpParts(Path(folder) / f"{name}-{round_}", "wikipedia")
                seconds, n = timed(lambda read=read, parts=parts: read(dump, parts))
                taken[name].append(seconds)
                pages.add(n)
    (n_pages,) = pages  # all read the same number
    best = {name: min(seconds) for name, seconds in taken.items()}
    rate = size / best["blocks"] / 1e6
    return {
        "dump_mb": round(size / 1e6, 1),
        "rows": {
            name: {
                "seconds": round(seconds, 2),
                "compressed_mb_per_s": round(size / seconds / 1e6, 2),
                "pages_per_s": round(n_pages / seconds),
            }
            for name, seconds in best.items()
        },
        "times_plain": round(best["plain"] / best["blocks"], 2),
        "full_dump_hours_two_cores": round(FULL_DUMP_GB * 1e3 / rate / 3600, 2),
    }


def plain(dump: Path, parts: DumpParts) -> int:
    """Read the dump in this process, a line at a time. Return how many pages it has."""
    with bz2.open(dump) as file:
        site = read_site(file.read(65_536), where=dump)
        file.seek(0)
        n, held, lines = 0, [], list[bytes]()
        for line in file:
            if b"<page>" in line:
                lines = [line[line.index(b"<page>") :]]
            elif lines:
                lines.append(line)
            if lines and b"</page>" in line:
                held.append(b"".join(lines)[:-1])
                n, lines = n + 1, []
                if len(held) == PAGES_PER_PART:
                    parts.add(Part(n, *read_pages(held, site)))
                    held = []
        parts.add(Part(n, *read_pages(held, site)))
    return n


def blocks(dump: Path, parts: DumpParts) -> int:
    """Read it as `kb build` does, with two workers. Return how many pages it has."""
    with open_engine(EngineConfig(workers=2)) as engine:
        read, _ = read_wikipedia(str(dump), parts, KbConfig(), engine)
    return sum(read.values())


def make_dump(path: Path) -> Path:
    """Write the excerpt's pages COPIES times over, every copy with titles of its own."""
    text = bz2.decompress((collection("enwiki_excerpt") / EXCERPT).read_bytes()).decode()
    begin, end = text.index("<page>"), text.rindex("</page>") + len("</page>")
    head, pages, tail = text[:begin], text[begin:end], text[end:]
    with bz2.open(path, "wt", encoding="utf-8") as file:
        file.write(head)
        for copy in range(COPIES):
            file.write(re.sub("</title>", f" {copy}</title>", pages) + "\n")
        file.write(tail)
    return path
