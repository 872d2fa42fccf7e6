"""Time and peak memory of building a relation graph: 10 million edges over a million entities.

From the shards of a knowledge base and from a triples file, each against reading the same by row
in plain Python: into a dictionary of sets, and as `read_relations` does where a file is out of the
ordinary. Every case runs in a process of its own, whose peak resident memory is read; all must give
the same graph.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ENTITIES, EDGES = 1_000_000, 10_000_000
CASES = ("shards", "shards, dictionary of sets", "TSV", "TSV, by row")
TIMEOUT_S = 1800

MAKE = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from argus.data.kb import KbWriter
from argus.data.kb_tables import ENTITIES, RELATIONS
folder, n, m = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
subjects, objects = np.random.default_rng(0).integers(0, n, (2, m))
order = np.lexsort((objects, subjects))
ids = pa.array([f"Q{i:07d}" for i in range(n)])
def columns(schema, rows, **known):
    rest = {f.name: pa.nulls(rows, f.type) for f in schema if f.name not in known}
    return pa.table({**known, **rest}).select(schema.names)
def filled(text, rows):
    return pa.array([text], pa.string()).take(pa.array(np.zeros(rows, np.int32)))
writer = KbWriter(folder)
writer.write("entities", columns(ENTITIES, n, id=ids, label=ids).to_batches(50_000))
edges = columns(
    RELATIONS, m, subject=ids.take(pa.array(subjects[order])), property=filled("P1", m),
    object=ids.take(pa.array(objects[order])), source=filled("wikidata", m),
)
writer.write("relations", edges.to_batches(50_000))
writer.finish("wikidata", {})
options = pa.csv.WriteOptions(include_header=False, delimiter="\\t", quoting_style="none")
pa.csv.write_csv(edges.select(["subject", "property", "object"]), folder + "/triples.tsv", options)
"""
MEASURE = """
import hashlib, json, sys, time
from pathlib import Path
import numpy as np
from argus.data.kb import KnowledgeFolder
from argus.data.provenance import peak_memory_bytes
from argus.knowledge.relations import RelationGraph, read_relations, read_relations_by_row
folder, case = sys.argv[1], sys.argv[2]
def digest(indptr, indices):
    return hashlib.sha256(indptr.tobytes() + indices.tobytes()).hexdigest()
def dictionary_of_sets():
    kb = KnowledgeFolder.open(folder)
    index = {id_: i for i, id_ in enumerate(kb.entities(["id"])["id"].to_pylist())}
    related = {}
    for part in kb.batches("relations", ["subject", "object"]):
        for subject, object_ in zip(part["subject"].to_pylist(), part["object"].to_pylist()):
            s, o = index[subject], index[object_]
            if s != o:
                related.setdefault(s, set()).add(o)
                related.setdefault(o, set()).add(s)
    return len(index), related
ids = KnowledgeFolder.open(folder).entities(["id"])["id"].to_pylist() if "TSV" in case else []
index = {id_: i for i, id_ in enumerate(ids)}
start, cpu = time.perf_counter(), time.process_time()
if case == "shards":
    kb = KnowledgeFolder.open(folder)
    graph = RelationGraph.from_edges(kb.rows("entities"), *kb.relations())
elif case == "TSV":
    graph = read_relations(Path(folder, "triples.tsv"), index)
elif case == "TSV, by row":
    graph = read_relations_by_row(Path(folder, "triples.tsv"), index)
else:
    n, related = dictionary_of_sets()
seconds, peak = time.perf_counter() - start, peak_memory_bytes()
cpu = time.process_time() - cpu
if case == "shards, dictionary of sets":
    lists = [sorted(related.get(i, ())) for i in range(n)]
    indptr = np.cumsum([0, *map(len, lists)])
    found = digest(indptr, np.concatenate([np.array(part, np.int64) for part in lists]))
else:
    found = digest(graph.indptr, graph.indices)
print(json.dumps({"case": case, "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2),
                  "peak_mib": round(peak / 2**20), "graph": found[:16]}))
"""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        _child(MAKE, folder, str(ENTITIES), str(EDGES))
        size = sum(path.stat().st_size for path in Path(folder, "relations").iterdir())
        rows = []
        for case in CASES:
            rows.append(json.loads(_child(MEASURE, folder, case)))
            print(rows[-1], flush=True)
    if len({row.pop("graph") for row in rows}) != 1:
        raise AssertionError("the cases do not give the same graph")
    return {"entities": ENTITIES, "edges": EDGES, "shards_mib": round(size / 2**20), "rows": rows}


def _child(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True
    )
    return result.stdout
