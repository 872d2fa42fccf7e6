"""A retriever that holds a store's folder is served, though nobody else may open that meanwhile."""

import numpy as np
import pytest

from argus.data.fields import FieldNames
from argus.evaluation.config import ChunkedCorpus
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.support.payloads import write_payloads

HELD = """
import atexit

from qdrant_client import QdrantClient

client = QdrantClient(path="store")
atexit.register(client.close)


def search(query, k):
    points, _ = client.scroll("docs", limit=k)
    return [(point.payload["id"], 1 / place) for place, point in enumerate(points, 1)]
"""
SUBJECTS = ("tea", "bees", "clocks")
ROWS = [
    {"id": f"{name}/{part}", "text": f"All of {name}, part {part}.", "of": name}
    for name in SUBJECTS
    for part in range(2)
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, and a retriever that opens the store when it is first asked."""
    monkeypatch.chdir(tmp_path)
    write_payloads("store", ROWS, np.array([[1.0, i] for i in range(len(ROWS))], np.float32))
    (tmp_path / "held.py").write_text(HELD)
    (tmp_path / "out").mkdir()
    fields = FieldNames(id="id")
    chunks = ChunkedCorpus(corpus="qdrant:store/docs", fields=fields, parent_field="of")
    return open_workplace([tmp_path / "out"], retriever="held.py:search", chunks=chunks)


def test_why_not_and_explain_read_no_store_that_the_retriever_holds(place):
    with Client(create_app(place)) as client:
        asked = {"q": "what of bees?", "doc": "bees", "k": 3}
        page = client.get("/page/-/why-not", params=asked, headers={"accept": "text/html"})
        why = client.get("/explain", params={"query": asked["q"], "id": "bees", "k": 3})
    assert page.status_code == 200 and "already accessed" not in page.text
    assert why.status_code == 200 and why.json()["standing"]["rank"] == 2
