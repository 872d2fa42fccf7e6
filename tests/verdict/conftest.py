import pytest

import argus
from argus.data.documents import as_rows
from argus.data.writing import write_jsonl
from tests.support.words import ByWords, corpus

QUESTIONS = {"q1": ("who carved alder wood over the mill door", "alder-mill"),
             "q2": ("elm bridge by the river", "elm-bridge")}  # fmt: skip


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A BEIR folder of the small corpus with two judged questions."""
    home = tmp_path_factory.mktemp("words")
    write_jsonl(home / "corpus.jsonl", as_rows(corpus()))
    queries = [{"_id": q, "text": text} for q, (text, _) in QUESTIONS.items()]
    write_jsonl(home / "queries.jsonl", queries)
    (home / "qrels").mkdir()
    lines = [f"{q}\t{wanted}\t1" for q, (_, wanted) in QUESTIONS.items()]
    (home / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines))
    return home


@pytest.fixture(scope="session")
def exposed(files, tmp_path_factory):
    """What exposure finds with a retriever by words that has lost three documents."""
    out = tmp_path_factory.mktemp("exposed")
    lost = ("alder-mill", "fir-tower", "ivy-mill")
    retriever = ByWords(corpus(), lost=lost)
    argus.exposure(files, out=out, retriever=retriever, config=argus.ExposureConfig(k=5))
    return out
