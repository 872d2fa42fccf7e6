"""SPIKE's tables on the form of BRIGHT: instructions, excluded documents, the mean of all tasks."""

from statistics import fmean

import pytest

from argus.encoders.config import EncoderConfig
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.scenarios.files import read_fields, write_profiles
from argus.suite.reproduce import reproduce
from argus.tasks.opening import open_task
from tests.support.sentence_models import make_model
from tests.support.tasks import bright, lines

MODEL = "intfloat/e5-mistral-7b-instruct"
DOMAINS = {
    "Bio.": "biology", "Earth.": "earth_science", "Econ.": "economics", "Psy.": "psychology",
    "Sus.": "sustainable_living", "Rob.": "robotics", "Stack.": "stackoverflow",
    "Leet.": "leetcode", "Pony": "pony", "Aops": "aops", "TheoQ.": "theoremqa_questions",
    "TheoT.": "theoremqa_theorems",
}  # fmt: skip
NEED = {"information_need": "Why do moths circle a lamp?", "explanation": "It says."}
PROFILED = read_fields("light/Phototaxis_1.txt", {"main_topic": "Lamps", "scenarios": [NEED]})


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Lay out BRIGHT and scenarios of it, and a tiny model under the name of the paper's."""
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / MODEL)
    for column, domain in DOMAINS.items():
        bright(tmp_path / "data" / "BRIGHT", name=domain)
        folder = tmp_path / "data" / "spike" / column
        folder.mkdir(parents=True)
        write_profiles(folder / "profiles.jsonl", [PROFILED])
    stdlib = tmp_path / "data" / "stdlib"
    lines(stdlib / "corpus.jsonl")  # nothing to measure: the cells of it fail
    return tmp_path / "data"


def alone(data, folder):
    """Measure the documents of biology alone, with its instruction written out."""
    task = open_task(f"bright:{data / 'BRIGHT'},domain=biology")
    prompt = "Instruct: Given a biology post, retrieve relevant passages that help answer the post"
    encoder = EncoderConfig(model=MODEL, query_prompt=f"{prompt}\nQuery: ")
    build_index(task.documents, out=folder, encoder=encoder)
    run = open_retriever(folder).search(task.queries, 10)
    return task.evaluate(run, ["nDCG@10"]).aggregate["nDCG@10"]


def test_spike_3_is_told_what_bright_tells_and_leaves_out_what_it_excludes(data, tmp_path):
    result = reproduce("spike-3", out=tmp_path / "out", data=data)
    cells = {(c["row"], c["column"]): c for c in result.summary["cells"]}
    of_row = [cells["E5-Mistral", column] for column in DOMAINS]
    assert {cell["state"] for cell in of_row} == {"measured"}
    assert of_row[0]["measured"] == pytest.approx(100 * alone(data, tmp_path / "index"))
    average = cells["E5-Mistral", "Avg."]
    assert average["measured"] == pytest.approx(fmean(c["measured"] for c in of_row))
    assert average["published"] == 17.9
    assert "Salesforce/SFR-Embedding-Mistral" in cells["SFR", "Avg."]["reason"]
    assert cells["E5-Mistral +SPIKE", "Avg."]["state"] == "measured"
