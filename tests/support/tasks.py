"""Small samples of published collections, in their own layouts."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def lines(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def parquet(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


PASSAGES = [
    {"id": "light/Phototaxis_0.txt", "content": "Phototaxis is movement in response to light."},
    {"id": "light/Phototaxis_1.txt", "content": "Moths fly to lamps."},
    {"id": "light/post.txt", "content": "Why are insects attracted to light?"},
    {"id": "heat/Heat_0.txt", "content": "Heat is energy in transfer."},
]
PAGES = [
    {"id": "light/Phototaxis.txt", "content": "Phototaxis is movement. Moths fly to lamps."},
    {"id": "heat/Heat.txt", "content": "Heat is energy in transfer."},
]
QUESTIONS = [
    {
        "query": "Claim in article about why insects are attracted to light",
        "reasoning": "The question probes why insects are drawn to LED lights.",
        "id": "0",
        "excluded_ids": ["light/post.txt"],
        "gold_ids_long": ["light/Phototaxis.txt"],
        "gold_ids": ["light/Phototaxis_0.txt", "light/Phototaxis_1.txt"],
    },
    {
        "query": "What is heat?", "reasoning": "", "id": "1", "excluded_ids": ["N/A"],
        "gold_ids_long": ["heat/Heat.txt"], "gold_ids": ["heat/Heat_0.txt"],
    },
]  # fmt: skip


def bright(folder: Path, questions=QUESTIONS, name="biology") -> Path:
    """`xlangai/BRIGHT` on disk, with one domain in two shards, and reasoned queries."""
    parquet(folder / "examples" / f"{name}-00000-of-00001.parquet", *questions)
    parquet(folder / "documents" / f"{name}-00000-of-00002.parquet", *PASSAGES[:2])
    parquet(folder / "documents" / f"{name}-00001-of-00002.parquet", *PASSAGES[2:])
    lines(folder / "long_documents" / f"{name}.jsonl", *PAGES)
    reasoned = [q | {"query": f"Step by step: {q['query']}"} for q in questions]
    lines(folder / "gpt4_reason" / f"{name}.jsonl", *reasoned)
    return folder


KNOWLEDGE = [
    {
        "_id": "290", "wikipedia_id": "290", "wikipedia_title": "A",
        "text": ["A\n", "A is the first letter of the alphabet.\n", "Section::::History.\n",
                 "It comes from the letter alpha.\n"],
        "anchors": [], "categories": "Vowel letters", "wikidata_info": {}, "history": {},
    },
    {
        "_id": "303", "wikipedia_id": 303, "wikipedia_title": "Alabama",
        "text": ["Alabama\n", "Alabama is a state.\n", "Its capital is Montgomery.\n"],
    },
    {"_id": "307", "wikipedia_id": "307", "wikipedia_title": "Montgomery", "text": ["A city.\n"]},
]  # fmt: skip
KILT = [
    {
        "id": "q1", "input": "what is the capital of alabama",
        "output": [
            {"answer": "Montgomery", "meta": {"score": 2}, "provenance": [
                {"wikipedia_id": "303", "title": "Alabama", "start_paragraph_id": 2,
                 "start_character": 0, "end_paragraph_id": 2, "end_character": 26,
                 "bleu_score": 1.0, "section": "Section::::Abstract."},
                {"wikipedia_id": "307", "title": "Montgomery", "start_paragraph_id": 0,
                 "end_paragraph_id": 0}]},
            {"answer": "Montgomery, Alabama", "provenance": [
                {"wikipedia_id": "307", "start_paragraph_id": 0, "end_paragraph_id": 0}]},
        ],
    },
    {
        "id": "q2", "input": "where does the letter a come from",
        "output": [{"answer": "alpha", "provenance": [
            {"wikipedia_id": 290, "start_paragraph_id": 1, "end_paragraph_id": 3}]}],
    },
    {"id": "q3", "input": "a question without provenance", "output": [{"answer": "x"}]},
]  # fmt: skip


def kilt(folder: Path, questions=KILT) -> str:
    """A data set and a knowledge source, named as they are published; return the task's name."""
    source = lines(folder / "kilt_knowledgesource.json", *KNOWLEDGE)
    return f"kilt:{lines(folder / 'nq-dev-kilt.jsonl', *questions)},knowledge={source}"


def event(id_: str, kind: str, day: str, text: str) -> dict:
    return {"event_id": id_, "text": text, "timestamp": f"2024-01-{day}T09:00:00",
            "event_type": kind}  # fmt: skip


def hop(event: dict, number: int, supersedes: str | None = None, rule: str = "") -> dict:
    extra = {"supersedes": supersedes, "rule": rule} if supersedes else {}
    return {"hop": number, "event_id": event["event_id"], "type": event["event_type"],
            "text": event["text"], "status": "active"} | extra  # fmt: skip


E1 = event("e23513f5", "pre_clearance_approved", "10", "EMP060-Evans received pre-clearance.")
E2 = event("9dd309f5", "pre_clearance_approved", "09", "EMP018-Brown received pre-clearance.")
E3 = event("632b958e", "blackout_announced", "11", "ORCL has been placed under a blackout.")
E4 = event("7d710b9b", "emergency_exception", "18", "Compliance approved an exception.")
FINSUPERQA = [
    {
        "example_id": "9c1d31ae-90d", "hop_type": "type0_no_supersession", "num_hops": 1,
        "query": "Can EMP060-Evans rely on their SLB pre-clearance?", "answer": "active",
        "provenance": [hop(E1, 1)], "kb": [E1], "employee": "EMP060-Evans", "ticker": "SLB",
        "validity_certificate": {"valid": True, "superseding_chain": []},
    },
    {
        "example_id": "fba01b1c-8c7", "hop_type": "type2_chain_supersession", "num_hops": 3,
        "query": "Can EMP018-Brown rely on their ORCL pre-clearance?", "answer": "compliant",
        "provenance": [hop(E2, 1), hop(E3, 2, "9dd309f5", "R1"), hop(E4, 3, "632b958e", "R3")],
        "kb": [E2, E3, E4], "employee": "EMP018-Brown", "ticker": "ORCL",
    },
]  # fmt: skip
