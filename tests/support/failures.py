"""Small outputs of generative retrieval in the published format."""

import json
from pathlib import Path
from typing import Any


def passage(id_: str, *keys: list[Any], title: str = "", text: str = "A text.") -> dict[str, Any]:
    return {"passage_id": id_, "title": title, "text": text, "score": 1.0, "keys": list(keys)}


def record(id_: str, *passages: dict[str, Any], positives: Any = ("p1",), **more: Any) -> Any:
    """Return a question whose positives are known by their ids; None leaves them out."""
    known: dict[str, Any] = {"id": id_, "question": f"Who wrote {id_}?"}
    if positives is not None:
        known["positive_ctxs"] = [
            {"passage_id": p, "title": "T", "text": "Ada wrote it."} for p in positives
        ]
    return {**known, "answers": ["Ada"], **more, "ctxs": list(passages)}


RIGHT = passage("p1", ["</s> Ada @@", 3, 8.0], [" wrote", 40, 2.0], title="Ada", text="Ada did.")
WRONG = passage("p2", [" the", 9000, 1.0], [" who", 800, 3.0], title="Bern", text="A city.")
GAP = passage("p3", [" Ada", 30, 5.0], title="Lovelace", text="Written by Ada.")


def two_of_three() -> list[Any]:
    """Return three questions: found first, failed, and failed beside an unannotated answer."""
    return [
        record("a", RIGHT, WRONG),
        record("b", WRONG, positives=("p9",)),
        record("c", WRONG, GAP, positives=("p9",)),
    ]


def write_output(path: Path, records: list[Any], *, indent: int | None = 4) -> Path:
    path.write_text(json.dumps(records, indent=indent), encoding="utf-8")
    return path
