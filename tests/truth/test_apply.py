"""A candidate is added as the trial measured it, and nothing is tried again."""

import json

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from argus.errors import InputError
from argus.remedies.undo import list_remedies
from argus.service.app import create_app
from argus.service.page.repairs import read_receipts
from argus.service.workplace import open_workplace
from tests.service.client import Client
from tests.support.chunks import write_part


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def add(index, candidate):
    ran = run("tune", "try", "--index", index, "--apply", candidate)
    if ran.exception is not None:
        raise ran.exception
    return ran.output


def summary(index):
    return json.loads((index / "repair" / "summary.json").read_text())["repair"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    home = tmp_path_factory.mktemp("apply")
    write_part(home)
    corpus = ["--corpus", home / "chunks.jsonl", "--title-field", "metadata.title"]
    assert run("index", "build", *corpus, "--out", home / "index").exit_code == 0
    return home / "index"


@pytest.fixture(scope="module")
def judged(index):
    home = index.parent
    return ["--queries", home / "questions.jsonl", "--qrels", home / "qrels.tsv"]


def test_a_candidate_is_added_with_the_figures_of_its_trial(index, judged):
    with pytest.raises(InputError, match="nothing was tried"):
        add(index, "blend")
    assert run("tune", "try", "--index", index, *judged, "--only-try").exit_code == 0
    tried = summary(index)
    with pytest.raises(InputError, match="blend"):
        add(index, "scenarios")
    page = Client(create_app(open_workplace([index]))).get("/page/-/repairs").text
    assert "&#34;apply&#34;: &#34;blend&#34;" in page
    assert "trying" not in add(index, "blend")
    assert summary(index)["arms"] == tried["arms"] and summary(index)["kept"] == "blend"
    (remedy,) = list_remedies(index)
    assert summary(index)["remedies"] == [remedy["id"]]
    (receipt,) = read_receipts(index, [])
    (blend,) = (arm["ndcg10"] for arm in tried["arms"] if arm["arm"] == "blend")
    assert receipt["difference"] == blend
    assert receipt["changes"]["improved"] == blend["improved"]
    with pytest.raises(InputError, match="other remedies"):
        add(index, "blend")
    assert run("tune", "try", "--index", index, *judged, "--only-try").exit_code == 0
    (receipt,) = read_receipts(index, [])
    assert receipt["difference"] == blend
