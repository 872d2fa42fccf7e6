"""Show answers of a generative search: the n-grams that found them, and those the beam dropped."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table, read_where
from argus.generative.answer import HitKey
from argus.generative.failures.files import PRUNED
from argus.generative.jobs.answers import FILE, find_answer
from argus.generative.jobs.outputs import TABLE
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values, refused

MAX_ROWS = 100  # questions, and dropped n-grams, that are listed
MAX_KEYS = 20  # n-grams of a passage that are shown, the heaviest first
Text = Annotated[str, Query(max_length=500)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/generative")
def generative(page: PageOf, q: Text = "", id: Text = "") -> HTMLResponse:
    """Show an answer with the n-grams that found it, and those that the beam dropped.

    q: lists the questions whose text or id holds it. id: of the question that is shown.
    """
    path, low = page.path, q.strip().casefold()
    listed: Rows = []
    if path is not None and (table := path / f"{TABLE}.parquet").is_file():
        rows = read_table(table, ["query_id", "question", "hits", "title"]).to_pylist()
        fits = (row for row in rows if low in f"{row['question']}\n{row['query_id']}".casefold())
        listed = list(fits)[:MAX_ROWS]
    query_id = id or (listed[0]["query_id"] if listed else "")
    values: Values = {"q": q, "id": query_id, "questions": listed, "stored": None}
    if path is not None and query_id:
        answers = ArtifactFolder(path) / FILE
        stored = find_answer(answers, query_id) if answers.is_file() else None
        if stored is None:
            expected = "a question that was answered in this folder"
            got, fix = f"no answer to {query_id!r}", "Choose one of the list."
            raise refused("id", got, expected, fix)
        border = (stored.border or "").strip()
        dropped: Rows = []
        for home in dict.fromkeys((path, *page.place.results.values())):
            if (pruned := home / f"{PRUNED}.parquet").is_file():
                dropped += read_where(pruned, [("query_id", "=", query_id)]).to_pylist()
        dropped.sort(key=lambda row: -row["weight"])
        hits: Rows = []
        for hit in stored.answer.hits:
            heaviest = sorted(hit.keys, key=lambda key: -key.weight)[:MAX_KEYS]
            top = max((key.weight for key in heaviest), default=0.0)
            ngrams = [{"key": k, "share": k.weight / top if top > 0 else 0.0} for k in heaviest]
            pieces = split_by_ngrams(hit.text, hit.keys, border)
            hits.append({"hit": hit, "ngrams": ngrams, "pieces": pieces})
        values |= {"stored": stored, "hits": hits, "dropped": dropped[:MAX_ROWS]}
    return page.render("generative.html.j2", **values)


def split_by_ngrams(text: str, keys: list[HitKey], border: str) -> list[tuple[str, bool]]:
    """Split a text into pieces, each with whether an n-gram of its body says it."""
    marks = bytearray(len(text))
    for key in keys:
        words = key.text.replace(border, "").strip() if border else key.text.strip()
        start = text.find(words) if words else -1
        while start >= 0:
            marks[start : start + len(words)] = b"\x01" * len(words)
            start = text.find(words, start + 1)
    pieces: list[tuple[str, bool]] = []
    begin = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marks[end] != marks[begin]:
            pieces.append((text[begin:end], bool(marks[begin])))
            begin = end
    return pieces
