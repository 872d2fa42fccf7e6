"""What the pages answer, without a browser."""

import io
import re
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest

from tests.service.client import wait_until_ready
from tests.support.hostile import ATTACKS, FIELD, ID

HTML = {"accept": "text/html"}
PART = {"hx-request": "true"}


def get(client, page, folder="report", headers=HTML, /, **values):
    query = urlencode({name: str(value) for name, value in values.items()})
    return client.get(f"/page/{folder}/{page}?{query}", headers=headers)


def test_tabs_without_content_stand_apart_and_say_what_to_run(client):
    page = get(client, "overview").text
    assert page.index('href="/page/report/map"') < page.index('id="later"')
    assert page.index('id="later"') < page.index('href="/page/report/generative"')
    assert "argus generative search" in get(client, "generative").text
    assert "argus exposure" in get(client, "documents", "generative").text
    assert "argus audit" in get(client, "map", "generative").text


@pytest.mark.parametrize(
    ("page", "values", "told"),
    [
        ("documents", {"sort": "rps; DROP TABLE documents"}, "no column"),
        ("documents", {"sort": "(SELECT 1)"}, "no column"),
        ("documents", {"band": "x"}, "no band"),
        ("documents", {"slice": f"{FIELD}=nothing"}, "no slice"),
        ("document", {"id": "never"}, "no document"),
        ("authority", {"as_of": "tomorrow"}, "is no date"),
        ("authority", {"id": "never"}, "no record"),
        ("compare", {"a": "/etc"}, "no system"),
        ("generative", {"id": "never"}, "no answer"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused_as_a_page(client, page, values, told):
    answer = get(client, page, "generative" if page == "generative" else "report", **values)
    assert answer.status_code == 422 and told in answer.text and "<h1>" in answer.text
    part = get(client, page, "generative" if page == "generative" else "report", PART, **values)
    assert told in part.text and "<html" not in part.text


def test_every_text_is_escaped_wherever_it_stands(client):
    for page, folder, values in (
        ("documents", "report", {"q": ATTACKS[0]}),
        ("document", "report", {"id": ID}),
        ("why-not", "report", {"q": ATTACKS[1], "doc": ID}),
        ("compare", "report", {"q": ATTACKS[0]}),
        ("generative", "generative", {"id": f"q2 {ATTACKS[0]}"}),
        ("authority", "report", {"id": "v3"}),
    ):
        text = get(client, page, folder, **values).text
        assert (
            "<script>window" not in text and "<img src=x" not in text and "<b onclick" not in text
        )


def test_no_text_turns_what_stands_beside_it(client):
    for page, values in (
        ("documents", {}),
        ("documents", {"q": "gpj"}),
        ("document", {"id": ID}),
        ("titles", {"doc": "gpj"}),
        ("why-not", {"q": "gpj", "doc": ID}),
        ("compare", {"q": "alder"}),
    ):
        text = get(client, page, **values).text
        shown = re.sub(r'(?:value|data-\w+)="[^"]*"', "", text)
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x07]", shown), page
    assert (
        "\\u202egpj.exe \\u2067of\u200f\\u001b]0;attacked\\u0007" in get(client, "documents").text
    )


def test_why_not_previews_ranks_as_the_explanation_has_them(client):
    from argus.explanation.job import explain

    text = get(client, "why-not", q="where is the juniper mill", doc="juniper-mill", k=1).text
    index = client.app.state.service.workplace.index
    explanation = explain("where is the juniper mill", "juniper-mill", index).findings
    blend = next(f for f in explanation if f.cause == "blend")
    for rank in blend.evidence["rank_without"].values():
        assert f'<td class="num">{rank}</td>' in text


def test_the_map_and_its_export_hold_what_the_audit_placed(client, place):
    table = pq.read_table(place.folder("report").path / "retrievability.parquet")
    placed = [row for row in table.to_pylist() if row["x"] is not None]
    body = get(client, "map/points").content
    assert int.from_bytes(body[:4], "little") == len(placed) and len(body) == 4 + 9 * len(placed)
    exported = get(client, "map/atlas.parquet")
    assert exported.status_code == 200, exported.text
    atlas = pq.read_table(io.BytesIO(exported.content))
    assert {row["id"]: (row["x"], row["y"]) for row in atlas.to_pylist()} == {
        row["id"]: (row["x"], row["y"]) for row in placed
    }
    assert any("built by the river" in text for text in atlas["text"].to_pylist())
    everything = {"x0": -1e9, "x1": 1e9, "y0": -1e9, "y1": 1e9}
    assert f"{len(placed)} documents" in get(client, "map/box", **everything).text
    assert "0 documents" in get(client, "map/box", bands="", **everything).text


def test_a_repair_that_is_not_in_the_index_is_previewed_on_the_question(place):
    from starlette.testclient import TestClient

    from argus.indexes.retriever import open_retriever
    from argus.remedies.blend_search import preview_blend
    from argus.service.app import create_app
    from argus.service.workplace import Workplace

    before = f"{place.index}@original"
    asking = {"q": "built by the river long ago", "doc": "juniper-mill", "k": 1}
    told = preview_blend(asking["q"], asking["doc"], open_retriever(before), k=1)
    with TestClient(create_app(Workplace(place.folders, index=before))) as client:
        client.base_url = "http://127.0.0.1"
        wait_until_ready(client)
        page = get(client, "why-not", "-", **asking).text
        assert "/why-not/blend?q=built+by+the+river+long+ago&amp;doc=juniper-mill&amp;k=1" in page
        text = get(client, "why-not/blend", "-", PART, **asking).text
        assert f"<b>rank {told.rank}</b>" in text and f"{told.sentences} sentences" in text
        refused = get(client, "why-not/blend", "-", PART, q="a", doc="never").text
        assert "unknown document" in refused
    assert "/why-not/blend?" not in get(client, "why-not", **asking).text
