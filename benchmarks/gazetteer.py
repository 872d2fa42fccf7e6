"""A gazetteer of 1,000,000 names over 10,000 passages: time and peak memory, build included.

Names: the titles of wiki2 and labels of fb15k237, filled up to a million with the beginning of one
and the end of another, so that prefixes and suffixes overlap as in a real knowledge base. Passages:
wiki2, repeated. In a process of its own, whose peak resident memory is read; "before" is what names
and passages take.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.shared import collection

NAMES, PASSAGES, TIMEOUT_S = 1_000_000, 10_000, 600

CHILD = """
import json, sys, time
import numpy as np
from argus.data.provenance import peak_memory_bytes
from argus.data.types import Document
from argus.knowledge.config import GazetteerConfig
from argus.knowledge.gazetteer import Gazetteer
n_names, n_passages, wiki2, fb15k237, ignore_case = json.loads(sys.argv[1])
def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
passages = rows(wiki2)
given = [r["title"] for r in passages] + [r["label"] for r in rows(fb15k237)]
words = [name.split() for name in sorted(set(filter(None, given)))]
rng = np.random.default_rng(0)
names = dict.fromkeys(" ".join(w) for w in words)
while len(names) < n_names:
    for a, b in rng.integers(0, len(words), (100_000, 2)).tolist():
        first, last = words[a], words[b]
        head = first[: 1 + rng.integers(len(first))]
        names[" ".join([*head, *last[rng.integers(len(last)) :]])] = None
        if len(names) == n_names:
            break
documents = [Document(str(i), "", name) for i, name in enumerate(names)]
texts = [passages[i % len(passages)]["text"] for i in range(n_passages)]
before = peak_memory_bytes()
start = time.perf_counter()
config = GazetteerConfig(ignore_case=ignore_case)
gazetteer = Gazetteer.from_documents(documents, config, texts=texts)
list(gazetteer.find(["builds the automaton"]))
built = time.perf_counter()
mentions = sum(map(len, gazetteer.find(texts)))
done = time.perf_counter()
print(json.dumps({
    "ignore_case": ignore_case, "names": len(gazetteer.names), "left_out": gazetteer.left_out,
    "passages": len(texts), "mentions": mentions, "build_s": round(built - start, 1),
    "find_s": round(done - built, 2), "total_s": round(done - start, 1),
    "before_mib": round(before / 2**20), "peak_mib": round(peak_memory_bytes() / 2**20),
}))
"""


def run() -> dict[str, Any]:
    paths = [collection("wiki2") / "corpus.jsonl", collection("fb15k237") / "entities.jsonl"]
    rows = []
    for ignore_case in (False, True):
        arguments = json.dumps([NAMES, PASSAGES, *map(str, paths), ignore_case])
        command = [sys.executable, "-c", CHILD, arguments]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
        rows.append(json.loads(result.stdout))
        print(rows[-1], flush=True)
    return {"rows": rows}
