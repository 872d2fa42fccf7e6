import json
import socket

import pytest

from argus.corpora.opening import read_corpus
from argus.data import read_qrels, read_queries
from argus.demo.job import demo
from argus.errors import InputError
from tests.support.results import shown


@pytest.fixture
def no_sockets(monkeypatch):
    """Not even loopback: any use of a socket but an event loop's own pair fails."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("the demo used a socket")

    class Local(socket.socket):
        def __init__(self, family=-1, *args, **kwargs):
            if family != socket.AF_UNIX:
                refuse()
            super().__init__(family, *args, **kwargs)

        connect = connect_ex = bind = refuse

    monkeypatch.setattr(socket, "socket", Local)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


DRAW, QUICK = 1200, 300
"""Of the library's entities; all of them are run by `python -m benchmarks demo`."""


SECTIONS = {
    "audit", "exposure", "questions", "authority", "probe", "index", "diagnosis", "remedy",
    "evaluation", "ablation", "blend",
}  # fmt: skip


@pytest.mark.campaign
def test_the_demo_runs_offline_to_a_finished_report(no_sockets, tmp_path):
    result = demo(out=tmp_path, limit=DRAW)
    entities = result.audit.summary["entities"]
    assert entities["total"] == DRAW and entities["measured"] >= 1000
    assert entities["failed"] == 0
    assert 0.2 < result.audit.summary["mean_rps"] < 0.8
    assert result.exposure.summary["title"]["success_at_k"] > 0.9
    assert result.questions["queries"] >= 20
    assert result.questions["implicit"] >= result.questions["queries"] / 2
    assert shown(result)[0].startswith("RPS at k=")
    groups = {g["name"]: g["measures"]["nDCG@10"] for g in result.questions["groups"]}
    assert 0.05 < groups["implicit questions"] < groups["questions that share a word"]
    sections = json.loads((tmp_path / "summary.json").read_text())
    assert result.summary == sections
    assert set(sections) == SECTIONS
    page = result.report.read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in sections if name != "index")

    # What the library itself calls deprecated, and whether it leads to what is to be used instead.
    superseded = sections["authority"]["documents"]["superseded"]
    assert superseded >= 8 and sections["authority"]["documents"]["failed"] == 0
    assert 0.2 < sections["authority"]["proxies"]["text"]["reachable"] < 0.95

    # The blend harms nothing here, and says what each of its parts does.
    whole = result.blend.summary["parts"][-1]
    assert whole["part"] == "+ BM25" and whole["ndcg10"]["mean_difference"] > -0.005

    # What the corpus leaves out comes back, and the judged questions say that this helped.
    receipt, change = result.repair.summary, sections["evaluation"]["comparison"]["nDCG@10"]
    assert sections["probe"]["table"][-1]["test"]["pearson"] > 0.3
    assert receipt["counts"]["views"] > 100
    own = receipt["counts"]["views_about_own_subject"]  # what the README says of the gain
    assert own > receipt["counts"]["views"] / 2
    assert 0.2 < sections["diagnosis"]["share_flagged"] < 0.9
    assert receipt["of_repaired"]["recovered"] > receipt["of_repaired"]["lost"]
    assert change["mean_difference"] > 0 and change["improved"] > change["harmed"]

    # Scenarios help, by more than the paper's 6%, also where every document has some; a document
    # with those of another sinks.
    for corpus in ("whole", "profiled"):
        rows = sections["ablation"][corpus]["rows"]
        told = {(row["system"], row.get("lambda")): row for row in rows}
        usual, placebo = told["scenarios", 0.7]["comparison"], told["placebo", 0.7]["comparison"]
        assert usual["p_value"] < 0.05 and usual["relative"] > 0.06
        assert placebo["high"] < 0
    assert result.scenarios.added.summary["documents"]["ok"] > 50

    # What it leaves is a BEIR folder for every other command.
    documents = {d.id for d in read_corpus(tmp_path / "corpus")}
    asked = {q.id for q in read_queries(tmp_path / "corpus")}
    qrels = read_qrels(tmp_path / "corpus" / "qrels" / "test.tsv")
    assert set(qrels) == asked
    assert {doc for judged in qrels.values() for doc in judged} <= documents


def test_a_limit_that_leaves_no_question_is_refused(tmp_path):
    with pytest.raises(InputError, match="no judged question") as refused:
        demo(out=tmp_path / "out", limit=40)
    assert refused.value.where == "--limit"
    assert not (tmp_path / "out").exists()
