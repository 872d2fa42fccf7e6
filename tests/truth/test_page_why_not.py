"""The questions that *Why not?* offers fail in the index as it is."""

import html
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import argus
from argus.data.documents import as_rows
from argus.data.writing import write_jsonl
from argus.encoders import DEFAULT_MODEL
from argus.indexes.job import build_index
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.support.words import corpus

OFFERED = re.compile(r'<td><a href="(/page/[^"]+why-not\?[^"]+)">')


@pytest.fixture
def place(tmp_path, minilm):
    """An index, and results in which documents were asked for by sentences that they lacked."""
    write_jsonl(tmp_path / "corpus.jsonl", as_rows(corpus()))
    build_index(tmp_path / "corpus.jsonl", out=tmp_path / "index", encoder=DEFAULT_MODEL)
    argus.exposure(tmp_path / "corpus.jsonl", out=tmp_path / "out", encoder=minilm)
    asked = {"query_id": ["a", "b"], "wanted": ["alder-mill", "fir-tower"]}
    asked |= {"question": ["The alder mill"] * 2, "rank": [12, 12]}
    pq.write_table(pa.table(asked), tmp_path / "out" / "questions.parquet")
    return open_workplace([tmp_path / "out"], index=str(tmp_path / "index"))


def test_every_question_that_is_offered_does_not_come_back_when_it_is_opened(place):
    with TestClient(create_app(place), base_url="http://127.0.0.1") as client:
        offered = OFFERED.findall(client.get("/page/out/why-not").text)
        assert 0 < len(offered) <= 8
        for link in offered:
            text = client.get(html.unescape(link)).text
            assert '<span class="level bad">did not come back</span>' in text
        asked = {"q": "quantum chromodynamics", "doc": "alder-mill", "k": 1}
        text = client.get("/page/out/why-not", params=asked).text
        assert '(<a href="/page/out/repairs">Try repairs</a>)' in text and "`argus" not in text
