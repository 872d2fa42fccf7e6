"""`--retriever` in every command: the same names, real retrievers, exit codes, messages."""

from __future__ import annotations

import json

import pytest

from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.scenarios.files import write_profiles
from argus.scenarios.profile import Profiled, ProfileState, Scenario, ScenarioProfile
from tests.retrievers.conftest import Server
from tests.support.retrievable import DOCUMENTS, word_store
from tests.support.superseding import write_story

LANGCHAIN = """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

TEXTS = {texts}


class ByWords(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        if "shard" in query:
            raise OSError("the shard is gone")
        words = set(query.lower().split())
        hits = sorted(TEXTS, key=lambda d: -len(words & set(TEXTS[d].lower().split())))
        return [Document(page_content=TEXTS[d], metadata={{"source": d}}) for d in hits[:2]]


retriever = ByWords()
"""


@pytest.fixture(scope="module")
def server():
    running = Server()
    running.reply = lambda _, __, body, ___: (
        200, {"hits": [{"id": "ska" if "reggae" in body["q"] else "rain"}, {"id": "tea"}]},
    )  # fmt: skip
    yield running
    running.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory, minilm, server):
    """A corpus, queries, judgements, profiles; an index, a store, LangChain and an endpoint."""
    folder = tmp_path_factory.mktemp("place")
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    texts = {"q1": "hot leaves for tea", "q2": "reggae of Jamaica", "q3": "which shard?"}
    queries = [{"_id": id_, "text": text} for id_, text in texts.items()]
    for name, lines in (("docs", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in lines))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ttea\t1\nq2\tska\t1\n")
    (folder / "mine.py").write_text(LANGCHAIN.format(texts={d.id: d.text for d in DOCUMENTS}))
    (folder / "engine.yaml").write_text(
        f"url: {server.address}\nbody: {{q: '{{query}}'}}\nanswer: {{results: 'hits[]', id: id}}\n"
    )
    scenarios = {"tea": "what to do with leaves", "ska": "where reggae comes from"}
    profiles = {
        id_: Profiled(id_, ProfileState.OK, ScenarioProfile(id_, (), (Scenario(need, "so"),)))
        for id_, need in scenarios.items()
    }
    write_profiles(folder / "profiles.jsonl", profiles.values())
    build_index(DOCUMENTS, out=folder / "index", encoder=EncoderConfig(precision="float32"))
    word_store(folder / "qdrant", DOCUMENTS, minilm)
    write_story(folder / "story")
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
        f"compare --index @index --retriever qdrant:@qdrant/docs {JUDGED}",
        f"compare --retriever @index --retriever qdrant:@qdrant/docs {JUDGED}",
    ):
        ran = command(line, "--encoder", "all-MiniLM-L6-v2", "--json", "--fresh", "--k", 2)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["changed_queries"] == 0


def test_explain_asks_whatever_is_named(command, place):
    ran = command("explain q2 rain --retriever @mine.py:retriever --corpus @docs.jsonl --k 1 "
                  "--queries @queries.jsonl")  # fmt: skip
    assert ran.code == 0 and "retriever                   " in ran.out, ran.err
    assert "above it" in ran.out or "in the retriever" in ran.out
    ran = command("explain leaves ska --retriever @index,hybrid=rrf --k 1 --json")
    assert json.loads(ran.out)["index"] == str(place / "index")
    ran = command("explain leaves ska --retriever qdrant:@qdrant/docs")
    assert ran.code == 2 and "--encoder: a store, and no encoder" in ran.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare --retriever a.py", "1 --retriever; expected two folders"),
        ("compare --retriever a.py --index i --run r.trec", "1 --index, 1 --retriever, 1 --run"),
        ("compare --run a --run b --at-once 2", "--at-once: is not read when --run are compared"),
        ("compare --retriever nothing --retriever @mine.py --queries @queries.jsonl --out out",
         "--retriever: 'nothing' names no retriever"),
        ("explain q d --retriever none.py", "none.py: no such file"),
        ("exposure --corpus @docs.jsonl --retriever index:none --out out", "none"),
        ("exposure --corpus @docs.jsonl --retriever qdrant:@qdrant/none --out out",
         "no collection 'none'"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_told(command, line, message):
    ran = command(line)
    assert ran.code == 2 and message in ran.err
