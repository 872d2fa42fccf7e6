"""What the pages answer, without a browser."""

import re
from urllib.parse import urlencode

import pytest

from tests.support.hostile import ATTACKS, ID

HTML = {"accept": "text/html"}
PART = {"hx-request": "true"}


def get(client, page, folder="report", headers=HTML, /, **values):
    query = urlencode({name: str(value) for name, value in values.items()})
    return client.get(f"/page/{folder}/{page}?{query}", headers=headers)


@pytest.mark.parametrize(
    ("page", "values", "told"),
    [
        ("documents", {"sort": "rps; DROP TABLE documents"}, "no column"),
        ("documents", {"sort": "(SELECT 1)"}, "no column"),
        ("documents", {"band": "x"}, "no band"),
        ("document", {"id": "never"}, "no document"),
        ("authority", {"as_of": "tomorrow"}, "as_of"),
        ("authority", {"id": "never"}, "no record"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused_as_a_page(client, page, values, told):
    answer = get(client, page, "report", **values)
    assert answer.status_code == 422 and told in answer.text and "<h1>" in answer.text
    part = get(client, page, "report", PART, **values)
    assert told in part.text and "<html" not in part.text


@pytest.mark.parametrize(
    ("page", "values"),
    [
        ("documents", {}),
        ("documents", {"q": ATTACKS[0]}),
        ("documents", {"q": "gpj"}),
        ("document", {"id": ID}),
        ("titles", {"doc": "gpj"}),
        ("why-not", {"q": f"gpj {ATTACKS[1]}", "doc": ID}),
        ("authority", {"id": "v3"}),
    ],
)
def test_a_text_is_escaped_and_turns_nothing_that_stands_beside_it(client, page, values):
    text = get(client, page, **values).text
    assert not re.search("<script>window|<img src=x|<b onclick", text)
    shown = re.sub(r'(?:value|data-\w+)="[^"]*"', "", text)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x07]", shown)
    escaped = "\\u202egpj.exe \\u2067of\u200f\\u001b]0;attacked\\u0007"
    assert page != "documents" or "q" in values or escaped in text
