"""An endpoint that does as it is told, and what tests of syntheses look at."""

import re

import pyarrow.parquet as pq

from argus.indexes.views import ViewIndex, originals
from argus.remedies.guard import Insertion, insert

SAID = {
    "Bern": "capital city of Switzerland",
    "Aare": "river of Switzerland",
    "Basel": "Swiss city",
    "Lake Thun": "Alpine lake",
    "Ada Lovelace": "English mathematician",
    "Charles Babbage": "English inventor",
    "The Skatalites": "ska band from Jamaica",
    "Season of Mist": "record label in France",
}


AT_RISK = 11


def document_in(prompt):
    """The document that a prompt asks about: between the marks, or where Figure 8 has it."""
    either = r"<text (\w+)>\n(.*)\n</text \1>\Z|### Input Text:\n(.*)\n\n### Final "
    found = re.search(either, prompt, re.DOTALL)
    return found[2] or found[3]


def good(document):
    """What a model answers that does as it is told, for one entity."""
    for name, said in SAID.items():
        if name in document:
            at = document.index(name) + len(name)
            closing = "" if document[at] in ",." else ","
            return f"{document[:at]}, {said}{closing}{document[at:]}"
    return document


def answering(answer):
    return lambda prompt, n: {"text": answer(document_in(prompt))}


def rows(result, table="synthesis"):
    return pq.read_table(result.folder / f"{table}.parquet").to_pylist()


def syntheses(index):
    return {v.doc_id: v for v in ViewIndex.open(index).snapshot().views if v.kind == "synthesis"}


def unchanged(index, repairable):
    """Nothing was added: the index answers as the one that was built."""
    assert ViewIndex.open(index).remedies() == []
    return repairable.answers(index) == repairable.answers(repairable.built)


def only_insertions(index, result):
    """Every view is the document with the insertions that are listed, and nothing else."""
    texts = {d.id: d.text for d in originals(ViewIndex.open(index))}
    views = syntheses(index)
    listed = {row["doc_id"]: row for row in rows(result) if row["state"] == "measured"}
    assert set(views) == set(listed)
    for doc_id, view in views.items():
        insertions = [Insertion(**i) for i in listed[doc_id]["insertions"]]
        assert insertions
        assert view.text == insert(texts[doc_id], insertions)
        assert all(len(i.description.split()) <= 5 for i in insertions)
    return views
