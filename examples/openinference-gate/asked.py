"""What people asked, once each, as queries for the next run."""

import json
from pathlib import Path

import pyarrow.parquet as pq

rows = pq.read_table("traffic/questions.parquet", columns=["question", "text"]).to_pylist()
lines = [json.dumps({"_id": str(row["question"]), "text": row["text"]}) + "\n" for row in rows]
Path("asked.jsonl").write_text("".join(lines), encoding="utf-8")
print(len(rows), "questions in asked.jsonl")
