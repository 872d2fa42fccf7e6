"""Fill the table, as LlamaIndex does; done once."""

import json
from pathlib import Path

from llama_index.core.schema import TextNode
from search import index

rows = [json.loads(line) for line in Path("../data/chunks.jsonl").read_text("utf-8").splitlines()]
index.insert_nodes(
    [
        TextNode(
            id_=row["id"],
            text=row["text"],
            metadata=row["metadata"],
            excluded_embed_metadata_keys=list(row["metadata"]),  # vectors are of the text alone
        )
        for row in rows
    ]
)
print(len(rows), "chunks in data_handbook")
