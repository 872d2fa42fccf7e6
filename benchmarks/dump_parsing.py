"""Reading a Wikipedia dump: blocks on two cores against a plain loop over bz2.

Both do the same work on the same bytes: decompress, cut into pages, parse, clean the first
paragraph, collect links, write Parquet. The plain one is one process that reads front to back with
the standard library's bz2, but parses as Argus does: what is compared is reading and cutting, and
the cores. The dump is the real excerpt, its pages repeated under other titles COPIES times: enough
that starting workers is a small part, as it is of the hour that a full one takes. All run in each
round in turn, and the fastest counts. What a full dump takes is that rate times its size.
"""

from __future__ import annotations

import bz2
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.shared import collection

EXCERPT = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
COPIES = 72
ROUNDS = 3
TIMEOUT_S = 900
FULL_DUMP_GB = 23.0
"""enwiki-latest-pages-articles.xml.bz2, in 2025; for the extrapolation."""

PLAIN = """
import bz2, json, re, resource, sys, time
from pathlib import Path
from argus.knowledge.dumps import read_pages
from argus.knowledge.site import read_site
from argus.kb.reading import Part, DumpParts
dump, out = sys.argv[1:]
start = time.perf_counter()
parts = DumpParts(Path(out), "wikipedia")
with bz2.open(dump) as file:
    site = read_site(file.read(65536), where=dump)
    file.seek(0)
    number, held, lines, pages = 0, [], None, 0
    def write():
        global number, held
        parts.add(Part(number, *read_pages(held, site)))
        number, held = number + 1, []
    for line in file:
        if lines is None:
            lines = [line[line.index(b"<page>"):]] if b"<page>" in line else None
            continue
        lines.append(line)
        if b"</page>" in line:
            held.append(b"".join(lines)[:-1])
            lines, pages = None, pages + 1
            if len(held) == 2000:
                write()
    write()
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"seconds": seconds, "cpu_s": used.ru_utime + used.ru_stime, "pages": pages}))
"""

BLOCKS = """
import json, resource, sys, time
from pathlib import Path
from argus.engine import EngineConfig, open_engine
from argus.kb.reading import DumpParts
from argus.kb.reading import read_wikipedia
from argus.kb.config import KbConfig
if __name__ == "__main__":
    dump, out, workers, split = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    start = time.perf_counter()
    config = KbConfig(split_mib=split / 2**20)
    parts = DumpParts(Path(out), "wikipedia")
    with open_engine(EngineConfig(workers=workers)) as engine:
        read, _ = read_wikipedia(dump, parts, config, engine)
    seconds = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({
        "seconds": seconds, "cpu_s": sum(u.ru_utime + u.ru_stime for u in used),
        "pages": sum(read.values()),
        "peak_worker_mib": used[1].ru_maxrss // 1024, "peak_mib": used[0].ru_maxrss // 1024,
    }))
"""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        dump = make_dump(Path(folder) / "dump.xml.bz2")
        size = dump.stat().st_size
        best: dict[str, dict[str, Any]] = {}
        for round_ in range(ROUNDS):
            for name, script, rest in _runs(size):
                out = Path(folder) / f"{name}-{round_}"
                out.mkdir()
                row = _child(folder, script, str(dump), str(out), *rest)
                print(name, row, flush=True)
                if name not in best or row["seconds"] < best[name]["seconds"]:
                    best[name] = row
        return _result(best, size)


def make_dump(path: Path) -> Path:
    """Write the excerpt's pages COPIES times over, every copy with ids and titles of its own."""
    text = bz2.decompress((collection("enwiki_excerpt") / EXCERPT).read_bytes()).decode()
    begin, end = text.index("<page>"), text.rindex("</page>") + len("</page>")
    head, pages, tail = text[:begin], text[begin:end], text[end:]
    packer = bz2.BZ2Compressor(9)
    with path.open("wb") as file:
        file.write(packer.compress(head.encode()))
        for copy in range(COPIES):
            own = pages if not copy else re.sub("</title>", f" {copy}</title>", pages)
            file.write(packer.compress(own.encode() + b"\n"))
        file.write(packer.compress(tail.encode()))
        file.write(packer.flush())
    return path


def _runs(size: int) -> list[tuple[str, str, list[str]]]:
    size_of_block = str(16 << 20)
    return [
        ("plain", PLAIN, []),
        ("blocks, 1 core", BLOCKS, ["1", size_of_block]),
        ("blocks, 2 cores", BLOCKS, ["2", size_of_block]),
    ]


def _child(folder: str, script: str, *arguments: str) -> dict[str, Any]:
    file = Path(folder) / "child.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file), *arguments], capture_output=True, text=True,
        timeout=TIMEOUT_S, check=True, env=os.environ | {"OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def _result(best: dict[str, dict[str, Any]], size: int) -> dict[str, Any]:
    pages = {row["pages"] for row in best.values()}
    if len(pages) != 1:
        raise RuntimeError(f"the runs read different numbers of pages: {best}")
    rows = {
        name: {
            **{k: round(v, 2) for k, v in row.items()},
            "compressed_mb_per_s": round(size / row["seconds"] / 1e6, 2),
            "pages_per_s": round(row["pages"] / row["seconds"]),
            "pages_per_cpu_s": round(row["pages"] / row["cpu_s"]),
        }
        for name, row in best.items()
    }
    two = rows["blocks, 2 cores"]
    return {
        "dump_mb": round(size / 1e6, 1),
        "rows": rows,
        "times_plain": round(best["plain"]["seconds"] / best["blocks, 2 cores"]["seconds"], 2),
        "full_dump_gb": FULL_DUMP_GB,
        "full_dump_hours_two_cores": round(
            FULL_DUMP_GB * 1e3 / two["compressed_mb_per_s"] / 3600, 2
        ),
    }
