"""Fill the store, as LangChain does; done once."""

import json
from pathlib import Path

from search import store

rows = [json.loads(line) for line in Path("../data/chunks.jsonl").read_text("utf-8").splitlines()]
store.add_texts([r["text"] for r in rows], [r["metadata"] for r in rows], [r["id"] for r in rows])
print(len(rows), "chunks in store/handbook")
