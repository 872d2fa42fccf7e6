"""`--retriever` in every command: the same names, real retrievers, exit codes, messages."""

from __future__ import annotations

import json

import pytest

from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from tests.support.retrievable import DOCUMENTS, word_store


@pytest.fixture(scope="module")
def place(tmp_path_factory, minilm):
    """A corpus, queries, judgements, an index, a store and a Python retriever."""
    folder = tmp_path_factory.mktemp("place")
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    texts = {"q1": "hot leaves for tea", "q2": "reggae of Jamaica", "q3": "which shard?"}
    queries = [{"_id": id_, "text": text} for id_, text in texts.items()]
    for name, lines in (("docs", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in lines))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ttea\t1\nq2\tska\t1\n")
    build_index(DOCUMENTS, out=folder / "index", encoder=EncoderConfig(precision="float32"))
    word_store(folder / "qdrant", DOCUMENTS, minilm)
    return folder


@pytest.fixture
def command(argus, place):
    """Run a command in a folder of its own; `@` stands for where the files are."""

    def run(line, *more):
        return argus(*line.replace("@", f"{place}/").split(), *more)

    return run


JUDGED = "--queries @queries.jsonl --qrels @qrels.tsv --corpus @docs.jsonl --out out"


def test_an_index_and_a_store_bring_back_the_same(command, tmp_path):
    for line in (
        f"evaluate --compare --index @index --retriever qdrant:@qdrant/docs {JUDGED}",
        f"evaluate --compare --retriever @index --retriever qdrant:@qdrant/docs {JUDGED}",
    ):
        ran = command(line, "--encoder", "all-MiniLM-L6-v2", "--json", "--fresh", "--k", 2)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["changed_queries"] == 0
